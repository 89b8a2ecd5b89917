// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/layer.hpp"
#include "udv/net/variant.hpp"

namespace udv::net {

/// d - m - c of the paper, and the widths of further hidden layers between m and c.
struct Sizes {
  Index inputs = 0, hidden = 0, outputs = 0;
  std::vector<Index> deeper{};
};

/// "79-26-1", "79-1" without hidden neurons, "79-256-128-1" with two hidden layers.
UDV_EXPORT std::string to_string(const Sizes& sizes);

/// Which dense layers add a vector: none, all, or the first alone. The last is the same as a
/// constant feature 1 beside the others: its weights share the constraint set of the first layer.
struct Bias {
  enum Kind { kNone, kAll, kConstant };
  Kind kind = kNone;

  constexpr Bias(Kind which) : kind(which) {}
  constexpr Bias(bool all) : kind(all ? kAll : kNone) {}
  friend constexpr bool operator==(Bias, Bias) = default;
};

/// One array of parameters of a network: rows x cols at `offset` of the array of all.
struct UDV_EXPORT ParameterBlock {
  std::string name;  ///< "U.weight", "U.bias", "D.weight", ...
  LayerKind kind = LayerKind::kDense;
  bool is_bias = false;
  Index rows = 0, cols = 0, offset = 0;
  Constraint constraint = Constraint::kFree;
  Neurons neurons = Neurons::kRows;  ///< hidden neurons are rows into, columns out of the middle
  bool joined = false;               ///< a bias inside the constraint set of the weights before it

  Index size() const { return rows * cols; }
};

/// A head with its parameters, all of them in one array.
template <typename Real>
class UDV_EXPORT Network {
 public:
  /// Throws InvalidArgument where a size is below 1, or where the variant has no form with several
  /// hidden layers. Parameters are zero, D is the identity.
  Network(const Variant& variant, Sizes sizes, Bias bias);

  const Variant& variant() const { return *variant_; }
  const Sizes& sizes() const { return sizes_; }
  Bias biases() const { return bias_; }
  bool bias() const { return bias_ == Bias(Bias::kAll); }  ///< every dense layer has one

  /// The layers in order; those of the variant, and U2, D2, ... of further hidden layers.
  const std::vector<LayerSpec>& layers() const { return specs_; }

  Vector<Real>& parameters() { return parameters_; }
  const Vector<Real>& parameters() const { return parameters_; }
  Index num_parameters() const { return parameters_.size(); }

  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// Nullptr where there is none.
  const ParameterBlock* find(std::string_view name) const;
  Eigen::Map<RowMatrix<Real>> at(const ParameterBlock& block) {
    return {parameters_.data() + block.offset, block.rows, block.cols};
  }
  Eigen::Map<const RowMatrix<Real>> at(const ParameterBlock& block) const {
    return {parameters_.data() + block.offset, block.rows, block.cols};
  }

  /// Puts every array back into its constraint set.
  void project();

  /// Values and gradients between the layers, for up to `rows` samples at once.
  struct Workspace {
    std::vector<RowMatrix<Real>> values, gradients;  ///< after each layer
  };
  Workspace workspace(Index rows) const;

  /// The outputs for X, n x c, which lie in the workspace.
  Rows<Real> forward(const ConstRows<Real>& X, Workspace& work) const;
  /// Gradient of a loss in all parameters, after forward(X) and with the loss's gradient in the
  /// outputs in work.gradients.back().
  void backward(const ConstRows<Real>& X, Workspace& work, Vector<Real>& gradient) const;

 private:
  void add_layer(const LayerSpec& spec, Index inputs, Index outputs, bool first);

  const Variant* variant_;
  Sizes sizes_;
  Bias bias_;
  std::vector<LayerSpec> specs_;
  std::vector<std::shared_ptr<const Layer<Real>>> layers_;
  std::vector<Index> offsets_;  // of each layer's parameters
  std::vector<ParameterBlock> blocks_;
  Vector<Real> parameters_;
};

/// m of the paper: round(sqrt((c + 2) d) + 2 sqrt(d / (c + 2))) for regression, floor(2 d / 3) for
/// classes; at least 1.
UDV_EXPORT Index default_hidden(Index inputs, Index outputs, bool classification);

}  // namespace udv::net
