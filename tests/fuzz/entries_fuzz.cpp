// SPDX-License-Identifier: MIT
// Known entries of a matrix as MatrixMarket, triplets or tables, and .npy; the first byte chooses.
#include "input_file.hpp"
#include "udv/io/entries_io.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile files[] = {
      fuzz::InputFile("input.mtx"), fuzz::InputFile("input.csv"), fuzz::InputFile("input.npy")};
  if (size == 0) return 0;
  io::EntriesOptions options;
  options.symmetric = data[0] / 3 % 2 == 1;
  options.layout = static_cast<io::Layout>(data[0] / 6 % 3);
  options.keyed = data[0] / 18 % 2 == 1;
  fuzz::read_or_refuse(files[data[0] % 3].write(fuzz::view(data + 1, size - 1)),
                       [&](const auto& path) { io::read_entries_file(path, options); });
  return 0;
}
