// SPDX-License-Identifier: MIT
#include "jobs/line_names.hpp"

#include "udv/io/file.hpp"
#include "udv/io/text_table.hpp"

namespace udv::jobs {

std::string LineNames::field(const io::Keys& keys, Index index, char separator) const {
  return keys.empty() ? std::to_string(index + base) : io::csv_field(keys[index], separator);
}

std::string LineNames::text(const io::Keys& keys, Index index) const {
  return keys.empty() ? std::to_string(index + base) : io::quoted(keys[index]);
}

void write_keys(Run& run, const LineNames& names) {
  if (!run.has_folder()) return;
  if (!names.rows.empty())
    io::write_atomically(run.folder().file("rows.csv"), io::keys_csv(names.rows));
  if (!names.cols.empty())
    io::write_atomically(run.folder().file("columns.csv"), io::keys_csv(names.cols));
}

}  // namespace udv::jobs
