// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/require.hpp"

namespace udv::text {

/// A value of a JSON file that knows its place in it, for errors. File and JSON must outlive it.
class JsonValue {
 public:
  using Json = nlohmann::json;

  JsonValue(const std::string& file, const Json& json, std::string place = "")
      : file_(file), json_(json), place_(std::move(place)) {}

  const Json& json() const { return json_; }
  bool is_null() const { return json_.is_null(); }

  /// What an object has under this name: null where there is none.
  JsonValue operator[](const std::string& name) const {
    static const Json kNothing;
    const bool found = json_.is_object() && json_.contains(name);
    return {file_, found ? json_[name] : kNothing, place_.empty() ? name : place_ + "." + name};
  }

  /// The items of a list.
  std::vector<JsonValue> items() const {
    expect(json_.is_array(), "a list");
    std::vector<JsonValue> values;
    for (const Json& item : json_)
      values.emplace_back(file_, item, message(place_, "[", values.size(), "]"));
    return values;
  }

  std::string text() const {
    expect(json_.is_string(), "text");
    return json_.get<std::string>();
  }
  bool flag(bool otherwise = false) const {
    if (is_null()) return otherwise;
    expect(json_.is_boolean(), "true or false");
    return json_.get<bool>();
  }
  /// A whole number from 0 to `most`.
  std::int32_t whole(std::int32_t most) const {
    const bool fits = json_.is_number_unsigned() &&
                      json_.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
    if (!fits) fail(json_.is_number() ? json_.dump() : json_.type_name(), message("0 to ", most));
    return json_.get<std::int32_t>();
  }

  void expect(bool holds, const std::string& expected) const {
    if (!holds) fail(json_.is_null() ? "nothing" : json_.type_name(), expected);
  }
  /// Throws IoError about this value.
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw IoError(message(file_, ": ", place_, ": ", found, " found, ", expected, " expected"));
  }
  const std::string& file() const { return file_; }

 private:
  const std::string& file_;
  const Json& json_;
  std::string place_;
};

}  // namespace udv::text
