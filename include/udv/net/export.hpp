// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::net {

/// The model as one ONNX graph from raw columns to predictions: an input for each column of the
/// table (numbers or texts, N x 1, with missing values), then labels, imputation, scaling and
/// layers; "output" in the target's units, or for classes "output" (logits), "probabilities" and
/// "label" (their names). `bare`, and models of arrays: one input "features" (N x d, numbers before
/// scaling).
template <typename Real>
UDV_EXPORT std::string onnx_bytes(const Model<Real>& model, bool bare = false);

/// A few lines on what the tensors mean and how to use them, for the metadata of a file.
template <typename Real>
UDV_EXPORT std::string readme_of(const Model<Real>& model);

}  // namespace udv::net
