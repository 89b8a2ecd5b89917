// SPDX-License-Identifier: MIT
#include "udv/net/export.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/deep_program.hpp"
#include "cli/export_adapter.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/net/adapter_file.hpp"
#ifdef UDV_WITH_DEEP
#include "cli/network_file.hpp"
#include "udv/deep/torchscript.hpp"
#endif

namespace udv::cli {
namespace {

struct Flags {
  std::string model, format = "safetensors";
  bool compact = false;
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

#ifdef UDV_WITH_DEEP
deep::Scaling scaling_of(const net::Preprocessing& how) {
  deep::Scaling scaling;
  if (!how.features.offset.isZero(0)) scaling.feature_offset = how.features.offset;
  if (!(how.features.factor.array() == 1).all()) scaling.feature_factor = how.features.factor;
  if (how.task == net::Task::kRegression && how.targets.factor.size() > 0) {
    scaling.target_scale = how.targets.factor.cwiseInverse();
    scaling.target_offset = how.targets.offset;
  }
  return scaling;
}

// Behind the built-in network or the backbone of the same run, where it was trained with one.
void write_script(const Flags& flags, const Model& model, const std::filesystem::path& folder) {
  const auto run = model_path(flags.model).parent_path();
  const auto network = run / "network.safetensors", backbone = run / "backbone.pt";
  if (!std::filesystem::exists(network))
    return deep::write_torchscript(folder / "model.pt", model.network,
                                   scaling_of(model.preprocessing),
                                   std::filesystem::exists(backbone) ? backbone.string() : "");
  const NetworkFile file = read_network(network);
  try {
    deep::write_torchscript(folder / "model.pt", model.network, file.arrays, file.blocks);
  } catch (const InvalidArgument& error) {
    throw IoError(message(network.string(), ": ", error.what()));
  }
}
#else
void write_script(const Flags&, const Model&, const std::filesystem::path&) {}
#endif

ExitCode run_export(const Flags& flags) {
  const bool adapter = net::adapter_kind(flags.model) != net::AdapterKind::kNone;
  if (flags.compact && flags.format != "peft")
    throw CLI::ValidationError("--compact", "goes with --to peft");
  if (adapter || flags.format == "peft")
    return export_adapter(flags.model, flags.format, flags.compact, flags.common);
#ifndef UDV_WITH_DEEP
  if (flags.format == "torchscript") go_on_as_deep_program();
  require<IoError>(flags.format != "torchscript",
                   "export: TorchScript needs the LibTorch component, which this program was built "
                   "without (make deep); onnx and safetensors do not");
#endif
  Model model = net::read_model<float>(model_path(flags.model));
  const auto folder = make_run_folder(flags.common, "export");
  if (flags.format == "onnx") {
    io::write_atomically(folder / "model.onnx", net::onnx_bytes(model));
  } else if (flags.format == "csv") {
    write_csv(folder, model.network);
  } else if (flags.format == "torchscript") {
    write_script(flags, model, folder);
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
  command
      ->add_option("model", flags->model,
                   "model.safetensors, the folder of a run or of a PEFT adapter")
      ->required();
  command
      ->add_option("--to", flags->format,
                   "safetensors, onnx, torchscript or csv; adapters: safetensors or peft")
      ->capture_default_str()
      ->check(CLI::IsMember({"safetensors", "onnx", "torchscript", "csv", "peft"}));
  command->add_flag("--compact", flags->compact,
                    "PEFT: every block with its own rank, not padded with zeros");
  flags->common.add_to(*command);
  return [flags] { return run_export(*flags); };
}

}  // namespace udv::cli
