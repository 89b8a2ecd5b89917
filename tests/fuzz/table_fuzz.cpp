// SPDX-License-Identifier: MIT
// Text tables, and what a table's columns become.
#include <numeric>

#include "input_file.hpp"
#include "udv/net/preprocessing.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.csv");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)), [](const auto& path) {
    const io::TextTable table(path);
    std::vector<Index> rows(static_cast<std::size_t>(table.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    net::TableOptions options;
    options.target = table.columns().back();
    options.encoding = table.rows() % 2 == 0 ? "onehot" : "label";
    std::vector<std::string> notes;
    const net::Preprocessing how = net::fit_table(table, rows, options, notes);
    how.dataset_of<float>(table, rows);
    net::Preprocessing::from_json(how.to_json());
  });
  return 0;
}
