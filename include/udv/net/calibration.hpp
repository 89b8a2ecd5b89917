// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// What goes into a linear layer y = W x, and what its outputs do to the loss. Second moments over
/// samples (tokens, rows): a change dW of the weights adds about <G, dW> + 1/2 |Cy^1/2 dW
/// Cx^1/2|_F^2 to the mean loss.
struct LayerMoments {
  RowMatrix<double> inputs;      ///< Cx = mean x x^T, in x in; empty: the identity
  RowMatrix<double> gradients;   ///< Cy = mean g g^T, out x out, g the gradient of the loss of one
                                 ///< sample; empty: the identity, and no prediction of the loss
  RowMatrix<double> slope = {};  ///< G = mean g x^T, out x in; empty: 0, the loss is at a minimum
};

/// By the name of the layer or tensor.
using Calibration = std::map<std::string, LayerMoments>;

/// From a safetensors file: NAME.inputs (samples x in) and NAME.gradients (samples x out), or their
/// second moments NAME.input_moments and NAME.gradient_moments; NAME.slope. Throws IoError naming
/// the file where a tensor has another name or shape, or is not finite.
UDV_EXPORT Calibration read_calibration(const std::filesystem::path& path);

/// By its name or its first bytes; true where it cannot be read.
UDV_EXPORT bool is_calibration_file(const std::filesystem::path& path);

/// The bytes of such a file, with moments.
UDV_EXPORT std::string calibration_bytes(const Calibration& calibration);

}  // namespace udv::net
