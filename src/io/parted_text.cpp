// SPDX-License-Identifier: MIT
#include "io/parted_text.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "core/hash.hpp"
#include "core/parse.hpp"
#include "core/require.hpp"
#include "io/text.hpp"
#include "udv/io/file.hpp"

namespace udv::io::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCompared = 1 << 16;  // first and last bytes of parts of one size
constexpr std::int64_t kPieces = 1024, kPieceSize = 4096;  // what a sampled checksum reads

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_at(const fs::path& path, std::int64_t place) {
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  const bool there = file && ::fseeko(file.get(), static_cast<off_t>(place), SEEK_SET) == 0;
  require<IoError>(there, path.string(), ": cannot be read");
  return file;
}

std::string read_range(const fs::path& path, std::int64_t begin, std::int64_t end) {
  const File file = open_at(path, begin);
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  require<IoError>(!std::ferror(file.get()), path.string(), ": reading failed");
  return text;
}

// The lines of one file that begin in these bytes.
std::string read_lines(const fs::path& path, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return "";
  // A line that begins before them belongs to the bytes before.
  const std::int64_t from = std::max<std::int64_t>(begin - 1, 0);
  std::string text = read_range(path, from, end);
  if (!text.empty() && text.back() != '\n') {
    const File file = open_at(path, from + static_cast<std::int64_t>(text.size()));
    for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) {
      text.push_back(static_cast<char>(c));
      if (c == '\n') break;
    }
    if (text.back() != '\n') text.push_back('\n');
  }
  if (begin > 0) text.erase(0, text.find('\n') + 1);
  return text;
}

// Numbers in the place of the * and the files that have them.
std::map<std::int64_t, fs::path> numbered_parts(const fs::path& pattern) {
  const std::string name = pattern.filename().string();
  const std::size_t star = name.find('*');
  const std::string before = name.substr(0, star), after = name.substr(star + 1);
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : ".";
  require<IoError>(fs::is_directory(folder), folder.string(), ": no such folder");
  std::map<std::int64_t, fs::path> parts;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string found = file.path().filename().string();
    if (found.size() <= before.size() + after.size() || !found.starts_with(before) ||
        !found.ends_with(after))
      continue;
    const std::string text =
        found.substr(before.size(), found.size() - before.size() - after.size());
    std::int64_t number = -1;
    require<IoError>(parse_all(text, number) && number >= 0, pattern.string(), ": ", found,
                     " found, a whole number in the place of * expected");
    const auto [same, is_new] = parts.try_emplace(number, file.path());
    require<IoError>(is_new, pattern.string(), ": part ", number, " is there twice, ", found,
                     " and ", same->second.filename().string());
  }
  return parts;
}

}  // namespace

bool PartedText::is_pattern(const fs::path& path) {
  std::error_code unknown;
  return path.filename().string().find('*') != std::string::npos && !fs::exists(path, unknown);
}

PartedText::PartedText(const fs::path& path) : name_(path.string()) {
  if (is_pattern(path)) {
    std::int64_t next = -1;
    const auto parts = numbered_parts(path);
    for (const auto& [number, file] : parts) {
      require<IoError>(next < 0 ? number <= 1 : number == next, name_, ": part ",
                       next < 0 ? 0 : next, " is missing, ", file.filename().string(), " found");
      next = number + 1;
      parts_.push_back(file);
    }
    require<IoError>(!parts_.empty(), name_, ": no part found, at least one expected");
    notice_ = message(name_, ": parts ", parts.begin()->first, " to ", next - 1, " are there");
  } else {
    parts_ = {path};
  }
  for (const fs::path& part : parts_) {
    std::error_code unknown;
    const auto size = static_cast<std::int64_t>(fs::file_size(part, unknown));
    require<IoError>(!unknown, part.string(), ": cannot be read");
    starts_.push_back(starts_.back() + size);
  }
  if (parts_.size() == 1) return;
  check_different();
  const std::string first = head(kCompared);
  LineReader line(name_, first);
  if (!line.next_content()) return;
  std::vector<std::string_view> fields;
  split_fields(line, find_separator(line), fields);
  if (std::none_of(fields.begin(), fields.end(), [](auto f) { return is_number(f); }))
    header_ = first.substr(0, first.find('\n') + 1);
}

void PartedText::check_different() const {
  std::map<std::string, std::size_t> seen;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::int64_t size = starts_[k + 1] - starts_[k];
    const auto some = std::min<std::int64_t>(size, kCompared);
    const std::string ends = message(size, ":") + read_range(parts_[k], 0, some) +
                             read_range(parts_[k], size - some, size);
    const auto [before, is_new] = seen.try_emplace(ends, k);
    require<IoError>(is_new || size == 0, name_, ": ", parts_[before->second].filename().string(),
                     " and ", parts_[k].filename().string(),
                     " are the same, different parts expected");
  }
}

std::string PartedText::lines(std::int64_t begin, std::int64_t end) const {
  std::string text;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::int64_t from = std::max(begin, starts_[k]) - starts_[k];
    const std::int64_t to = std::min(end, starts_[k + 1]) - starts_[k];
    std::string part = read_lines(parts_[k], from, to);
    const bool repeats = k > 0 && from == 0 && !header_.empty() && part.starts_with(header_);
    text += repeats ? part.substr(header_.size()) : part;
  }
  return text;
}

std::uint64_t PartedText::sampled_checksum() const {
  std::uint64_t hash = kHashStart;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const std::int64_t size = starts_[k + 1] - starts_[k];
    const std::int64_t stride = std::max(kPieceSize, this->size() / kPieces);
    for (std::int64_t at = 0; at < size; at += stride) {
      const std::string piece = read_range(parts_[k], at, std::min(at + kPieceSize, size));
      hash = array_hash(piece.data(), piece.size(), hash);
    }
  }
  return hash;
}

std::string PartedText::head(std::size_t count) const {
  return read_start(parts_.front(), count);
}

}  // namespace udv::io::detail
