// SPDX-License-Identifier: MIT
#include "udv/net/dataset.hpp"

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "udv/core/random.hpp"

namespace udv::net {

template <typename Real>
void Dataset<Real>::gather(const Index* rows, Index count, Dataset& out) const {
  for (Index i = 0; i < count; ++i) {
    out.X.row(i) = X.row(rows[i]);
    if (task == Task::kRegression)
      out.Y.row(i) = Y.row(rows[i]);
    else
      out.labels[static_cast<size_t>(i)] = labels[static_cast<size_t>(rows[i])];
  }
}

template <typename Real>
Dataset<Real> Dataset<Real>::subset(const std::vector<Index>& rows) const {
  const auto count = static_cast<Index>(rows.size());
  Dataset part;
  part.task = task;
  part.classes = classes;
  part.X.resize(count, X.cols());
  part.Y.resize(task == Task::kRegression ? count : 0, Y.cols());
  part.labels.resize(task == Task::kRegression ? 0 : rows.size());
  gather(rows.data(), count, part);
  return part;
}

template <typename Real>
std::uint64_t Dataset<Real>::content_hash(std::uint64_t start) const {
  std::uint64_t hash = start == 0 ? kHashStart : start;
  for (const RowMatrix<Real>* matrix : {&X, &Y})
    hash = array_hash(matrix->data(), static_cast<size_t>(matrix->size()) * sizeof(Real), hash);
  return array_hash(labels.data(), labels.size() * sizeof(std::int32_t), hash);
}

template <typename Real>
void Dataset<Real>::validate(const std::string& name) const {
  require(X.rows() > 0 && X.cols() > 0, name, ": ", X.rows(), " rows of ", X.cols(),
          " features found, at least one of each expected");
  const Index targets = task == Task::kRegression ? Y.rows() : static_cast<Index>(labels.size());
  require(targets == X.rows(), name, ": ", X.rows(), " rows of features and ", targets,
          " targets found, as many of both expected");
  require(X.allFinite(), name, ": a feature is not finite");
  require(task == Task::kClassification || Y.allFinite(), name, ": a target is not finite");
  if (task == Task::kRegression) return;
  require(classes > 1, name, ": ", classes, " class found, at least two expected");
  for (size_t i = 0; i < labels.size(); ++i)
    require(labels[i] >= 0 && labels[i] < classes, name, ": label ", labels[i], " in row ", i + 1,
            " found, 0 to ", classes - 1, " expected");
}

Split split_rows(Index size, double test_share, std::uint64_t seed) {
  const auto test = static_cast<Index>(std::llround(test_share * static_cast<double>(size)));
  require(test > 0 && test < size, "split: ", size, " rows and a test part of ", test,
          " of them, at least one row in both parts expected");
  const std::vector<Index> order = Random(seed, kStreamSplit).permutation(size);
  return {{order.begin(), order.end() - test}, {order.end() - test, order.end()}};
}

Split validation_split(Index size, const std::vector<std::int32_t>& labels, double share,
                       std::uint64_t seed) {
  const auto wanted = std::min<Index>(
      kMostValidationRows, static_cast<Index>(std::llround(share * static_cast<double>(size))));
  Split split;
  if (size < kFewestValidated || wanted < 1 || wanted >= size) {
    for (Index row = 0; row < size; ++row) split.train.push_back(row);
    return split;
  }
  // Another stream than that of the test part. Sorted by class, every (size / wanted)-th row goes.
  std::vector<Index> order = Random(seed, kStreamHoldout).permutation(size);
  if (!labels.empty())
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return labels[static_cast<size_t>(a)] < labels[static_cast<size_t>(b)];
    });
  for (Index i = 0; i < size; ++i) {
    const bool out = (i + 1) * wanted / size > i * wanted / size;
    (out ? split.test : split.train).push_back(order[static_cast<size_t>(i)]);
  }
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  return split;
}

template struct Dataset<float>;
template struct Dataset<double>;

}  // namespace udv::net
