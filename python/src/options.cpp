// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"
#include "keywords.hpp"
#include "udv/jobs/complete.hpp"
#include "udv/jobs/export.hpp"
#include "udv/jobs/phase.hpp"
#include "udv/jobs/prune.hpp"
#include "udv/jobs/ptychography.hpp"
#include "udv/jobs/sense.hpp"
#include "udv/jobs/train.hpp"

namespace udv::python {
namespace {

// Words that Python keeps for itself: the keyword is from_, say.
bool is_reserved(const std::string& word) {
  constexpr const char* kWords[] = {
      "and",    "as",   "assert", "async",  "await",  "break",   "class",    "continue",
      "def",    "del",  "elif",   "else",   "except", "finally", "for",      "from",
      "global", "if",   "import", "in",     "is",     "lambda",  "nonlocal", "not",
      "or",     "pass", "raise",  "return", "try",    "while",   "with",     "yield"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string option_of(std::string keyword) {
  if (keyword.ends_with('_') && is_reserved(keyword.substr(0, keyword.size() - 1)))
    keyword.pop_back();
  std::replace(keyword.begin(), keyword.end(), '_', '-');
  return keyword;
}

[[noreturn]] void wrong_type(const Option& option, const py::handle& value) {
  const std::string found = py::str(py::type::handle_of(value).attr("__name__"));
  const std::string expected = option.choices.empty() ? option.expected : "one of its words";
  throw py::type_error(keyword_of(option.name) + ": " + found + " found, " +
                       (expected.empty() ? "text" : expected) + " expected");
}

bool has_choice(const Option& option, const char* word) {
  return std::find(option.choices.begin(), option.choices.end(), word) != option.choices.end();
}

std::string text_of_bool(const Option& option, bool value, const py::handle& object) {
  if (!value && has_choice(option, "off")) return "off";
  if (!value && has_choice(option, "none")) return "none";
  if (option.is_switch || !option.bare_word.empty()) return value ? "true" : "false";
  if (value && has_choice(option, "on")) return "on";
  if (option.choices.size() == 2) return option.choices[value ? 0 : 1];
  wrong_type(option, object);
}

bool is_sequence(const py::handle& value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

// The text that `convert` makes; a wrong type where Python refuses, as for an array of numbers.
template <typename Convert>
std::string converted(const Option& option, const py::handle& value, const Convert& convert) {
  try {
    return py::str(convert());
  } catch (const py::error_already_set&) {
    wrong_type(option, value);
  }
}

// A value of Python as a command line would have it.
std::string text_of(const Option& option, const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return text_of_bool(option, value.cast<bool>(), value);
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::float_>(value)) return py::repr(py::float_(value.cast<double>()));
  if (PyIndex_Check(value.ptr()))
    return converted(option, value,
                     [&] { return py::module_::import("operator").attr("index")(value); });
  if (py::hasattr(value, "__fspath__")) return py::str(value.attr("__fspath__")());
  if (is_sequence(value)) {
    std::string text;
    for (const py::handle item : value) text += (text.empty() ? "" : ",") + text_of(option, item);
    return text;
  }
  if (PyNumber_Check(value.ptr()) && py::hasattr(value, "__float__"))
    return converted(option, value, [&] {
      return py::repr(py::float_(py::reinterpret_borrow<py::object>(value)));
    });
  wrong_type(option, value);
}

Option* find(const std::vector<OptionTable*>& tables, const std::string& name) {
  for (OptionTable* const table : tables)
    if (Option* const option = table->find(name)) return option;
  return nullptr;
}

[[noreturn]] void unknown_keyword(const std::string& function,
                                  const std::vector<OptionTable*>& tables,
                                  const std::string& keyword) {
  std::vector<std::string> known;
  for (OptionTable* const table : tables)
    for (const Option& option : table->options()) known.push_back(keyword_of(option.name));
  throw py::type_error(function + "() has no keyword '" + keyword + "'" +
                       did_you_mean(keyword, known));
}

py::object python_value(const Setting& setting) {
  return std::visit([](const auto& value) -> py::object { return py::cast(value); }, setting);
}

// One option as a dictionary: what docstrings and signatures are made from.
py::dict described(const Option& option) {
  py::dict one;
  one["name"] = keyword_of(option.name);
  one["help"] = option.help;
  one["group"] = option.group;
  one["choices"] = option.choices;
  one["default"] = option.default_text;
  one["value"] = python_value(option.get());
  one["expected"] = option.expected;
  one["unit"] = option.unit;
  one["kind"] = option.value_name;
  one["is_switch"] = option.is_switch;
  one["positional"] = option.positional;
  return one;
}

template <typename... Options>
py::list options_of() {
  py::list all;
  const auto add = [&](const OptionTable& table) {
    for (const Option& option : table.options())
      if (!option.name.empty()) all.append(described(option));
  };
  (add(table_of<Options>()), ...);
  return all;
}

// What is settled by keywords; inputs are arguments of the functions.
py::list options_of_job(const std::string& job) {
  using namespace jobs;
  if (job == "complete") return options_of<CompleteInput, CompleteOptions, RunOptions>();
  if (job == "sense") return options_of<SenseOptions, RunOptions>();
  if (job == "phase") return options_of<PhaseJobOptions, RunOptions>();
  if (job == "ptychography") return options_of<PtychographyJobOptions, RunOptions>();
  if (job == "train") return options_of<TrainJobOptions, RunOptions>();
  if (job == "prune") return options_of<PruneOptions, RunOptions>();
  if (job == "export") return options_of<ExportOptions, RunOptions>();
  throw InvalidArgument("job: '" + job + "' found, the name of a job expected");
}

}  // namespace

std::string keyword_of(const std::string& option) {
  std::string keyword = option;
  std::replace(keyword.begin(), keyword.end(), '-', '_');
  return is_reserved(keyword) ? keyword + "_" : keyword;
}

Settings settings_of(const std::string& function, const std::vector<OptionTable*>& tables,
                     const py::dict& keywords) {
  Settings settings;
  for (const auto& [key, value] : keywords) {
    const std::string keyword = key.cast<std::string>();
    Option* const option = find(tables, option_of(keyword));
    if (option == nullptr) unknown_keyword(function, tables, keyword);
    if (!value.is_none()) settings.emplace_back(option, text_of(*option, value));
  }
  return settings;
}

void bind_options(py::module_& m) {
  m.def("options", options_of_job, py::arg("job"));
}

}  // namespace udv::python
