// SPDX-License-Identifier: MIT
#include "udv/io/keys.hpp"

#include <fmt/format.h>

#include <functional>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

constexpr std::size_t kLeastSlots = 64;

std::uint64_t hash_of(std::string_view key) {
  return std::hash<std::string_view>()(key);
}

constexpr std::uint64_t kMark = 0xFFFFFFFF00000000u;

std::uint32_t number_in(std::uint64_t slot) {
  return static_cast<std::uint32_t>(slot & ~kMark);
}

}  // namespace

Keys::Keys(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    require(add(name) + 1 == size() && find(name) + 1 == size(), "Keys: two of one name");
}

std::string_view Keys::operator[](Index index) const {
  const auto k = static_cast<std::size_t>(index);
  const std::uint64_t start = k == 0 ? 0 : ends_[k - 1];
  return std::string_view(text_).substr(start, ends_[k] - start);
}

std::size_t Keys::slot_of(std::string_view key, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at] != 0) {
    const std::uint64_t slot = slots_[at];
    if ((slot & kMark) == (hash & kMark) && (*this)[Index{number_in(slot)} - 1] == key) break;
    at = (at + 1) & mask;
  }
  return at;
}

Index Keys::find(std::string_view key) const {
  return slots_.empty() ? -1 : Index{number_in(slots_[slot_of(key, hash_of(key))])} - 1;
}

Index Keys::add(std::string_view key) {
  if (2 * ends_.size() >= slots_.size()) grow();
  const std::uint64_t hash = hash_of(key);
  std::uint64_t& slot = slots_[slot_of(key, hash)];
  if (slot != 0) return Index{number_in(slot)} - 1;
  text_ += key;
  ends_.push_back(text_.size());
  slot = (hash & kMark) | ends_.size();
  return size() - 1;
}

void Keys::grow() {
  slots_.assign(std::max(kLeastSlots, 2 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t k = 0; k < ends_.size(); ++k) {
    const std::uint64_t hash = hash_of((*this)[static_cast<Index>(k)]);
    std::size_t at = hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = (hash & kMark) | (k + 1);
  }
}

void Keys::reorder(const std::vector<std::int32_t>& places) {
  std::vector<std::size_t> from(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) from[static_cast<std::size_t>(places[k])] = k;
  Keys sorted;
  for (const std::size_t k : from) sorted.add((*this)[static_cast<Index>(k)]);
  *this = std::move(sorted);
}

std::string csv_field(std::string_view text, char separator) {
  const bool edge = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  const bool plain = !edge && text.find_first_of("\"\r\n\t") == text.npos &&
                     text.find(separator) == text.npos && !text.starts_with('#') &&
                     !text.starts_with('%');
  if (plain) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

std::string keys_csv(const Keys& keys) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "index,key\n");
  for (Index k = 0; k < keys.size(); ++k) fmt::format_to(out, "{},{}\n", k, csv_field(keys[k]));
  return fmt::to_string(text);
}

Keys read_keys(const std::filesystem::path& path) {
  const std::string text = read_bytes(path);
  detail::LineReader lines(path.string(), text);
  std::vector<std::string_view> fields;
  Keys keys;
  lines.next();
  if (lines.text() != "index,key") lines.fail("a header index,key expected");
  while (lines.next()) {
    detail::split_fields(lines, ',', fields);
    Index index = -1;
    if (fields.size() != 2 || !parse_all(fields[0], index) || index != keys.size())
      lines.fail(detail::in_quotes(lines.text()), " found, ", keys.size(), " and a key expected");
    if (keys.add(detail::unescaped(lines, fields[1])) != index)
      lines.fail("key ", detail::in_quotes(fields[1]), " found a second time");
  }
  return keys;
}

}  // namespace udv::io
