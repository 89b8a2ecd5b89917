// SPDX-License-Identifier: MIT
#include "udv/net/prune.hpp"

#include <algorithm>
#include <numeric>

#include "core/require.hpp"
#include "net/gram_svd.hpp"
#include "net/head_arrays.hpp"
#include "net/neuron_selection.hpp"
#include "net/products.hpp"
#include "net/sample_rows.hpp"

namespace udv::net {
namespace {

constexpr int kLapackThreads = 2;  // whatever the machine has: the same bits everywhere

// The head with F taken into U: hidden neurons are F (U x + b_U) + b_F.
template <typename Real>
HeadArrays linear_arrays(const Network<Real>& network) {
  HeadArrays head = unpack(network, network.parameters());
  const ParameterBlock* const F = network.find("F.weight");
  if (!F) return head;
  head.U = product(RowMatrix<double>(network.at(*F).template cast<double>()), head.U);
  if (const ParameterBlock* bias = network.find("F.bias"))
    head.U.rightCols(1) += network.at(*bias).transpose().template cast<double>();
  return head;
}

// |w_j| |u_j| |v_j|
Vector<double> neuron_sizes(const HeadArrays& head) {
  const Vector<double> ends =
      head.U.rowwise().norm().cwiseProduct(head.V.colwise().norm().transpose());
  return head.w.size() > 0 ? Vector<double>(ends.cwiseProduct(head.w.cwiseAbs())) : ends;
}

std::vector<Index> largest_first(const Vector<double>& sizes) {
  std::vector<Index> order(static_cast<size_t>(sizes.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return sizes(i) > sizes(j); });
  return order;
}

// Hidden values, n x m, of neurons with these weights in (m x (d or d + 1)).
template <typename Real>
RowMatrix<double> hidden_values(const ConstRows<Real>& X, const RowMatrix<double>& in, bool relu) {
  const Index inputs = X.cols();
  RowMatrix<double> hidden(X.rows(), in.rows());
  const RowMatrix<double> samples = X.template cast<double>(), weights = in.leftCols(inputs);
  multiply_transposed<double>(samples, weights, hidden);
  if (in.cols() > inputs) hidden.rowwise() += in.col(inputs).transpose();
  return relu ? RowMatrix<double>(hidden.cwiseMax(0)) : hidden;
}

// diag(w) U
RowMatrix<double> weights_in(const HeadArrays& head) {
  return head.w.size() > 0 ? RowMatrix<double>(head.w.asDiagonal() * head.U) : head.U;
}

// Rows of U of length 1, their lengths and signs in w >= 0: the same function.
HeadArrays with_unit_rows(const HeadArrays& head) {
  HeadArrays unit = head;
  unit.U = weights_in(head);
  unit.w = unit.U.rowwise().norm();
  for (Index j = 0; j < unit.U.rows(); ++j)
    if (unit.w(j) > 0) unit.U.row(j) /= unit.w(j);
  return unit;
}

// Neurons that nothing comes out of say nothing and cost time: they are not part of the SVD.
std::vector<Index> live_neurons(const HeadArrays& head) {
  std::vector<Index> live;
  for (Index j = 0; j < head.U.rows(); ++j)
    if ((head.w.size() == 0 || head.w(j) != 0) && !head.U.row(j).isZero(0)) live.push_back(j);
  if (live.empty()) live.push_back(0);
  return live;
}

}  // namespace

template <typename Real>
struct Pruning<Real>::Parts {
  explicit Parts(const Network<Real>& whole) : network(whole) {}

  Network<Real> network;
  bool svd = false, relu = false;
  HeadArrays head;       // with F in U
  Vector<double> sizes;  // largest first
  RowMatrix<double> B;   // svd: k x (d + 1), diag(s) Q^T
  RowMatrix<double> VP;  // svd: c x k
  std::vector<Index> order;
  std::optional<NeuronSelection> selection;  // where rows decide

  const Variant& variant() const {
    return network.find("F.weight") ? variant_named("UDV-unconstrained") : network.variant();
  }

  Network<Real> shell(Index r) const {
    return Network<Real>(variant(), {network.sizes().inputs, r, network.sizes().outputs},
                         network.biases());
  }

