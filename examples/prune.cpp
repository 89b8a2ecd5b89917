// SPDX-License-Identifier: MIT
// Trains a network with 20 neurons and keeps the two that matter most.
#include <fstream>
#include <iostream>
#include <udv/udv.hpp>

int main() {
  std::ofstream table("table.csv");
  table << "a,b,y\n";
  for (int i = 0; i < 100; ++i) table << i % 10 << ',' << i % 7 << ',' << i % 10 - i % 7 << '\n';
  table.close();

  udv::jobs::TrainJobOptions options;
  options.source.table.target = "y";
  options.training.preset = "paper";
  options.training.hidden = 20;
  udv::jobs::Session training({.out = "run"}), session;
  udv::jobs::train({"table.csv"}, options, training);
  udv::jobs::PruneOptions budget;
  budget.budget.rank = 2;
  budget.layered = true;  // else one dense layer, which is smaller
  const auto result = udv::jobs::prune({"run", "", "", ""}, budget, session);
  const auto& neurons = std::get<udv::jobs::PrunedModel>(result.pruned).neurons;
  std::cout << neurons.before << " neurons before, " << neurons.after << " after\n";
}
