// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "udv/core/error.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/head.hpp"
#include "udv/net/model_file.hpp"
#include "udv/net/run_folder.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

struct Flags {
  std::string file;
  bool svd = false;
  double energy = 0.99;
};

constexpr Index kFewNumbers = 1 << 20;  // of a file whose spectra are shown unasked

void print_row(const std::string& name, const std::string& value) {
  fmt::print("  {:<14} {}\n", name, value);
}

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

bool is_float(const io::Tensor& tensor) {
  return tensor.type == "F32" || tensor.type == "F64" || tensor.type == "F16" ||
         tensor.type == "BF16";
}

// "rank 12 of 64: 25 %" of the numbers, where two factors of the rank would be smaller.
std::string saving(const io::SafetensorsFile& file, const io::Tensor& tensor, double energy) {
  const Index rows = tensor.shape[0], cols = tensor.shape[1];
  const Vector<double> values = file.read<double>(tensor);
  if (!values.allFinite()) return "not finite";
  const RowMatrix<double> M = Eigen::Map<const RowMatrix<double>>(values.data(), rows, cols);
  const Index rank = net::energy_rank(net::singular_values(M), energy);
  const double share = static_cast<double>(rank * (rows + cols)) / static_cast<double>(rows * cols);
  return share < 1 ? fmt::format("rank {}: {:.0f} %", rank, 100 * share)
                   : fmt::format("rank {}: nothing", rank);
}

void print_tensors(const io::SafetensorsFile& file, bool svd, double energy) {
  std::vector<std::string> header{"tensor", "type", "shape", "numbers"};
  if (svd) header.push_back(fmt::format("SVD, {:g} % energy", 100 * energy));
  std::vector<std::vector<std::string>> rows;
  for (const io::Tensor& tensor : file.tensors()) {
    rows.push_back(
        {tensor.name, tensor.type, io::shape_text(tensor.shape), fmt::format("{}", tensor.size())});
    if (!svd) continue;
    const bool matrix = tensor.shape.size() == 2 && is_float(tensor) && tensor.size() > 0;
    rows.back().push_back(matrix ? saving(file, tensor, energy) : "");
  }
  fmt::print("{}\n", report::table(header, rows));
}

void print_model(const io::SafetensorsFile& file) {
  const auto model = net::read_model<double>(file.name());
  const net::TrainFigures figures = net::figures_of(model.network);
  print_row("network",
            fmt::format("{} {}{}", model.network.variant().name, to_string(model.network.sizes()),
                        model.network.bias() ? ", biases" : ""));
  print_row("task",
            model.preprocessing.task == net::Task::kRegression ? "regression" : "classification");
  if (!model.preprocessing.target.empty()) print_row("target", model.preprocessing.target);
  print_row("spectrum", report::spectrum_text(figures.spectrum));
  print_row("rank",
            fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}, "
                        "effective rank {:.3g}",
                        figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank,
                        figures.effective_rank));
  print_row("live neurons", fmt::format("{}", figures.live_width));
  for (const auto& [key, text] : model.notes) print_row(key, text);
}

ExitCode run_inspect(const Flags& flags) {
  const io::SafetensorsFile file(model_path(flags.file));
  Index numbers = 0, matrices = 0;
  double bytes = 0;
  for (const io::Tensor& tensor : file.tensors()) {
    numbers += tensor.size();
    bytes += static_cast<double>(tensor.bytes.size());
    if (tensor.shape.size() == 2) matrices += tensor.size();
  }
  print_row("file", file.name());
  print_row("tensors",
            fmt::format("{}, {} numbers, {}", file.tensors().size(), numbers, size_text(bytes)));
  const bool ours = file.metadata().contains("udv") && file.metadata().contains("preprocessing");
  if (ours) print_row("written by", "udv " + file.metadata().at("udv"));
  if (ours) print_model(file);
  for (const auto& [key, text] : file.metadata())
    if (!ours) print_row(key, text.substr(0, 200));
  fmt::print("\n");
  print_tensors(file, flags.svd || (matrices <= kFewNumbers && matrices > 0), flags.energy);
  return kDone;
}

}  // namespace

Run setup_inspect(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command =
      program.add_subcommand("inspect", "Shows what is in a safetensors file");
  command->add_option("file", flags->file, "A .safetensors file, or the folder of a run")
      ->required();
  command->add_flag("--svd", flags->svd, "Say for every matrix what SVD pruning would leave of it");
  command->add_option("--energy", flags->energy, "Share of the energy that it keeps")
      ->capture_default_str()
      ->check(share_number());
  return [flags] { return run_inspect(*flags); };
}

}  // namespace udv::cli