  // U' = B_r / s, D' = s, V' = V P_r; U V has no D: U' = B_r.
  HeadArrays paper(Index r, bool diagonal) const {
    HeadArrays kept{B.topRows(r), {}, VP.leftCols(r), head.bias};
    if (!diagonal) return kept;
    kept.w = sizes.head(r);
    for (Index j = 0; j < r; ++j) kept.U.row(j) *= sizes(j) > 0 ? 1 / sizes(j) : 0;
    return kept;
  }

  // The first r neurons, with outputs fitted anew where rows decide. The bias takes up the means:
  // b' = b + V mu - V' mu_r.
  HeadArrays neurons(Index r) const {
    const std::vector<Index> first(order.begin(), order.begin() + r);
    HeadArrays kept = keep_neurons(head, first);
    if (!selection) return kept;
    kept.V = refitted_outputs(*selection, r);
    if (head.bias.size() > 0)
      kept.bias = output_mean() - kept.V * Vector<double>(selection->mean(first));
    return kept;
  }

  // b + V mu
  Vector<double> output_mean() const { return head.bias + head.V * selection->mean; }

  // `kept` has rows of U of length 1.
  HeadArrays balanced(HeadArrays kept, bool diagonal, Constraint constraint) const {
    const Vector<double> n = kept.V.colwise().norm().cwiseMax(1e-300).transpose();
    const Vector<double> size = kept.w.cwiseProduct(n).cwiseMax(1e-300);
    const Index inputs = network.sizes().inputs;
    const Shares share = share_sizes(size, constraint, diagonal ? head.w : Vector<double>(),
                                     head.U.leftCols(inputs).norm(), head.V.norm());
    kept.U = share.a.asDiagonal() * kept.U;
    kept.V = kept.V * share.b.cwiseQuotient(n).asDiagonal();
    kept.w = diagonal ? Vector<double>(size.cwiseQuotient(share.a.cwiseProduct(share.b)))
                      : Vector<double>();
    return kept;
  }
};

template <typename Real>
Pruning<Real>::Pruning(const Network<Real>& network, bool whole_neurons) {
  require(network.variant().has_hidden(), "prune: a ", network.variant().name,
          " network has no hidden neurons");
  require(network.sizes().deeper.empty(), "prune: a network of ", to_string(network.sizes()),
          " found, one hidden layer expected");
  auto parts = std::make_unique<Parts>(network);
  parts->relu = network.variant().has(LayerKind::kRelu);
  parts->svd = !parts->relu && !whole_neurons;
  parts->head = linear_arrays(network);
  const HeadArrays& head = parts->head;
  if (parts->svd) {
    const HeadArrays live = keep_neurons(head, live_neurons(head));
    const Vector<double> w = live.w.size() > 0 ? live.w : Vector<double>::Ones(live.U.rows());
    GramSvd svd = gram_svd(w.asDiagonal() * live.U, kLapackThreads);
    parts->sizes = std::move(svd.s);
    parts->B = std::move(svd.B);
    parts->VP.resize(live.V.rows(), svd.Pt.rows());
    multiply_transposed<double>(live.V, svd.Pt, parts->VP);
  } else {
    const Vector<double> sizes = neuron_sizes(head);
    parts->order = largest_first(sizes);
    parts->sizes = sizes(parts->order);
  }
  parts_ = std::move(parts);
}

template <typename Real>
Pruning<Real>::Pruning(const Network<Real>& network, const ConstRows<Real>& X)
    : Pruning(network, true) {
  require(X.cols() == network.sizes().inputs && X.rows() > 0, "prune: rows of ", X.cols(),
          " numbers found, at least one of ", network.sizes().inputs, " expected");
  auto parts = std::make_unique<Parts>(*parts_);
  const HeadArrays& head = parts->head;
  const RowMatrix<Real> rows = sample_rows<Real>(X);
  parts->selection = select_neurons(hidden_values<Real>(rows, weights_in(head), parts->relu),
                                    head.V, head.bias.size() > 0);
  parts->order = parts->selection->order;
  parts->sizes = parts->selection->C.rowwise().norm();
  parts_ = std::move(parts);
}

template <typename Real>
Pruning<Real>::~Pruning() = default;
template <typename Real>
Pruning<Real>::Pruning(Pruning&&) noexcept = default;

template <typename Real>
bool Pruning<Real>::by_svd() const {
  return parts_->svd;
}

template <typename Real>
bool Pruning<Real>::by_outputs() const {
  return parts_->selection.has_value();
}

template <typename Real>
const Vector<double>& Pruning<Real>::sizes() const {
  return parts_->sizes;
}

template <typename Real>
Index Pruning<Real>::parameters(Index r) const {
  const Sizes& sizes = parts_->network.sizes();
  const Index biases = (parts_->network.find("U.bias") ? r : 0) + parts_->head.bias.size();
  const bool diagonal = parts_->variant().has(LayerKind::kDiagonal);
  return r * (sizes.inputs + sizes.outputs + (diagonal ? 1 : 0)) + biases;
}

template <typename Real>
Network<Real> Pruning<Real>::keep(Index r, PruneForm form) const {
  require(r >= 1 && r <= neurons(), "prune: rank ", r, " found, 1 to ", neurons(), " expected");
  Network<Real> smaller = parts_->shell(r);
  const bool diagonal = smaller.find("D.weight") != nullptr;
  const bool trainable = form == PruneForm::kBalanced;
  HeadArrays kept = parts_->svd ? parts_->paper(r, diagonal || trainable) : parts_->neurons(r);
  if (trainable && !parts_->svd && !parts_->selection) {
    // Neurons with their own weights are inside their sets already.
  } else if (trainable) {
    const Constraint constraint = smaller.find("U.weight")->constraint;
    kept = parts_->balanced(parts_->svd ? kept : with_unit_rows(kept), diagonal, constraint);
  }
  if (diagonal && kept.w.size() == 0) kept.w = Vector<double>::Ones(r);  // UFV, with F in U
  pack(kept, smaller, smaller.parameters());
  if (trainable) smaller.project();
  return smaller;
}

template <typename Real>
std::optional<Network<Real>> Pruning<Real>::collapse() const {
  if (!parts_->svd) return std::nullopt;
  const Sizes sizes{parts_->network.sizes().inputs, 0, parts_->network.sizes().outputs};
  Network<Real> dense(variant_named("single"), sizes, parts_->network.biases());
  const RowMatrix<double> W = product(parts_->VP, parts_->B);  // c x (d + 1)
  dense.at(*dense.find("W.weight")) = W.leftCols(sizes.inputs).template cast<Real>();
  if (const ParameterBlock* bias = dense.find("W.bias")) {
    Vector<double> sum = W.rightCols(1);
    if (parts_->head.bias.size() > 0) sum += parts_->head.bias;
    dense.at(*bias) = sum.transpose().template cast<Real>();
  }
  return dense;
}

template <typename Real>
Network<Real> Pruning<Real>::smallest(Index r) const {
  const Sizes& sizes = parts_->network.sizes();
  const bool dense = r * (sizes.inputs + sizes.outputs) >= sizes.inputs * sizes.outputs;
  const auto collapsed = dense ? collapse() : std::nullopt;
  return collapsed ? *collapsed : keep(r);
}

template <typename Real>
void Pruning<Real>::for_each_rank(
    const ConstRows<Real>& X,
    const std::function<void(Index, const RowMatrix<double>&)>& look) const {
  const HeadArrays& head = parts_->head;
  const auto& selection = parts_->selection;
  const std::vector<Index>& order = parts_->order;
  // Neuron j in the order of keeping: what goes into it, row j, and what comes out, column j.
  const RowMatrix<double> in =
      parts_->svd ? parts_->B : RowMatrix<double>(weights_in(head)(order, Eigen::all));
  RowMatrix<double> out = parts_->svd ? parts_->VP : RowMatrix<double>(head.V(Eigen::all, order));
  RowMatrix<double> hidden = hidden_values<Real>(X, in, parts_->relu);
  Vector<double> offset = head.bias;
  if (selection) {  // (H - mu) L^-T and C: each step adds one orthogonal direction
    hidden.rowwise() -= selection->mean(order).transpose();
    selection->L.template triangularView<Eigen::Lower>()
        .transpose()
        .template solveInPlace<Eigen::OnTheRight>(hidden);
    out = selection->C.transpose();
    if (offset.size() > 0) offset = parts_->output_mean();
  }
  RowMatrix<double> outputs = RowMatrix<double>::Zero(X.rows(), out.rows());
  if (offset.size() > 0) outputs.rowwise() += offset.transpose();
  look(0, outputs);
  for (Index r = 0; r < neurons(); ++r) {
    for (Index i = 0; i < outputs.rows(); ++i)
      outputs.row(i) += hidden(i, r) * out.col(r).transpose();
    look(r + 1, outputs);
  }
}

template class Pruning<float>;
template class Pruning<double>;

}  // namespace udv::net
