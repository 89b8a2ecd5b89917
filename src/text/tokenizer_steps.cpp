// SPDX-License-Identifier: MIT
#include "text/tokenizer_steps.hpp"

#include <algorithm>

#include "io/text.hpp"
#include "text/tokenizer_regex.hpp"

namespace udv::text {
namespace {

using io::detail::in_quotes;

// GPT-2's own, for ByteLevel with use_regex.
const char* const kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string type_of(const JsonValue& value) {
  return value["type"].text();
}

// {"String": ...}, the only kind of pattern that Replace is read with.
std::string plain_pattern(const JsonValue& value) {
  const std::string pattern = value["pattern"]["String"].text();
  if (pattern.empty()) value["pattern"].fail("an empty String", "characters");
  return pattern;
}

Normalizer replacement(const JsonValue& value) {
  return [from = plain_pattern(value), to = value["content"].text()](std::string text) {
    return replaced(text, from, to);
  };
}

Normalizer prefix(const std::string& start) {
  return [start](std::string text) { return text.empty() ? text : start + text; };
}

// Where a text is cut: the matches and what lies between them.
struct Part {
  std::size_t begin, end;
  bool match;
};

using Finder = std::function<std::vector<Match>(std::string_view)>;

std::vector<Part> parts_of(const Finder& find, bool invert, std::string_view text) {
  std::vector<Part> parts;
  std::size_t at = 0;
  for (const Match& match : find(text)) {
    if (match.begin > at) parts.push_back({at, match.begin, invert});
    parts.push_back({match.begin, match.end, !invert});
    at = match.end;
  }
  if (at < text.size()) parts.push_back({at, text.size(), invert});
  return parts;
}

enum class Behavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext };

// A match joins its neighbour unless that is on its other side a match too.
std::vector<Part> merged(std::vector<Part> parts, bool with_next) {
  if (with_next) std::reverse(parts.begin(), parts.end());
  std::vector<Part> result;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.match && !after_match && !result.empty()) {
      result.back().begin = std::min(result.back().begin, part.begin);
      result.back().end = std::max(result.back().end, part.end);
    } else {
      result.push_back(part);
    }
    after_match = part.match;
  }
  if (with_next) std::reverse(result.begin(), result.end());
  return result;
}

std::vector<Part> arranged(std::vector<Part> parts, Behavior behavior) {
  if (behavior == Behavior::kRemoved) std::erase_if(parts, [](const Part& p) { return p.match; });
  if (behavior == Behavior::kIsolated || behavior == Behavior::kRemoved) return parts;
  return merged(std::move(parts), behavior == Behavior::kMergedWithNext);
}

Splitter split_at(Finder find, bool invert, Behavior behavior) {
  return [=](const Words& words, bool) {
    Words result;
    for (const std::string& word : words)
      for (const Part& part : arranged(parts_of(find, invert, word), behavior))
        result.push_back(word.substr(part.begin, part.end - part.begin));
    return result;
  };
}

Finder find_text(const std::string& pattern) {
  return [pattern](std::string_view text) {
    std::vector<Match> all;
    for (std::size_t at = 0; (at = text.find(pattern, at)) != text.npos; at += pattern.size())
      all.push_back({at, at + pattern.size()});
    return all;
  };
}

Finder find_regex(const std::string& file, const std::string& pattern) {
  return [regex = Regex(file, pattern)](std::string_view text) { return regex.matches(text); };
}

