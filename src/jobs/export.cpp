// SPDX-License-Identifier: MIT
#include "udv/jobs/export.hpp"

#include <fmt/format.h>

#include "core/require.hpp"
#include "jobs/adapter_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/jobs/model_input.hpp"
#include "udv/net/export.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using Model = net::Model<float>;

// One file for each array, a line for each row.
void write_csv(const fs::path& folder, const net::Network<float>& network) {
  for (const net::ParameterBlock& block : network.blocks()) {
    const auto W = network.at(block);
    fmt::memory_buffer text;
    for (Index i = 0; i < W.rows(); ++i)
      for (Index j = 0; j < W.cols(); ++j)
        fmt::format_to(std::back_inserter(text), "{:.9g}{}", W(i, j),
                       j + 1 < W.cols() ? ',' : '\n');
    io::write_atomically(folder / (block.name + ".csv"), fmt::to_string(text));
  }
}

// Calls write(folder) and leaves a run behind.
template <typename Write>
ExportResult write_run(ExportInput input, ExportOptions options, Session& session,
                       const Json& results, const Write& write) {
  OptionTable table;
  describe(table, input);
  describe(table, options);
  Run run(session, "export", table.config(), table.fingerprint());
  if (run.has_folder()) {
    write(run.folder().staging());
    write_run_json(run.folder(), run.info(), results);
  }
  return {Outcome::kDone, run.path()};
}

ExportResult export_adapter(const ExportInput& input, const ExportOptions& options,
                            Session& session) {
  const bool peft = options.format == "peft";
  require<IoError>(peft || options.format == "safetensors", input.model,
                   ": an adapter found, which goes to peft or safetensors, not to ",
                   options.format);
  const net::Adapter adapter = net::read_adapter(input.model);
  const auto kind = peft ? net::AdapterKind::kPeft : net::AdapterKind::kNative;
  check_adapter_files(input.model, adapter, kind);
  return write_run(
      input, options, session, {{"method", adapter.method}, {"parameters", adapter.parameters()}},
      [&](const fs::path& folder) { write_adapter_files(folder, adapter, kind, options.compact); });
}

void write_network(const fs::path& folder, const ExportOptions& options, Model model) {
  if (options.format == "onnx") {
    io::write_atomically(folder / "model.onnx", net::onnx_bytes(model, options.bare));
  } else if (options.format == "csv") {
    write_csv(folder, model.network);
  } else {
    model.notes["README"] = net::readme_of(model);
    net::write_model(folder / "model.safetensors", model);
  }
}

}  // namespace

void describe(OptionTable& table, ExportInput& input) {
  table.add("model", input.model, "model.safetensors, the folder of a run or of a PEFT adapter")
      .is_input()
      .called("MODEL");
}

void describe(OptionTable& table, ExportOptions& options) {
  table.group("Export");
  table.add("to", options.format, "Format; adapters go to safetensors or peft")
      .one_of({"safetensors", "onnx", "torchscript", "csv", "peft"});
  table.add("compact", options.compact,
            "PEFT: every block keeps its own rank, without padding by zeros");
  table.add("bare", options.bare,
            "ONNX: one input of features that are numbers, instead of the columns of the table");
}

ExportResult export_model(const ExportInput& input, const ExportOptions& options, Session& session,
                          const ScriptWriter& write_script) {
  const bool script = options.format == "torchscript";
  if (options.compact && options.format != "peft")
    throw OptionError("compact", "only for the format peft");
  if (options.bare && options.format != "onnx")
    throw OptionError("bare", "only for the format onnx");
  require_other_folder(session, input.model);
  const EarlyFolder early(session);
  if (net::adapter_kind(input.model) != net::AdapterKind::kNone || options.format == "peft")
    return export_adapter(input, options, session);
  require<IoError>(!script || write_script,
                   "export: TorchScript needs the LibTorch component; onnx and safetensors do not");
  const fs::path path = model_path(input.model);
  const Model model = net::read_model<float>(path);
  return write_run(
      input, options, session,
      {{"variant", model.network.variant().name}, {"parameters", model.network.num_parameters()}},
      [&](const fs::path& folder) {
        if (script)
          write_script(folder, path, model);
        else
          write_network(folder, options, model);
      });
}

}  // namespace udv::jobs
