// SPDX-License-Identifier: MIT
#include "udv/io/entries_io.hpp"

#include "core/require.hpp"
#include "entries_builder.hpp"
#include "names.hpp"
#include "parted_text.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

/// ".mtx" of "data.MTX.gz".
std::string format_of(const std::filesystem::path& path) {
  const std::string extension = detail::lower_case(path.extension().string());
  return extension == ".gz" ? detail::lower_case(path.stem().extension().string()) : extension;
}

// Arrays have no columns to choose from.
void require_no_columns(const std::filesystem::path& path, const EntriesOptions& options) {
  const bool none = options.row.empty() && options.column.empty() && options.weight.empty() &&
                    options.std.empty();
  require<IoError>(none, path.string(),
                   ": columns for row, column, weight or std go with text, not with an array");
}

// Of a text file, or of several.
EntriesFile read_text(const std::filesystem::path& path, std::string text,
                      const EntriesOptions& options) {
  // By content too: as triplets, the sizes of a renamed .mtx file would pass for an entry.
  if (format_of(path) == ".mtx" || detail::has_matrix_market_banner(text)) {
    EntriesFile file = detail::read_matrix_market(path.string(), text, options);
    file.form.is_table = true;
    return file;
  }
  return detail::read_text_entries(path.string(), std::move(text), options);
}

}  // namespace

EntriesFile read_entries_file(const std::filesystem::path& path, const EntriesOptions& options) {
  detail::validate(options);
  const std::string format = format_of(path);
  const bool named = format == ".npz" || format == ".mat" || format == ".h5" || format == ".hdf5";
  if (named || format == ".npy") require_no_columns(path, options);
  if (format == ".npy") return detail::read_dense(path, options);
  if (named) return detail::read_dense_variable(path, options);
  if (detail::PartedText::is_pattern(path)) {
    const detail::PartedText parts(path);
    EntriesFile file = read_text(path, parts.all(), options);
    file.notices.insert(file.notices.begin(), parts.notice());
    return file;
  }
  return read_text(path, read_bytes(path), options);
}

Entries read_entries(const std::filesystem::path& path, const EntriesOptions& options) {
  return read_entries_file(path, options).entries;
}

}  // namespace udv::io
