// SPDX-License-Identifier: MIT
// What is in a file: here a diagonal matrix.
#include <iostream>
#include <udv/udv.hpp>

int main() {
  const udv::RowMatrix<double> D = udv::Vector<double>::LinSpaced(4, 4, 1).asDiagonal();
  udv::io::write_npy("diagonal.npy", D);
  const auto report = udv::jobs::inspect({"diagonal.npy"}, {});
  for (const auto& part : report.parts)
    if (const auto* fact = std::get_if<udv::jobs::InspectReport::Fact>(&part))
      std::cout << fact->name << ": " << fact->value << '\n';
}
