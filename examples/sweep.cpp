// SPDX-License-Identifier: MIT
// Two variants and two learning rates, three seeds each; a second call resumes: nothing is left to
// do.
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream table("table.csv");
  table << "a,b,y\n";
  for (int i = 0; i < 100; ++i)
    table << i % 10 << ',' << i % 7 << ',' << 2 * (i % 10) - i % 7 << '\n';
  table.close();
  std::ofstream("spec.toml") << "data = 'table.csv'\ntarget = 'y'\nepochs = 5\nseeds = 3\n"
                             << "variants = ['UDV', 'UV']\nlearning-rates = [1e-3, 1e-2]\n";

  udv::jobs::Session session({.out = "run", .resume = true});
  for (int call = 0; call < 2; ++call) {
    const auto result = udv::jobs::sweep({"spec.toml"}, session);
    std::cout << result.cells << " cells, " << result.trained << " trained\n";
  }
}
