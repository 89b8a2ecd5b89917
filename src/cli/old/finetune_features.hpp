// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cli/finetune_flags.hpp"

namespace udv::cli {

/// Of all bytes of a file; 0 where no file is given.
std::uint64_t file_hash(const std::string& path);

/// Features of one part by a frozen backbone; pieces that lie in --cache are not computed again.
/// Nothing where Ctrl-C was pressed.
std::optional<net::Dataset<float>> cached_features(const FinetuneFlags& flags,
                                                   const deep::FinetuneOptions& options,
                                                   deep::Finetuner& tuner,
                                                   const deep::ImageSet& set);

}  // namespace udv::cli
