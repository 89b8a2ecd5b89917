// SPDX-License-Identifier: MIT
#include "udv/recover/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/require.hpp"
#include "udv/core/spectrum.hpp"

namespace udv {

Entries mirrored(const Entries& entries) {
  require(entries.rows == entries.cols, "mirrored: ", entries.rows, " x ", entries.cols,
          " entries found, a square matrix expected");
  Entries result = entries;
  result.symmetric = false;
  for (size_t t = 0; t < entries.value.size(); ++t) {
    if (entries.row[t] == entries.col[t]) continue;
    result.row.push_back(entries.col[t]);
    result.col.push_back(entries.row[t]);
    result.value.push_back(entries.value[t]);
    if (!entries.weight.empty()) result.weight.push_back(entries.weight[t]);
  }
  return result;
}

Recovery symmetrised(Recovery r) {
  require(!r.symmetric && r.rows == r.cols, "symmetrised: a square matrix expected that was not ",
          "recovered as a symmetric one");
  // (U D V^T + V D U^T) / 2 = 1/4 (U + V) D (U + V)^T - 1/4 (U - V) D (U - V)^T
  const Index k = r.d.size();
  RowMatrix<double> sides(r.rows, 2 * k);
  sides << r.U + r.V, r.U - r.V;
  Vector<double> weights(2 * k);
  weights << r.d / 4, -r.d / 4;
  const FactoredSvd<double> eigen = factored_eigen<double>(sides, weights);
  std::vector<Index> order(static_cast<size_t>(eigen.s.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return std::abs(eigen.s(a)) > std::abs(eigen.s(b)); });
  order.resize(static_cast<size_t>(std::min(k, eigen.s.size())));
  r.U = eigen.U(Eigen::all, order);
  r.d = eigen.s(order);
  r.V.resize(0, 0);
  r.symmetric = true;
  r.method = "udu";
  const Index known = std::min(r.d.size(), r.spectrum.size());
  r.spectrum.head(known) = r.d.head(known).cwiseAbs();
  // Rows and columns are the same lines.
  r.undetermined.empty_cols.clear();
  r.undetermined.cols.clear();
  for (auto& [rows, cols] : r.undetermined.blocks) cols.clear();
  return r;
}

Recovery unmirrored(Recovery r, const Entries& entries) {
  for (auto& [i, j] : r.outliers)
    if (i < j) std::swap(i, j);
  std::sort(r.outliers.begin(), r.outliers.end());
  r.outliers.erase(std::unique(r.outliers.begin(), r.outliers.end()), r.outliers.end());
  r.measurements = entries.size();
  return r;
}

}  // namespace udv
