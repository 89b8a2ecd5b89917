// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "udv/core/error.hpp"
#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// The value of a setting, as run.json records it.
using Setting = std::variant<bool, std::int64_t, double, std::string>;

/// A setting that makes no sense. what() is "name: problem", or the problem alone where it concerns
/// several settings; front ends show the name in their own way ("--name" on a command line).
class UDV_EXPORT OptionError : public InvalidArgument {
 public:
  OptionError(std::string name, const std::string& problem)
      : InvalidArgument(name.empty() ? problem : name + ": " + problem), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  std::string problem() const {
    return std::string(what()).substr(name_.empty() ? 0 : name_.size() + 2);
  }

 private:
  std::string name_;
};

/// One setting of a job: all that is known about it, written once. Flags, help, config files,
/// run.json, fingerprints, man pages, completions and reference tables are made from it.
struct UDV_EXPORT Option {
  std::string name;        ///< the flag without its dashes, and the key in config files
  std::string help;        ///< one sentence without a full stop
  std::string group;       ///< heading in help texts
  std::string value_name;  ///< "NUMBER", "FILE", ...; empty for switches
  std::string unit;        ///< "seconds"; empty where there is none
  std::vector<std::string> choices;
  std::string default_text;  ///< empty: nothing, or told in the help text
  std::string expected;      ///< "a whole number from 1 to 1024"
  bool is_switch = false;    ///< takes no value on a command line
  std::string bare_word;     ///< what the flag means without a value; empty: it needs one
  bool positional = false, required = false;
  bool takes_list = false;  ///< several words on a command line
  /// Whether another value may give other numbers: such settings are in the fingerprint of a run.
  bool decides_numbers = true;

  /// Parses and checks. Throws OptionError.
  std::function<void(const std::string&)> set;
  std::function<Setting()> get;
  bool given = false;  ///< set() was called

  // For tables: each returns the option itself.
  Option& at_least(double least);
  Option& between(double least, double most);
  Option& positive();  ///< finite and above 0
  Option& share();     ///< above 0, up to 1
  Option& one_of(std::vector<std::string> words);
  /// This word stands for a value that no other text gives: "auto" for 0.
  Option& word(std::string text, double value);
  /// Two words instead of a switch.
  Option& as_switch_word(const std::pair<std::string, std::string>& words = {"on", "off"});
  /// The flag alone, and true in a config file, stand for this word; false is the default.
  Option& when_bare(std::string word);
  Option& measured_in(std::string text);
  Option& called(std::string text);      ///< the value in help texts: "FILE"
  Option& default_is(std::string text);  ///< what happens where nothing is given
  Option& is_input(bool needed = true);  ///< positional
  Option& keeps_numbers();               ///< decides_numbers = false
  Option& must_be_given();

  // What set and get work with.
  std::function<bool(double)> holds;
  std::optional<std::pair<std::string, double>> special;
};

/// The settings of one job, bound to its options struct: `describe(table, options)` adds them.
/// The struct has to outlive the table.
class UDV_EXPORT OptionTable {
 public:
  OptionTable() = default;
  OptionTable(OptionTable&&) = default;
  OptionTable& operator=(OptionTable&&) = default;

  /// Options that follow stand under this heading.
  OptionTable& group(std::string heading);

  Option& add(std::string name, bool& value, std::string help);
  Option& add(std::string name, int& value, std::string help);
  Option& add(std::string name, Index& value, std::string help);
  Option& add(std::string name, std::uint64_t& value, std::string help);
  Option& add(std::string name, double& value, std::string help);
  Option& add(std::string name, std::string& value, std::string help);
  /// "auto", or a number of at least 0.
  Option& add(std::string name, std::optional<double>& value, std::string help);
  /// Words with commas between them.
  Option& add(std::string name, std::vector<std::string>& value, std::string help);
  Option& add(std::string name, std::vector<Index>& value, std::string help);
  /// Any number of words of a command line, each of which set() adds.
  Option& add_each(std::string name, std::vector<std::string>& values, std::string help);
  /// ROWS,COLUMNS.
  Option& add(std::string name, std::optional<std::pair<Index, Index>>& value, std::string help);

  /// One word for each value of an enumeration.
  template <typename Enum>
  requires std::is_enum_v<Enum> Option& add(std::string name, Enum& value,
                                            std::vector<std::pair<std::string, Enum>> words,
                                            std::string help) {
    std::vector<std::string> names;
    for (const auto& [word, meaning] : words) names.push_back(word);
    Enum* const at = &value;
    const auto set = [at, words](const std::string& text) {
      for (const auto& [word, meaning] : words)
        if (word == text) *at = meaning;
    };
    const auto get = [at, words]() -> Setting {
      for (const auto& [word, meaning] : words)
        if (meaning == *at) return word;
      return std::string();
    };
    return add_words(std::move(name), std::move(names), set, get, std::move(help));
  }

  /// A setting with its own way to be read: `set` throws InvalidArgument with the problem.
  Option& add_custom(std::string name, std::function<void(const std::string&)> set,
                     std::function<Setting()> get, std::string help);

  /// Takes options of a shared table out again.
  void remove(const std::vector<std::string>& names);

  std::deque<Option>& options() { return options_; }
  const std::deque<Option>& options() const { return options_; }
  /// nullptr where there is none of this name.
  Option* find(std::string_view name);
  /// Throws OptionError; an unknown name is answered with the nearest known one.
  void set(const std::string& name, const std::string& text);
  /// The first option that must be given and was not; empty where there is none.
  std::string missing() const;

  /// Every setting as used; texts that are empty are left out.
  std::map<std::string, Setting> config() const;
  /// The settings that decide the numbers, in words.
  std::string fingerprint() const;

  /// Keeps an options struct alive for a table that describes its defaults.
  std::shared_ptr<void> owner;

 private:
  Option& add_words(std::string name, std::vector<std::string> words,
                    std::function<void(const std::string&)> set, std::function<Setting()> get,
                    std::string help);
  Option& start(std::string name, std::string help, std::string value_name);
  template <typename Number>
  Option& add_number(std::string name, Number& value, std::string help, const char* value_name);

  std::string group_;
  std::deque<Option> options_;
};

/// The table of default options of a struct that has describe(OptionTable&, Options&).
template <typename Options>
OptionTable table_of() {
  const auto options = std::make_shared<Options>();
  OptionTable table;
  describe(table, *options);
  table.owner = options;
  return table;
}

/// "name value; name value", as fingerprints and error messages show settings.
UDV_EXPORT std::string settings_text(const std::map<std::string, Setting>& config);

/// The known name that is nearest to a misspelled one; empty where none is near.
UDV_EXPORT std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
/// "; did you mean X?", or nothing.
UDV_EXPORT std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// The words of "a,b,c"; empty ones do not count.
UDV_EXPORT std::vector<std::string> comma_words(std::string_view list);

}  // namespace udv
