// SPDX-License-Identifier: MIT
#include "io/shared_entries.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/communicator.hpp"
#include "core/machine.hpp"
#include "core/require.hpp"
#include "io/entries_builder.hpp"
#include "io/names.hpp"
#include "io/parted_text.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

constexpr std::int64_t kLargeFile = 64 << 20;
constexpr std::size_t kHead = 1 << 16;  // bytes that tell what kind of file it is

std::int64_t smallest_shared_file() {
  const char* const text = std::getenv("UDV_MPI_SMALLEST_FILE");
  return text ? std::atoll(text) : kLargeFile;
}

bool is_plain_text(const std::filesystem::path& path) {
  const std::string extension = detail::lower_case(path.extension().string());
  for (const char* const other : {".gz", ".mtx", ".npy", ".npz", ".mat", ".h5", ".hdf5"})
    if (extension == other) return false;
  return true;
}

bool are_plain(const EntriesOptions& options) {
  return !options.symmetric && !options.keyed && options.weight.empty() && options.std.empty() &&
         options.layout != Layout::kTable && !options.known_rows && !options.known_cols;
}

// What stands before the first line of data: comments, and a header.
std::string before_data(const std::string& name, const std::string& head) {
  detail::LineReader lines(name, head);
  if (!lines.next_content()) return head;
  std::vector<std::string_view> fields;
  detail::split_fields(lines, detail::find_separator(lines), fields);
  const bool header =
      std::none_of(fields.begin(), fields.end(), [](auto f) { return detail::is_number(f); });
  const auto at = static_cast<std::size_t>(lines.text().data() - head.data());
  return header ? head.substr(0, head.find('\n', at) + 1) : head.substr(0, at);
}

struct Part {
  EntriesFile file;
  bool whole = true;  // what was read is all right
};

Part read_part(const std::string& name, const std::string& text, const EntriesOptions& options) {
  Part part;
  try {
    EntriesOptions how = options;
    how.layout = Layout::kTriplets;
    if (how.base == IndexBase::kAuto) how.base = IndexBase::kZero;
    how.rows = how.cols = 0;
    part.file = detail::read_triplets(name, text, how);
  } catch (const IoError&) {
    part.whole = false;
  }
  return part;
}

// The largest of a number of each rank.
Index largest_of_ranks(Index own) {
  Index largest = own;
  for (const std::string& text : gathered(std::to_string(own)))
    largest = std::max(largest, static_cast<Index>(std::atoll(text.c_str())));
  return largest;
}

bool holds_everywhere(bool own) {
  return largest_of_ranks(own ? 0 : 1) == 0;
}

bool has_zero(const Entries& entries) {
  const auto zero = [](const auto& v) { return std::find(v.begin(), v.end(), 0) != v.end(); };
  return zero(entries.row) || zero(entries.col);
}

void shift(std::vector<std::int32_t>& indices, int base) {
  for (std::int32_t& index : indices) index -= base;
}

// The head alone, read as a single process would.
std::optional<EntriesFile> read_head(const std::string& name, const std::string& head,
                                     const EntriesOptions& options) {
  try {
    return detail::read_text_entries(name, head, options);
  } catch (const IoError&) {
    return std::nullopt;
  }
}

// Throws where the lines of all processes are too many for each of them.
void require_whole_reading(const std::string& name, Index lines) {
  communicator().sum(&lines, 1);
  require<IoError>(lines <= most_entries(), name, ": about ", lines,
                   " lines found, which can only be read in parts: indices that are numbers, no "
                   "empty values, and no line twice expected");
}

// Base and sizes as all parts together have them; false where the whole file has to be looked at.
bool settle_sizes(const EntriesOptions& options, EntriesFile& file) {
  Entries& entries = file.entries;
  const bool zero = !holds_everywhere(!has_zero(entries));
  file.base = options.base == IndexBase::kOne || (options.base == IndexBase::kAuto && !zero);
  const Index rows = largest_of_ranks(entries.rows), cols = largest_of_ranks(entries.cols);
  Index total = entries.size();
  communicator().sum(&total, 1);
  constexpr Index kAlwaysFew = 100'000, kLinesPerEntry = 10;
  const Index largest = std::max(rows, cols);
  if (largest > kAlwaysFew && largest > kLinesPerEntry * total) return false;
  const int moved = options.base == IndexBase::kAuto ? file.base : 0;
  entries.rows = options.rows > 0 ? options.rows : rows - moved;
  entries.cols = options.cols > 0 ? options.cols : cols - moved;
  if (rows - moved > entries.rows || cols - moved > entries.cols) return false;
  shift(entries.row, moved);
  shift(entries.col, moved);
  return true;
}

}  // namespace

std::optional<EntriesFile> read_shared_entries(const std::filesystem::path& path,
                                               const EntriesOptions& options) {
  std::error_code unknown;
  const bool there =
      detail::PartedText::is_pattern(path) || std::filesystem::is_regular_file(path, unknown);
  if (!there || !is_plain_text(path) || !are_plain(options)) return std::nullopt;
  const detail::PartedText whole(path);
  const std::int64_t size = whole.size();
  // Ranks on different disks must see one file. A checksum of all of it would need each rank to
  // read all of it; sizes and samples tell files apart that are not copies of each other.
  require_alike(path.string(), message(size, " bytes"), "the same file");
  if (size < smallest_shared_file()) return std::nullopt;
  const std::string name = path.string();
  require_alike(name, message("a checksum of ", whole.sampled_checksum()), "the same file");
  std::string head = whole.head(kHead);
  head.resize(head.rfind('\n') == head.npos ? 0 : head.rfind('\n') + 1);
  const auto first = read_head(name, head, options);
  if (!holds_everywhere(first && !first->form.is_table && first->row_keys.empty() &&
                        first->entries.size() > 0))
    return std::nullopt;
  const int ranks = communicator().size(), rank = communicator().rank();
  std::string text = whole.lines(size * rank / ranks, size * (rank + 1) / ranks);
  if (rank > 0) text.insert(0, before_data(name, head));
  Part part = read_part(name, text, options);
  const auto lines = static_cast<Index>(std::count(text.begin(), text.end(), '\n'));
  std::string().swap(text);
  const Index largest = largest_of_ranks(lines);
  require<IoError>(largest <= most_entries(), name, ": ", largest, " lines in the part of one of ",
                   ranks, " processes, at most ", most_entries(), " expected: more processes");
  const bool as_usual = part.whole && part.file.warnings.size() == first->warnings.size();
  if (!holds_everywhere(as_usual) || !settle_sizes(options, part.file)) {
    require_whole_reading(name, lines);
    return std::nullopt;
  }
  part.file.warnings = first->warnings;
  part.file.notices = first->notices;
  if (!whole.notice().empty()) part.file.notices.insert(part.file.notices.begin(), whole.notice());
  part.file.form = first->form;
  return std::move(part.file);
}

}  // namespace udv::io
