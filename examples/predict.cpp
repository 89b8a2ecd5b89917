// SPDX-License-Identifier: MIT
// Trains a network on a table and applies it to the rows of another one.
#include <cmath>
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream table("table.csv");
  table << "a,b,y\n";
  for (int i = 0; i < 100; ++i)
    table << i % 10 << ',' << i % 7 << ',' << 2 * (i % 10) - i % 7 << '\n';
  table.close();
  std::ofstream("new.csv") << "a,b\n5,1\n2,6\n";

  udv::jobs::TrainJobOptions options;
  options.source.table.target = "y";
  options.training.preset = "paper";
  options.training.bias = true;
  options.training.learning_rate = 0.01;
  udv::jobs::Session training({.out = "run"}), session;
  udv::jobs::train({"table.csv"}, options, training);
  const auto result = udv::jobs::predict({"run", "new.csv", ""}, {}, session);
  for (const double y : result.predictions.outputs.col(0)) std::cout << std::round(y) << '\n';
}
