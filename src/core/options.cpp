// SPDX-License-Identifier: MIT
#include "udv/core/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parse.hpp"

namespace udv {
namespace {

constexpr double kLargestWhole = 9.2e18;

std::string found(const std::string& text, const std::string& expected) {
  return "'" + text + "' found, " + expected + " expected";
}

// Shortest text that gives the same number again: 1e+16 as 10000000000000000.
std::string number_text(double value) {
  return std::abs(value) < 1e15 && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{}", value);
}

std::string setting_text(const Setting& setting) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, setting);
}

std::string range_text(const char* kind, double least, double most) {
  if (most >= kLargestWhole) return fmt::format("{} of at least {}", kind, number_text(least));
  return fmt::format("{} from {} to {}", kind, number_text(least), number_text(most));
}

template <typename Number>
bool parse_number(const std::string& text, Number& value) {
  if (!parse_all(text, value)) return false;
  if constexpr (std::is_floating_point_v<Number>) return std::isfinite(value);
  return true;
}

template <typename Number>
constexpr const char* kKind = std::is_floating_point_v<Number> ? "a number" : "a whole number";

bool is_shape(const std::string& text, std::pair<Index, Index>& shape) {
  constexpr Index kLargest = std::numeric_limits<std::int32_t>::max();
  const size_t comma = text.find(',');
  if (comma == text.npos) return false;
  const std::string_view view = text;
  return parse_all(view.substr(0, comma), shape.first) &&
         parse_all(view.substr(comma + 1), shape.second) && shape.first >= 1 && shape.second >= 1 &&
         shape.first <= kLargest && shape.second <= kLargest;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace

// ---- one option

Option& Option::at_least(double least) {
  return between(least, std::numeric_limits<double>::infinity());
}

Option& Option::between(double least, double most) {
  const char* const kind = expected.starts_with("a number") ? "a number" : "a whole number";
  expected = range_text(kind, least, most);
  holds = [least, most](double value) { return value >= least && value <= most; };
  return *this;
}

Option& Option::positive() {
  expected = "a positive number";
  holds = [](double value) { return value > 0; };
  return *this;
}

Option& Option::share() {
  expected = "a share above 0 and up to 1";
  holds = [](double value) { return value > 0 && value <= 1; };
  return *this;
}

Option& Option::one_of(std::vector<std::string> words) {
  choices = std::move(words);
  const auto plain = set;
  set = [this, plain](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end())
      throw OptionError(name, found(text, "one of " + fmt::format("{}", fmt::join(choices, ", "))));
    plain(text);
  };
  return *this;
}

Option& Option::word(std::string text, double value) {
  special = {std::move(text), value};
  default_text = setting_text(get());
  return *this;
}

Option& Option::as_switch_word(const std::pair<std::string, std::string>& words) {
  is_switch = false;
  value_name = "WORD";
  const auto [yes, no] = words;
  choices = {yes, no};
  const auto plain_set = set;
  const auto plain_get = get;
  set = [this, plain_set, yes = yes, no = no](const std::string& text) {
    if (text != yes && text != no) throw OptionError(name, found(text, yes + " or " + no));
    plain_set(text == yes ? "true" : "false");
  };
  get = [plain_get, yes = yes, no = no]() -> Setting {
    return std::get<bool>(plain_get()) ? yes : no;
  };
  default_text = setting_text(get());
  return *this;
}

Option& Option::when_bare(std::string word) {
  bare_word = word;
  set = [plain = set, on = std::move(word), off = default_text](const std::string& text) {
    plain(text == "true" ? on : text == "false" ? off : text);
  };
  return *this;
}

Option& Option::measured_in(std::string text) {
  unit = std::move(text);
  return *this;
}

Option& Option::called(std::string text) {
  value_name = std::move(text);
  return *this;
}

Option& Option::default_is(std::string text) {
  default_text = std::move(text);
  return *this;
}

Option& Option::is_input(bool needed) {
  positional = true;
  required = needed;
  decides_numbers = false;  // what it holds decides, not what it is called
  default_text.clear();
  return *this;
}

Option& Option::keeps_numbers() {
  decides_numbers = false;
  return *this;
}

Option& Option::must_be_given() {
  required = true;
  return *this;
}

// ---- the table

