// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "deep/language_model_parts.hpp"

namespace udv::deep {

/// Largest singular value of a matrix by power iteration; 0 for a matrix of zeros.
double spectral_norm(const torch::Tensor& G);

/// Where the w of adapters start for relative steps: w0 = L0 / max ||G0||_2, with L0 the mean loss
/// of the model over these windows and G0 = dL/dW of the matrices that have adapters, whose B is 0.
/// For a convex L, L0 <= ||G0||_2 ||dW||_* for any dW without loss: w0 is a lower bound of the
/// nuclear norm needed. 1 where the gradient says nothing. The gradients of adapters are cleared.
double start_weight(const Llama& model, const TextWindows& text, const std::vector<Index>& windows,
                    Index micro_batch);

}  // namespace udv::deep
