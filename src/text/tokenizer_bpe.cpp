// SPDX-License-Identifier: MIT
#include "text/tokenizer_bpe.hpp"

#include <fmt/format.h>

#include <limits>
#include <queue>
#include <tuple>

#include "core/require.hpp"
#include "io/text.hpp"

namespace udv::text {
namespace {

std::uint64_t pair_key(Token left, Token right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

// A token of the word; those that were joined into their left neighbour are unlinked.
struct Bpe::Symbol {
  Token token;
  std::int32_t previous, next;  // -1 at the ends
};

// Two neighbours that may be joined, unless one of them has changed meanwhile.
struct Bpe::Candidate {
  std::int32_t rank, position;
  Token left, right, joined;

  bool operator<(const Candidate& other) const {  // the queue hands out the largest
    return std::tie(other.rank, other.position) < std::tie(rank, position);
  }
};

class Bpe::Chain {
 public:
  Chain(const Bpe& bpe, const std::vector<Token>& tokens) : bpe_(bpe) {
    const auto count = static_cast<std::int32_t>(tokens.size());
    symbols_.reserve(tokens.size());
    for (std::int32_t i = 0; i < count; ++i)
      symbols_.push_back({tokens[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
    std::vector<Candidate> all;
    for (std::int32_t i = 0; i < count; ++i)
      propose(i, [&](const Candidate& c) { all.push_back(c); });
    queue_ = std::priority_queue<Candidate>({}, std::move(all));
  }

  void join_all() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (is_current(best)) join(best);
    }
  }

  void append_to(std::vector<Token>& tokens) const {
    for (std::int32_t i = symbols_.empty() ? -1 : 0; i >= 0; i = at(i).next)
      tokens.push_back(at(i).token);
  }

 private:
  const Symbol& at(std::int32_t i) const { return symbols_[static_cast<size_t>(i)]; }
  Symbol& at(std::int32_t i) { return symbols_[static_cast<size_t>(i)]; }

  template <typename Use>
  void propose(std::int32_t position, const Use& use) const {
    if (position < 0 || at(position).next < 0) return;
    const Token left = at(position).token, right = at(at(position).next).token;
    if (const Ranked* merge = bpe_.merge_of(left, right))
      use(Candidate{merge->rank, position, left, right, merge->joined});
  }

  bool is_current(const Candidate& candidate) const {
    const Symbol& symbol = at(candidate.position);
    return symbol.token == candidate.left && symbol.next >= 0 &&
           at(symbol.next).token == candidate.right;
  }

  void join(const Candidate& best) {
    Symbol& symbol = at(best.position);
    at(symbol.next).token = -1;
    symbol.token = best.joined;
    symbol.next = at(symbol.next).next;
    if (symbol.next >= 0) at(symbol.next).previous = best.position;
    const auto push = [this](const Candidate& candidate) { queue_.push(candidate); };
    propose(symbol.previous, push);
    propose(best.position, push);
  }

  const Bpe& bpe_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> queue_;
};

std::string byte_piece(unsigned char byte) {
  return fmt::format("<0x{:02X}>", byte);
}

Bpe::Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, const BpeOptions& options)
    : vocabulary_(std::move(vocabulary)), options_(options) {
  merges_.reserve(merges.size());
  for (const Merge& merge : merges) {
    const auto rank = static_cast<std::int32_t>(merges_.size());
    merges_.insert({pair_key(merge.left, merge.right), {rank, merge.joined}});
  }
  for (int byte = 0; options_.byte_fallback && byte < 256; ++byte)
    bytes_.push_back(find(byte_piece(static_cast<unsigned char>(byte))));
}

Token Bpe::find(std::string_view piece) const {
  const auto found = vocabulary_.find(piece);
  return found == vocabulary_.end() ? -1 : found->second;
}

const Bpe::Ranked* Bpe::merge_of(Token left, Token right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<Token> Bpe::characters(std::string_view word) const {
  std::vector<Token> tokens;
  tokens.reserve(word.size());
  bool after_unknown = false;
  while (!word.empty()) {
    const std::string_view character =
        word.substr(0, std::max<std::size_t>(1, io::detail::utf8_length(word)));
    word.remove_prefix(character.size());
    const Token token = find(character);
    const bool unknown = token < 0 && !options_.byte_fallback;
    if (token >= 0) tokens.push_back(token);
    if (token < 0 && options_.byte_fallback)
      for (const char byte : character) tokens.push_back(bytes_[static_cast<unsigned char>(byte)]);
    if (unknown && options_.unknown >= 0 && !(after_unknown && options_.fuse_unknown))
      tokens.push_back(options_.unknown);
    after_unknown = unknown;
  }
  return tokens;
}

void Bpe::encode(std::string_view word, std::vector<Token>& tokens) const {
  const Token whole = options_.whole_words ? find(word) : -1;
  if (whole >= 0) return tokens.push_back(whole);
  constexpr std::size_t kLongest = std::numeric_limits<std::int32_t>::max();
  require(word.size() < kLongest, "a word of ", word.size(), " bytes found, less than ", kLongest,
          " expected");
  Chain chain(*this, characters(word));
  chain.join_all();
  chain.append_to(tokens);
}

}  // namespace udv::text
