// SPDX-License-Identifier: MIT
#include "net/scores.hpp"

#include "udv/net/loss.hpp"

namespace udv::net {
namespace {

// Right labels and rows of every class.
struct ClassCounts {
  std::vector<Index> right, all;

  explicit ClassCounts(Index classes)
      : right(static_cast<size_t>(classes), 0), all(static_cast<size_t>(classes), 0) {}

  template <typename Real>
  void add(const Rows<Real>& outputs, const std::int32_t* labels) {
    for (Index i = 0; i < outputs.rows(); ++i) {
      Index best = 0;
      outputs.row(i).maxCoeff(&best);
      const auto label = static_cast<size_t>(labels[i]);
      ++all[label];
      right[label] += best == labels[i] ? 1 : 0;
    }
  }

  double accuracy() const {
    double sum = 0, rows = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      sum += static_cast<double>(right[k]);
      rows += static_cast<double>(all[k]);
    }
    return rows > 0 ? sum / rows : 0;
  }

  double mean_recall() const {
    double sum = 0, classes = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      if (all[k] == 0) continue;
      sum += static_cast<double>(right[k]) / static_cast<double>(all[k]);
      ++classes;
    }
    return classes > 0 ? sum / classes : 0;
  }
};

}  // namespace

template <typename Real>
Score score_of(const Network<Real>& network, const Dataset<Real>& data,
               typename Network<Real>::Workspace& work) {
  Score sum;
  const bool regression = data.task == Task::kRegression;
  ClassCounts counts(regression ? 0 : data.classes);
  for (Index begin = 0; begin < data.size(); begin += kScorePiece) {
    const Index rows = std::min(kScorePiece, data.size() - begin);
    const auto count = static_cast<double>(rows);
    const Rows<Real> outputs = network.forward(data.X.middleRows(begin, rows), work);
    Rows<Real> slopes = work.gradients.back().topRows(rows);
    if (regression) {
      const auto targets = data.Y.middleRows(begin, rows);
      sum.mae += count * static_cast<double>((outputs - targets).cwiseAbs().mean());
      sum.loss += count * mean_squared_error<Real>(outputs, targets, slopes);
    } else {
      const std::int32_t* const labels = data.labels.data() + begin;
      sum.loss += count * cross_entropy<Real>(outputs, labels, slopes);
      counts.add(outputs, labels);
    }
  }
  const auto n = static_cast<double>(data.size());
  return {sum.loss / n, regression ? 0 : counts.accuracy(), sum.mae / n,
          regression ? 0 : counts.mean_recall()};
}

double objective_of(const Score& score, const std::string& metric, Task task) {
  constexpr double kLossShare = 1e-3;  // between equal accuracies the better loss wins
  if (task == Task::kRegression) return metric == "mae" ? score.mae : score.loss;
  if (metric == "loss") return score.loss;
  const double share = metric == "balanced" ? score.balanced : score.accuracy;
  return 1 - share + kLossShare * score.loss;
}

template <typename Real>
RowMatrix<Real> predict(const Network<Real>& network, const ConstRows<Real>& X) {
  RowMatrix<Real> outputs(X.rows(), network.sizes().outputs);
  auto work = network.workspace(std::min(kScorePiece, X.rows()));
  for (Index begin = 0; begin < X.rows(); begin += kScorePiece) {
    const Index count = std::min(kScorePiece, X.rows() - begin);
    outputs.middleRows(begin, count) = network.forward(X.middleRows(begin, count), work);
  }
  return outputs;
}

template <typename Real>
Score evaluate(const Network<Real>& network, const Dataset<Real>& data) {
  auto work = network.workspace(std::min(kScorePiece, data.size()));
  return score_of(network, data, work);
}

#define UDV_INSTANTIATE(Real)                                                     \
  template Score score_of(const Network<Real>&, const Dataset<Real>&,             \
                          typename Network<Real>::Workspace&);                    \
  template RowMatrix<Real> predict(const Network<Real>&, const ConstRows<Real>&); \
  template Score evaluate(const Network<Real>&, const Dataset<Real>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
