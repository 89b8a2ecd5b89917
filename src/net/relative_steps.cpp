// SPDX-License-Identifier: MIT
#include "net/relative_steps.hpp"

#include <algorithm>
#include <cmath>

#include "net/gram_svd.hpp"
#include "net/products.hpp"
#include "udv/core/random.hpp"

namespace udv::net {
namespace {

constexpr Index kStartRows = 2048;

// Entries of one ball: of the whole array, or of one neuron.
double ball_entries(const ParameterBlock& block, Index entries) {
  if (block.constraint != Constraint::kNeuronBalls) return static_cast<double>(entries);
  const Index neurons = block.neurons == Neurons::kRows ? block.rows : block.cols;
  return static_cast<double>(entries / neurons);
}

// Gaussian, then onto the sphere of each ball.
template <typename Real>
void draw_weights(Network<Real>& network, std::uint64_t seed) {
  Random random(seed, kStreamWeights);
  Vector<Real>& p = network.parameters();
  const auto& blocks = network.blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const ParameterBlock& block = blocks[b];
    if (block.kind == LayerKind::kDiagonal || block.is_bias) continue;
    const bool joined = b + 1 < blocks.size() && blocks[b + 1].joined;
    const Index size = block.size() + (joined ? blocks[b + 1].size() : 0);
    for (Index i = 0; i < size; ++i) p(block.offset + i) = static_cast<Real>(random.normal());
    // A free matrix, where a variant has one, starts as large as a ball.
    if (block.constraint != Constraint::kNeuronBalls) {
      p.segment(block.offset, size) /= p.segment(block.offset, size).norm();
    } else {
      p.segment(block.offset, size) *= 100;  // outside of every ball: projected onto its sphere
    }
  }
  network.project();
}

// The first rows of the training part and the gradient of the loss in outputs that are 0.
template <typename Real>
struct Start {
  Dataset<Real> rows;
  RowMatrix<Real> slopes;
  double loss = 0;
};

template <typename Real>
Start<Real> start_of(const Dataset<Real>& training, const LossSettings& settings) {
  std::vector<Index> first(static_cast<size_t>(std::min(kStartRows, training.size())));
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<Index>(i);
  Start<Real> start{training.subset(first), {}, 0};
  const RowMatrix<Real> zero = RowMatrix<Real>::Zero(start.rows.size(), training.outputs());
  start.slopes.resizeLike(zero);
  start.loss = loss<Real>(zero, start.rows, start.slopes, settings);
  return start;
}

// ||slopes^T H||_2, with a column of ones beside H where `constant`.
template <typename Real>
double slope_norm(const RowMatrix<Real>& slopes, const ConstRows<Real>& H, bool constant) {
  RowMatrix<Real> G(slopes.cols(), H.cols());
  transposed_multiply<Real>(slopes, H, G);
  RowMatrix<double> all(G.rows(), G.cols() + (constant ? 1 : 0));
  all.leftCols(G.cols()) = G.template cast<double>();
  if (constant) all.rightCols(1) = slopes.colwise().sum().transpose().template cast<double>();
  return gram_singular_values(all)(0);
}

// L0 / ||G0||_2; 1 where the gradient says nothing.
double start_weight(double loss, double norm) {
  const double weight = loss / norm;
  return std::isfinite(weight) && weight > 0 ? weight : 1;
}

// Values after the layer that stands right behind the diagonal `name`: after its ReLU.
template <typename Real>
size_t hidden_layer_of(const Network<Real>& network, const std::string& diagonal) {
  const auto& layers = network.layers();
  for (size_t l = 0; l < layers.size(); ++l)
    if (layers[l].name + ".weight" == diagonal) return l + 1;
  return 0;
}

template <typename Real>
void scale_deep(Network<Real>& network, const Start<Real>& start) {
  auto work = network.workspace(start.rows.size());
  const ParameterBlock* last = nullptr;
  for (const ParameterBlock& block : network.blocks()) {
    if (block.kind != LayerKind::kDiagonal) continue;
    network.forward(start.rows.X, work);
    const auto& hidden = work.values[hidden_layer_of(network, block.name)];
    const double norm = static_cast<double>(hidden.rowwise().norm().mean());
    network.at(block).setConstant(static_cast<Real>(start_weight(1, norm)));
    last = &block;
  }
  if (last == nullptr) return;
  network.forward(start.rows.X, work);
  const auto& hidden = work.values[hidden_layer_of(network, last->name)];
  network.at(*last) *=
      static_cast<Real>(start_weight(start.loss, slope_norm<Real>(start.slopes, hidden, false)));
}

}  // namespace

template <typename Real>
std::vector<StepSegment> relative_segments(const Network<Real>& network) {
  std::vector<StepSegment> segments;
  const auto& blocks = network.blocks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    const ParameterBlock& block = blocks[b];
    if (block.joined) continue;
    const bool joined = b + 1 < blocks.size() && blocks[b + 1].joined;
    const Index size = block.size() + (joined ? blocks[b + 1].size() : 0);
    const double scale = block.kind == LayerKind::kDiagonal
                             ? static_cast<double>(network.at(block).cwiseAbs().mean())
                             : 1 / std::sqrt(ball_entries(block, size));
    segments.push_back({block.offset, size, scale});
  }
  return segments;
}

template <typename Real>
void share_squares(const Network<Real>& network, const Vector<Real>& gradient, bool whole,
                   Vector<Real>& squares) {
  squares = gradient.array().square().matrix();
  for (const ParameterBlock& block : network.blocks()) {
    Eigen::Map<RowMatrix<Real>> S(squares.data() + block.offset, block.rows, block.cols);
    const bool rows =
        block.kind != LayerKind::kDiagonal && !block.is_bias && block.neurons == Neurons::kRows;
    if (whole) {
      S.setConstant(S.mean());
    } else if (rows) {
      const Eigen::Matrix<Real, 1, Eigen::Dynamic> mean = S.colwise().mean();
      S.rowwise() = mean;
    } else {  // V: outputs are rows; w and biases: one row
      const Vector<Real> mean = S.rowwise().mean();
      S.colwise() = mean;
    }
  }
}

template <typename Real>
void initialise_relative(Network<Real>& network, const Dataset<Real>& training,
                         const LossSettings& settings, std::uint64_t seed) {
  draw_weights(network, seed);
  const Start<Real> start = start_of(training, settings);
  if (!network.sizes().deeper.empty()) return scale_deep(network, start);
  const ParameterBlock* const D = network.find("D.weight");
  if (D == nullptr) return;
  const bool constant = network.biases() == Bias(Bias::kConstant);
  double weight = start_weight(start.loss, slope_norm<Real>(start.slopes, start.rows.X, constant));
  if (network.variant().has(LayerKind::kRelu)) weight *= 2;
  if (network.find("U.weight")->constraint == Constraint::kNeuronBalls)
    weight /= static_cast<double>(network.sizes().hidden);
  network.at(*D).setConstant(static_cast<Real>(weight));
}

#define UDV_INSTANTIATE(Real)                                                                  \
  template std::vector<StepSegment> relative_segments(const Network<Real>&);                   \
  template void share_squares(const Network<Real>&, const Vector<Real>&, bool, Vector<Real>&); \
  template void initialise_relative(Network<Real>&, const Dataset<Real>&, const LossSettings&, \
                                    std::uint64_t);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
