// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/deep/lora_job.hpp"

namespace udv::jobs {

/// Writes an adapter in its PEFT form, or the model with the adapter inside, into a folder. Warns
/// where there is nothing to write.
void export_lora(const std::filesystem::path& folder, const net::Adapter& adapter,
                 const LoraJobOptions& options, const deep::TextModel& model, Session& session);

}  // namespace udv::jobs