Behavior read_behavior(const JsonValue& value) {
  const std::string name = value.text();
  if (name == "Isolated") return Behavior::kIsolated;
  if (name == "Removed") return Behavior::kRemoved;
  if (name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::kMergedWithNext;
  value.fail(in_quotes(name), "Isolated, Removed, MergedWithPrevious or MergedWithNext");
}

Splitter read_split(const JsonValue& value) {
  const Behavior behavior = read_behavior(value["behavior"]);
  const bool invert = value["invert"].flag();
  const JsonValue regex = value["pattern"]["Regex"];
  Finder find =
      regex.is_null() ? find_text(plain_pattern(value)) : find_regex(value.file(), regex.text());
  return split_at(std::move(find), invert, behavior);
}

Splitter then(Splitter first, Splitter second) {
  return [=](Words words, bool at_start) {
    return second(first(std::move(words), at_start), at_start);
  };
}

Splitter for_each_word(const Normalizer& change) {
  return [change](Words words, bool) {
    for (std::string& word : words) word = change(std::move(word));
    return words;
  };
}

Splitter read_byte_level(const JsonValue& value) {
  const Splitter to_characters = for_each_word([](const std::string& word) {
    std::string result;
    for (const char byte : word) result += byte_characters()[static_cast<unsigned char>(byte)];
    return result;
  });
  const bool blank = value["add_prefix_space"].flag(true);
  const Splitter start = for_each_word([blank](const std::string& word) {
    return blank && !word.starts_with(' ') ? " " + word : word;
  });
  if (!value["use_regex"].flag(true)) return then(start, to_characters);
  const Splitter split =
      split_at(find_regex(value.file(), kByteLevelPattern), false, Behavior::kIsolated);
  return then(start, then(split, to_characters));
}

enum class Prepend { kAlways, kFirst, kNever };

// Older files have add_prefix_space instead.
Prepend read_prepend(const JsonValue& value) {
  const JsonValue scheme = value["prepend_scheme"];
  if (scheme.is_null())
    return value["add_prefix_space"].flag(true) ? Prepend::kAlways : Prepend::kNever;
  const std::string name = scheme.text();
  if (name == "always") return Prepend::kAlways;
  if (name == "first") return Prepend::kFirst;
  if (name == "never") return Prepend::kNever;
  scheme.fail(in_quotes(name), "always, first or never");
}

Splitter read_metaspace_splitter(const JsonValue& value) {
  const std::string mark = value["replacement"].text();
  if (mark.empty()) value["replacement"].fail("an empty text", "a character");
  const Prepend prepend = read_prepend(value);
  const Splitter mark_blanks = [=](Words words, bool at_start) {
    for (std::string& word : words) {
      word = replaced(word, " ", mark);
      const bool wanted = prepend == Prepend::kAlways || (prepend == Prepend::kFirst && at_start);
      if (wanted && !word.starts_with(mark)) word = mark + word;
      at_start = false;
    }
    return words;
  };
  if (!value["split"].flag(true)) return mark_blanks;
  return then(mark_blanks, split_at(find_text(mark), false, Behavior::kMergedWithNext));
}

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t next; (next = text.find(from, at)) != text.npos; at = next + from.size()) {
    result += text.substr(at, next - at);
    result += to;
  }
  return result += text.substr(at);
}

std::size_t blank_length(std::string_view text) {
  static const std::vector<std::string_view> kLong = {
      "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
      "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200A",
      "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};
  if (text.empty()) return 0;
  if (text[0] == ' ' || ('\t' <= text[0] && text[0] <= '\r')) return 1;
  for (const std::string_view blank : kLong)
    if (text.starts_with(blank)) return blank.size();
  return 0;
}

Normalizer read_normalizer(const JsonValue& value) {
  if (value.is_null()) return [](std::string text) { return text; };
  const std::string type = type_of(value);
  if (type == "Prepend") return prefix(value["prepend"].text());
  if (type == "Replace") return replacement(value);
  if (type != "Sequence") value.fail(in_quotes(type), "Prepend, Replace or a Sequence of them");
  std::vector<Normalizer> steps;
  for (const JsonValue& item : value["normalizers"].items()) steps.push_back(read_normalizer(item));
  return [steps](std::string text) {
    for (const Normalizer& step : steps) text = step(std::move(text));
    return text;
  };
}

Splitting read_splitter(const JsonValue& value) {
  if (value.is_null()) return {[](Words words, bool) { return words; }};
  const std::string type = type_of(value);
  if (type == "Split") return {read_split(value)};
  if (type == "ByteLevel") return {read_byte_level(value), true};
  if (type == "Metaspace") return {read_metaspace_splitter(value)};
  if (type != "Sequence")
    value.fail(in_quotes(type), "Split, ByteLevel, Metaspace or a Sequence of them");
  Splitting all = {[](Words words, bool) { return words; }};
  for (const JsonValue& item : value["pretokenizers"].items()) {
    const Splitting step = read_splitter(item);
    all = {then(all.split, step.split), all.byte_level || step.byte_level};
  }
  return all;
}

}  // namespace udv::text
