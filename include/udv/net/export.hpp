// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::net {

/// The model as an ONNX graph: input "features" (N x d, as numbers before scaling), scaling,
/// layers, output "output" in the target's units, or "output" (logits) and "probabilities" for
/// classes.
template <typename Real>
UDV_EXPORT std::string onnx_bytes(const Model<Real>& model);

/// A few lines on what the tensors mean and how to use them, for the metadata of a file.
template <typename Real>
UDV_EXPORT std::string readme_of(const Model<Real>& model);

}  // namespace udv::net
