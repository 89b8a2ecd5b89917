// SPDX-License-Identifier: MIT
#include "text/tokenizer_added.hpp"

#include <algorithm>

#include "text/tokenizer_steps.hpp"

namespace udv::text {
namespace {

// Bytes of white space at the end.
std::size_t blanks_at_end(std::string_view text) {
  constexpr std::size_t kLongest = 3;  // bytes of one such character
  std::size_t count = 0;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t length = 1; !found && length <= std::min(kLongest, text.size()); ++length) {
      found = blank_length(text.substr(text.size() - length)) == length;
      if (!found) continue;
      text.remove_suffix(length);
      count += length;
    }
  }
  return count;
}

std::size_t blanks_at_front(std::string_view text) {
  std::size_t count = 0;
  while (const std::size_t length = blank_length(text.substr(count))) count += length;
  return count;
}

}  // namespace

void AddedTokens::add(AddedToken token) {
  auto& tokens = by_first_byte_[static_cast<unsigned char>(token.content.at(0))];
  const auto place = std::find_if(tokens.begin(), tokens.end(), [&](const AddedToken& other) {
    return other.content.size() < token.content.size();
  });
  tokens.insert(place, std::move(token));
}

const AddedToken* AddedTokens::at_front(std::string_view text) const {
  for (const AddedToken& token : by_first_byte_[static_cast<unsigned char>(text[0])])
    if (text.starts_with(token.content)) return &token;
  return nullptr;
}

std::vector<Segment> AddedTokens::split(std::string_view text) const {
  std::vector<Segment> segments;
  std::size_t rest = 0;  // start of what is not yet in a segment
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* const token = at_front(text.substr(at));
    if (!token) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + token->content.size();
    if (token->with_blanks_left) begin -= blanks_at_end(text.substr(rest, at - rest));
    if (token->with_blanks_right) end += blanks_at_front(text.substr(end));
    if (begin > rest) segments.push_back({text.substr(rest, begin - rest)});
    segments.push_back({text.substr(begin, end - begin), token->token});
    rest = at = end;
  }
  if (rest < text.size()) segments.push_back({text.substr(rest)});
  return segments;
}

}  // namespace udv::text
