// SPDX-License-Identifier: MIT
#include "udv/net/export.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
namespace {

struct Flags {
  std::string model, format = "safetensors";
  CommonFlags common;
};

using Model = net::Model<float>;

// One file per array, a line per row.
void write_csv(const std::filesystem::path& folder, const net::Network<float>& network) {
  for (const net::Block& block : network.blocks()) {
    const auto W = network.at(block);
    fmt::memory_buffer text;
    for (Index i = 0; i < W.rows(); ++i)
      for (Index j = 0; j < W.cols(); ++j)
        fmt::format_to(std::back_inserter(text), "{:.9g}{}", W(i, j),
                       j + 1 < W.cols() ? ',' : '\n');
    io::write_atomically(folder / (block.name + ".csv"), fmt::to_string(text));
  }
}

ExitCode run_export(const Flags& flags) {
  require<IoError>(flags.format != "torchscript",
                   "export: TorchScript needs the LibTorch component, which this program was built "
                   "without; onnx and safetensors do not");
  Model model = net::read_model<float>(model_path(flags.model));
  const auto folder = make_run_folder(flags.common, "export");
  if (flags.format == "onnx") {
    io::write_atomically(folder / "model.onnx", net::onnx_bytes(model));
  } else if (flags.format == "csv") {
    write_csv(folder, model.network);
  } else {
    model.notes["README"] = net::readme_of(model);
    net::write_model(folder / "model.safetensors", model);
  }
  if (!flags.common.quiet) fmt::print("  results        {}\n", folder.string());
  return kDone;
}

}  // namespace

Run setup_export(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command =
      program.add_subcommand("export", "Writes a trained network for other programs");
  command->add_option("model", flags->model, "model.safetensors, or the folder of a run")
      ->required();
  command->add_option("--to", flags->format, "safetensors, onnx, torchscript or csv")
      ->capture_default_str()
      ->check(CLI::IsMember({"safetensors", "onnx", "torchscript", "csv"}));
  flags->common.add_to(*command);
  return [flags] { return run_export(*flags); };
}

}  // namespace udv::cli
