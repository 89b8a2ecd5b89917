// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/instantiate.hpp"
#include "core/lapack.hpp"
#include "recover/operators/scalar_values.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace {

constexpr double kNoStress = 1e-5;      // share of the root mean square stress that counts as none
constexpr double kIndependent = 1e-10;  // smallest eigenvalue of the Gram matrix of unit vectors

size_t at(Index i) {
  return static_cast<size_t>(i);
}

// Sets of nodes that are merged one by one.
class DisjointSets {
 public:
  explicit DisjointSets(Index size) : parent_(at(size)) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }
  Index find(Index node) {
    while (parent_[at(node)] != node) {
      parent_[at(node)] = parent_[at(parent_[at(node)])];
      node = parent_[at(node)];
    }
    return node;
  }
  void merge(Index a, Index b) { parent_[at(find(a))] = find(b); }

 private:
  std::vector<Index> parent_;
};

// The lines of Z as nodes, entries as links between them.
template <typename Scalar>
class Links {
 public:
  Links(const EntriesOperator<Scalar>& op, const StackedFactors<Scalar>& Z) : op_(op), Z_(Z) {}

  Index nodes() const { return Z_.Z.rows(); }

  /// visit(row node, column node, entry)
  template <typename Visit>
  void visit(const Visit& visit) const {
    const SparseLines rows = op_.by_row();
    const Index offset = Z_.symmetric ? 0 : op_.rows();
    for (Index i = 0; i < rows.count; ++i)
      for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s)
        visit(i, offset + rows.other[s], Index{rows.entry[s]});
  }

  /// Neighbours of each node, a node itself left out: first[node] .. first[node + 1] of `other`.
  void list(std::vector<Index>& first, std::vector<Index>& other) const {
    first.assign(at(nodes()) + 1, 0);
    visit([&](Index i, Index j, Index) {
      if (i == j) return;
      ++first[at(i) + 1];
      ++first[at(j) + 1];
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    other.resize(at(first.back()));
    std::vector<Index> next(first.begin(), first.end() - 1);
    visit([&](Index i, Index j, Index) {
      if (i == j) return;
      other[at(next[at(i)]++)] = j;
      other[at(next[at(j)]++)] = i;
    });
  }

 private:
  const EntriesOperator<Scalar>& op_;
  const StackedFactors<Scalar>& Z_;
};

// Numbers the sets by size, largest first; nodes without stress get -1.
std::vector<std::int32_t> numbered(DisjointSets& sets, const std::vector<char>& stressed) {
  std::vector<Index> size(stressed.size(), 0);
  for (size_t node = 0; node < stressed.size(); ++node)
    if (stressed[node]) ++size[at(sets.find(static_cast<Index>(node)))];
  std::vector<Index> order;
  for (size_t root = 0; root < size.size(); ++root)
    if (size[root] > 0) order.push_back(static_cast<Index>(root));
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return size[at(a)] > size[at(b)]; });
  std::vector<std::int32_t> number(stressed.size(), -1), group(stressed.size(), -1);
  for (size_t g = 0; g < order.size(); ++g) number[at(order[g])] = static_cast<std::int32_t>(g);
  for (size_t node = 0; node < stressed.size(); ++node)
    if (stressed[node]) group[node] = number[at(sets.find(static_cast<Index>(node)))];
  return group;
}

// The rows of Z that the neighbours of a node in one group have span all of k dimensions.
template <typename Scalar>
bool holds(const StackedFactors<Scalar>& Z, const std::vector<Index>& neighbours) {
  const Index k = Z.rank();
  if (static_cast<Index>(neighbours.size()) < k) return false;
  Matrix<double> gram = Matrix<double>::Zero(k, k);
  for (const Index other : neighbours) {
    const double norm = Z.Z.row(other).norm();
    if (norm == 0) continue;
    const Vector<double> unit = (Z.Z.row(other).transpose() / norm).template cast<double>();
    gram += unit * unit.transpose();
  }
  return lapack::eigen_in_place<double>(gram, false)(0) > kIndependent;
}

// Lets lines alone join the group that holds them, until none is held any more.
template <typename Scalar>
void join_groups(const Links<Scalar>& links, const StackedFactors<Scalar>& Z,
                 std::vector<std::int32_t>& group) {
  if (std::find(group.begin(), group.end(), -1) == group.end()) return;
  std::vector<Index> first, other, waiting;
  links.list(first, other);
  for (size_t node = 0; node < group.size(); ++node)
    if (group[node] < 0) waiting.push_back(static_cast<Index>(node));
  for (bool again = true; again;) {
    again = false;
    std::vector<Index> still;
    for (const Index node : waiting) {
      std::map<std::int32_t, std::vector<Index>> by_group;
      for (Index s = first[at(node)]; s < first[at(node) + 1]; ++s)
        if (const auto g = group[at(other[at(s)])]; g >= 0) by_group[g].push_back(other[at(s)]);
      const auto held = std::find_if(by_group.begin(), by_group.end(),
                                     [&](const auto& each) { return holds(Z, each.second); });
      if (held == by_group.end()) {
        still.push_back(node);
      } else {
        group[at(node)] = held->first;
        again = true;
      }
    }
    waiting.swap(still);
  }
}

}  // namespace

template <typename Scalar>
std::vector<std::int32_t> EntriesOperator<Scalar>::rigid_groups(
    const StackedFactors<Scalar>& Z, const std::function<Reals<Scalar>()>& draw_stress) const {
  if constexpr (kIsComplex<Scalar>) {
    return MeasurementOperator<Scalar>::rigid_groups(Z, draw_stress);
  } else {
    const Reals<Scalar> stress = draw_stress();
    const Links<Scalar> links(*this, Z);
    DisjointSets sets(links.nodes());
    std::vector<char> stressed(at(links.nodes()), 0);
    const double threshold =
        kNoStress * stress.norm() / std::sqrt(static_cast<double>(stress.size()));
    links.visit([&](Index i, Index j, Index entry) {
      if (!(std::abs(stress(entry)) > threshold)) return;
      stressed[at(i)] = stressed[at(j)] = 1;
      sets.merge(i, j);
    });
    auto group = numbered(sets, stressed);
    join_groups(links, Z, group);
    return group;
  }
}

template <typename Scalar>
std::vector<std::pair<Index, Index>> EntriesOperator<Scalar>::places(
    const std::vector<Index>& entries) const {
  std::vector<std::pair<Index, Index>> all(at(this->num_measurements() / kParts<Scalar>)), result;
  const SparseLines rows = by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s)
      all[at(rows.entry[s])] = {i, rows.other[s]};
  for (const Index entry : entries) result.push_back(all[at(entry)]);
  std::sort(result.begin(), result.end());
  return result;
}

template <typename Scalar>
void EntriesOperator<Scalar>::visit_entries(const std::function<void(Index, Index)>& visit) const {
  const SparseLines rows = by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      visit(i, rows.other[s]);
      if (this->symmetric() && rows.other[s] != i) visit(rows.other[s], i);
    }
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template std::vector<std::int32_t> EntriesOperator<Scalar>::rigid_groups(                      \
      const StackedFactors<Scalar>&, const std::function<Reals<Scalar>()>&) const;               \
  template std::vector<std::pair<Index, Index>> EntriesOperator<Scalar>::places(                 \
      const std::vector<Index>&) const;                                                          \
  template void EntriesOperator<Scalar>::visit_entries(const std::function<void(Index, Index)>&) \
      const;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
