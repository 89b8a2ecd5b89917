// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace udv::text {

/// Where a pattern was found, in bytes.
struct Match {
  std::size_t begin, end;
};

/// A regular expression over UTF-8, as tokenizer.json has them (the syntax of Oniguruma), by PCRE2.
class Regex {
 public:
  /// Throws IoError naming the file: a pattern that PCRE2 does not know, or reads in another way
  /// than Oniguruma.
  Regex(const std::string& file, const std::string& pattern);

  /// All matches that are not empty, one after the other. Nothing matches bytes that are no UTF-8.
  std::vector<Match> matches(std::string_view text) const;

 private:
  std::string file_, pattern_;
  std::shared_ptr<const void> code_;
};

}  // namespace udv::text
