// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::jobs {

struct ExportInput {
  std::string model;  ///< model.safetensors, the folder of a run or of a PEFT adapter
};
UDV_EXPORT void describe(OptionTable& table, ExportInput& input);

struct ExportOptions {
  std::string format = "safetensors";  ///< or onnx, torchscript, csv; adapters: safetensors, peft
  bool compact = false;                ///< PEFT: the own rank of every block instead of zeros
  bool bare = false;                   ///< ONNX: from features that are numbers, not from columns
};
UDV_EXPORT void describe(OptionTable& table, ExportOptions& options);

struct ExportResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
};

/// Writes model.pt into `folder`, for a model that was read from `model`. The LibTorch component
/// has one: deep::write_script.
using ScriptWriter =
    std::function<void(const std::filesystem::path& folder, const std::filesystem::path& model,
                       const net::Model<float>& network)>;

/// Writes a trained network or an adapter for other programs. Throws IoError naming the file, also
/// for torchscript without a writer.
UDV_EXPORT ExportResult export_model(const ExportInput& input, const ExportOptions& options,
                                     Session& session, const ScriptWriter& write_script = nullptr);

}  // namespace udv::jobs
