// SPDX-License-Identifier: MIT
#include <iostream>
#include <udv/udv.hpp>

int main() {
  auto entries = udv::io::read_entries("ratings.mtx");   // row, column, value
  auto result = udv::recover(udv::completion(entries));  // no rank, no step, no scale to choose
  std::cout << result.summary() << '\n';
  std::cout << "entry (1, 1): " << result.predict(0, 0) << '\n';
  udv::io::write_run("out", result);
}
