// SPDX-License-Identifier: MIT
// Trains a network on a table and measures its error in the units of the target.
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
  options.training.preset = "paper";
  options.training.bias = true;
  options.training.learning_rate = 0.01;
  udv::jobs::Session training({.out = "run"}), session;
  udv::jobs::train({"table.csv"}, options, training);
  const auto result = udv::jobs::evaluate({"run", "table.csv", ""}, {}, session);
  std::cout << result.rows << " rows, rmse below 0.01: " << std::boolalpha << (*result.rmse < 0.01)
            << '\n';
}
