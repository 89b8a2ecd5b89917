// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

namespace udv::deep {

/// y = x U^T diag(w) V^T as one node of the graph, for x of any shape whose last size is the
/// inputs. The diagonal goes into the smaller of x U^T and V. Forward are two products and one pass
/// over that matrix; backward are four products and one pass. Numbers are of x's type, gradients of
/// their parameters' types. The counters are those of column_counters().
torch::Tensor factored_product(const torch::Tensor& x, const torch::Tensor& U,
                               const torch::Tensor& w, const torch::Tensor& V,
                               const torch::Tensor& counters);

}  // namespace udv::deep