OptionTable& OptionTable::group(std::string heading) {
  group_ = std::move(heading);
  return *this;
}

Option& OptionTable::start(std::string name, std::string help, std::string value_name) {
  Option& option = options_.emplace_back();
  option.name = std::move(name);
  option.help = std::move(help);
  option.group = group_;
  option.value_name = std::move(value_name);
  return option;
}

template <typename Number>
Option& OptionTable::add_number(std::string name, Number& value, std::string help,
                                const char* value_name) {
  Option& option = start(std::move(name), std::move(help), value_name);
  option.expected = kKind<Number>;
  Option* const self = &option;
  Number* const at = &value;
  option.set = [self, at](const std::string& text) {
    const auto& special = self->special;
    if (special && special->first == text) {
      *at = static_cast<Number>(special->second);
      return;
    }
    Number parsed{};
    const bool good =
        parse_number(text, parsed) && (!self->holds || self->holds(static_cast<double>(parsed)));
    const std::string word = special ? "'" + special->first + "' or " : "";
    if (!good) throw OptionError(self->name, found(text, word + self->expected));
    *at = parsed;
  };
  option.get = [self, at]() -> Setting {
    // What can be a word is recorded as text, whatever it is.
    if (self->special)
      return static_cast<double>(*at) == self->special->second ? self->special->first
                                                               : fmt::format("{}", *at);
    if constexpr (std::is_floating_point_v<Number>)
      return static_cast<double>(*at);
    else
      return static_cast<std::int64_t>(*at);
  };
  option.default_text = setting_text(option.get());
  return option;
}

Option& OptionTable::add(std::string name, bool& value, std::string help) {
  Option& option = start(std::move(name), std::move(help), "");
  option.is_switch = true;
  option.expected = "true or false";
  Option* const self = &option;
  bool* const at = &value;
  option.set = [self, at](const std::string& text) {
    if (text != "true" && text != "false")
      throw OptionError(self->name, found(text, "true or false"));
    *at = text == "true";
  };
  option.get = [at]() -> Setting { return *at; };
  return option;
}

Option& OptionTable::add(std::string name, int& value, std::string help) {
  return add_number(std::move(name), value, std::move(help), "NUMBER");
}
Option& OptionTable::add(std::string name, Index& value, std::string help) {
  return add_number(std::move(name), value, std::move(help), "NUMBER");
}
Option& OptionTable::add(std::string name, double& value, std::string help) {
  return add_number(std::move(name), value, std::move(help), "REAL");
}

Option& OptionTable::add(std::string name, std::uint64_t& value, std::string help) {
  Option& option = add_number(std::move(name), value, std::move(help), "NUMBER");
  option.expected = "a whole number from 0 to 2^64 - 1";
  return option;
}

Option& OptionTable::add(std::string name, std::string& value, std::string help) {
  Option& option = start(std::move(name), std::move(help), "TEXT");
  option.expected = "text";
  std::string* const at = &value;
  option.set = [at](const std::string& text) { *at = text; };
  option.get = [at]() -> Setting { return *at; };
  option.default_text = value;
  return option;
}

Option& OptionTable::add(std::string name, std::optional<double>& value, std::string help) {
  Option& option = start(std::move(name), std::move(help), "auto|REAL");
  option.expected = "'auto' or a number of at least 0";
  Option* const self = &option;
  std::optional<double>* const at = &value;
  option.set = [self, at](const std::string& text) {
    double parsed = 0;
    if (text == "auto") return at->reset();
    if (!parse_number(text, parsed) || parsed < 0)
      throw OptionError(self->name, found(text, self->expected));
    *at = parsed;
  };
  option.get = [at]() -> Setting { return *at ? fmt::format("{}", **at) : std::string("auto"); };
  option.default_text = setting_text(option.get());
  return option;
}

Option& OptionTable::add(std::string name, std::vector<std::string>& value, std::string help) {
  Option& option = start(std::move(name), std::move(help), "A,B,...");
  option.expected = "words with commas between them";
  std::vector<std::string>* const at = &value;
  option.set = [at](const std::string& text) { *at = comma_words(text); };
  option.get = [at]() -> Setting { return joined(*at); };
  option.default_text = joined(value);
  return option;
}

