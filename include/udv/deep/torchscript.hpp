// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/deep/network_arrays.hpp"
#include "udv/net/network.hpp"

// Nothing of LibTorch shows here.
namespace udv::deep {

/// x -> head((x - feature_offset) feature_factor) target_scale + target_offset; empty: left out.
struct Scaling {
  Vector<double> feature_offset, feature_factor, target_scale, target_offset;
  Vector<double> feature_inverse_clip{};  ///< z / sqrt(1 + (z inverse_clip)^2) after the factor
  Vector<double> target_bend{};           ///< net::unbend at the end
};

/// Writes the head as TorchScript, behind a TorchScript backbone where a file of one is given.
/// Throws IoError naming the path.
void write_torchscript(const std::string& path, const net::Network<float>& head,
                       const Scaling& scaling = {}, const std::string& backbone = "");

/// The same behind the built-in network: N x C x H x W pictures, 0 to 1, to logits. Throws
/// InvalidArgument where an array is missing or has another shape.
void write_torchscript(const std::string& path, const net::Network<float>& head,
                       const std::vector<NamedArray>& arrays, const std::vector<BlockInfo>& blocks);

}  // namespace udv::deep
