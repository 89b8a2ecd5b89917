// SPDX-License-Identifier: MIT
#include "net/neuron_selection.hpp"

#include <algorithm>

#include "net/products.hpp"

namespace udv::net {
namespace {

constexpr double kRidge = 1e-7;  // of the mean diagonal: neurons that are copies stay apart

RowMatrix<double> ridged_gram(const RowMatrix<double>& H) {
  const Index m = H.cols();
  RowMatrix<double> K(m, m);
  transposed_multiply<double>(H, H, K);
  K.diagonal().array() += std::max(kRidge * K.diagonal().mean(), 1e-300);
  return K;
}

// argmax |B_j|^2 / K_jj over the neurons that are not taken.
Index best_neuron(const RowMatrix<double>& B, const Vector<double>& diagonal,
                  const std::vector<bool>& taken) {
  Index best = -1;
  double most = -1;
  for (Index j = 0; j < B.rows(); ++j) {
    if (taken[static_cast<size_t>(j)]) continue;
    const double gain = B.row(j).squaredNorm() / diagonal(j);
    if (gain > most || best < 0) {
      most = gain;
      best = j;
    }
  }
  return best;
}

}  // namespace

NeuronSelection select_neurons(RowMatrix<double> hidden, const RowMatrix<double>& V, bool centred) {
  const Index m = hidden.cols();
  NeuronSelection selection;
  selection.mean = centred ? Vector<double>(hidden.colwise().mean().transpose())
                           : Vector<double>(Vector<double>::Zero(m));
  hidden.rowwise() -= selection.mean.transpose();
  const RowMatrix<double> K = ridged_gram(hidden);
  RowMatrix<double> B = product(K, V.transpose());
  Vector<double> diagonal = K.diagonal();
  const Vector<double> least = 1e-14 * diagonal;
  std::vector<bool> taken(static_cast<size_t>(m), false);
  Matrix<double> columns(m, m);  // column t: what neuron order[t] shares with all others
  selection.C.resize(m, V.rows());
  for (Index t = 0; t < m; ++t) {
    const Index j = best_neuron(B, diagonal, taken);
    const double pivot = std::sqrt(diagonal(j));
    columns.col(t) = K.col(j);
    columns.col(t).noalias() -= columns.leftCols(t) * columns.row(j).head(t).transpose();
    columns.col(t) /= pivot;
    selection.C.row(t) = B.row(j) / pivot;
    B.noalias() -= columns.col(t) * selection.C.row(t);
    diagonal = (diagonal - columns.col(t).cwiseAbs2()).cwiseMax(least);
    taken[static_cast<size_t>(j)] = true;
    selection.order.push_back(j);
  }
  selection.L = columns(selection.order, Eigen::all).triangularView<Eigen::Lower>();
  return selection;
}

RowMatrix<double> refitted_outputs(const NeuronSelection& selection, Index r) {
  const RowMatrix<double> fitted =
      selection.L.topLeftCorner(r, r).triangularView<Eigen::Lower>().transpose().solve(
          selection.C.topRows(r));
  return fitted.transpose();
}

}  // namespace udv::net