Option& OptionTable::add_each(std::string name, std::vector<std::string>& values,
                              std::string help) {
  Option& option = add(std::move(name), values, std::move(help));
  option.takes_list = true;
  option.value_name = "WORDS";
  std::vector<std::string>* const at = &values;
  option.set = [at](const std::string& text) { at->push_back(text); };
  return option;
}

Option& OptionTable::add(std::string name, std::vector<Index>& value, std::string help) {
  Option& option = start(std::move(name), std::move(help), "N,N,...");
  option.expected = "whole numbers from 0, with commas between them,";
  Option* const self = &option;
  std::vector<Index>* const at = &value;
  option.set = [self, at](const std::string& text) {
    std::vector<Index> parsed;
    for (const std::string& word : comma_words(text)) {
      Index number = -1;
      if (!parse_all(word, number) || number < 0)
        throw OptionError(self->name, found(word, self->expected));
      parsed.push_back(number);
    }
    *at = std::move(parsed);
  };
  option.get = [at]() -> Setting { return fmt::format("{}", fmt::join(*at, ",")); };
  return option;
}

Option& OptionTable::add(std::string name, std::optional<std::pair<Index, Index>>& value,
                         std::string help) {
  Option& option = start(std::move(name), std::move(help), "ROWS,COLUMNS");
  option.expected = "rows,columns, each from 1 to 2147483647,";
  Option* const self = &option;
  auto* const at = &value;
  option.set = [self, at](const std::string& text) {
    std::pair<Index, Index> shape;
    if (!is_shape(text, shape)) throw OptionError(self->name, found(text, self->expected));
    *at = shape;
  };
  option.get = [at]() -> Setting {
    return *at ? fmt::format("{},{}", (*at)->first, (*at)->second) : std::string();
  };
  return option;
}

Option& OptionTable::add_words(std::string name, std::vector<std::string> words,
                               std::function<void(const std::string&)> set,
                               std::function<Setting()> get, std::string help) {
  Option& option = start(std::move(name), std::move(help), "WORD");
  option.set = std::move(set);
  option.get = std::move(get);
  option.default_text = setting_text(option.get());
  return option.one_of(std::move(words));
}

Option& OptionTable::add_custom(std::string name, std::function<void(const std::string&)> set,
                                std::function<Setting()> get, std::string help) {
  Option& option = start(std::move(name), std::move(help), "TEXT");
  Option* const self = &option;
  option.set = [self, set = std::move(set)](const std::string& text) {
    try {
      set(text);
    } catch (const OptionError&) {
      throw;
    } catch (const InvalidArgument& error) {
      throw OptionError(self->name, error.what());
    }
  };
  option.get = std::move(get);
  option.default_text = setting_text(option.get());
  return option;
}

void OptionTable::remove(const std::vector<std::string>& names) {
  // Options know their own address: they stay where they are, without a name.
  for (Option& option : options_)
    if (std::find(names.begin(), names.end(), option.name) != names.end()) option.name.clear();
}

Option* OptionTable::find(std::string_view name) {
  const auto at = std::find_if(options_.begin(), options_.end(),
                               [&](const Option& option) { return option.name == name; });
  return at == options_.end() || name.empty() ? nullptr : &*at;
}

void OptionTable::set(const std::string& name, const std::string& text) {
  Option* const option = find(name);
  if (option == nullptr) {
    std::vector<std::string> known;
    for (const Option& one : options_) known.push_back(one.name);
    throw OptionError(name, "no such setting" + did_you_mean(name, known));
  }
  option->set(text);
  option->given = true;
}

std::string OptionTable::missing() const {
  for (const Option& option : options_)
    if (option.required && !option.given && !option.name.empty()) return option.name;
  return "";
}

std::map<std::string, Setting> OptionTable::config() const {
  std::map<std::string, Setting> config;
  for (const Option& option : options_) {
    if (option.name.empty()) continue;
    Setting value = option.get();
    const std::string* const text = std::get_if<std::string>(&value);
    if (text == nullptr || !text->empty()) config[option.name] = std::move(value);
  }
  return config;
}

std::string OptionTable::fingerprint() const {
  std::map<std::string, Setting> deciding = config();
  for (const Option& option : options_)
    if (!option.decides_numbers) deciding.erase(option.name);
  return settings_text(deciding);
}

}  // namespace udv
