// SPDX-License-Identifier: MIT
// A network that learns y = 2 a - b from a table.
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream table("table.csv");
  table << "a,b,y\n";
  for (int i = 0; i < 100; ++i)
    table << i % 10 << ',' << i % 7 << ',' << 2 * (i % 10) - i % 7 << '\n';
  table.close();

  udv::jobs::TrainJobOptions options;
  options.source.table.target = "y";
  udv::jobs::Session session({.out = "run"});  // model.safetensors, run.json, history.csv
  const auto result = udv::jobs::train({"table.csv"}, options, session);
  std::cout << result.training_rows << " rows to learn from, " << result.test_rows << " to test\n";
  std::cout << "R2 above 0.999: " << std::boolalpha << (result.metrics.mean_r2() > 0.999) << '\n';
}
