// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/core/export.hpp"
#include "udv/net/adapter.hpp"

namespace udv::net {

/// How blocks of different ranks stand in one folder of PEFT.
enum class PeftForm {
  kPadded,   ///< zeros up to the largest rank: r = lora_alpha, scale 1 in every program
  kCompact,  ///< own ranks, in rank_pattern and alpha_pattern: smaller, for PEFT alone
};

/// Reads adapter_config.json and adapter_model.safetensors, LoRA or AdaLoRA, with the scale taken
/// into the factors. Throws IoError naming the file where something is missing, contradicts itself
/// or is not supported (DoRA, biases, embeddings, modules_to_save and others).
UDV_EXPORT Adapter read_peft(const std::filesystem::path& folder);

/// Throws IoError that starts with `name` where all blocks have rank 0: PEFT has no such adapters.
UDV_EXPORT void check_for_peft(const std::string& name, const Adapter& adapter);

/// Writes the two files, with d and all scales in the factors; blocks of rank 0 are left out.
/// Throws IoError naming the folder where no block is left.
UDV_EXPORT void write_peft(const std::filesystem::path& folder, const Adapter& adapter,
                           PeftForm form = PeftForm::kPadded);

}  // namespace udv::net
