// SPDX-License-Identifier: MIT
// Trains a network and writes it as an ONNX file.
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
  udv::jobs::Session training({.out = "run"}), session({.out = "onnx"});
  udv::jobs::train({"table.csv"}, options, training);
  udv::jobs::ExportOptions to;
  to.format = "onnx";
  const auto result = udv::jobs::export_model({"run"}, to, session);
  std::cout << "model.onnx is there: " << std::boolalpha
            << std::filesystem::exists(result.folder / "model.onnx") << '\n';
}
