// SPDX-License-Identifier: MIT
#pragma once

#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "core/require.hpp"

namespace udv::bench {

/// Arguments KEY=VALUE of a program that has no library for flags.
class Arguments {
 public:
  Arguments(int count, char** words, int first) {
    for (int i = first; i < count; ++i) {
      const std::string text = words[i];
      const size_t at = text.find('=');
      require(at != text.npos, text, ": KEY=VALUE expected");
      values_[text.substr(0, at)] = text.substr(at + 1);
    }
  }

  std::string word(const std::string& key, const std::string& otherwise) const {
    const auto at = values_.find(key);
    return at == values_.end() ? otherwise : at->second;
  }

  template <typename Number>
  Number number(const std::string& key, Number otherwise) const {
    const auto at = values_.find(key);
    if (at == values_.end()) return otherwise;
    std::istringstream stream(at->second);
    Number value{};
    const bool all = stream >> value && stream.peek() == std::istringstream::traits_type::eof();
    require(all, key, "=", at->second, ": a number expected");
    return value;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// run(argc, argv), whose errors are one line.
template <typename Run>
int guarded_main(const char* name, const Run& run, int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace udv::bench
