// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <vector>

#include "core/instantiate.hpp"
#include "recover/device/entries_device.hpp"
#include "recover/operators/entry_shares.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace {

// The bipartite graph of rows and columns (or the graph of a symmetric pattern) as one list of
// nodes: rows 0 .. p-1, then columns p .. p+q-1. Entries of weight 0 are no edges.
template <typename Scalar>
class EntryGraph {
 public:
  explicit EntryGraph(const EntriesOperator<Scalar>& op) : op_(op) {}

  Index nodes() const { return op_.symmetric() ? op_.rows() : op_.rows() + op_.cols(); }

  // Whether one of them has this property; looks no further then.
  template <typename Property>
  bool any_neighbour(Index node, const Property& has) const {
    bool found = false;
    const auto look = [&](const SparseLines& lines, Index line, Index offset) {
      const Reals<Scalar>& root = op_.root_weights();
      for (auto s = lines.first[line]; !found && s < lines.first[line + 1]; ++s)
        found = (root.size() == 0 || root(lines.entry[s]) > 0) && has(offset + lines.other[s]);
    };
    const Index p = op_.rows();
    const bool is_row = op_.symmetric() || node < p;
    if (is_row) look(op_.by_row(), node, op_.symmetric() ? 0 : p);
    if (!is_row || op_.symmetric())
      for (Index t = 0; !found && t < op_.by_col().tiles(); ++t)
        look(op_.by_col().tile(t), op_.symmetric() ? node : node - p, 0);
    return found;
  }

  template <typename Visit>
  void visit_neighbours(Index node, const Visit& visit) const {
    const Index p = op_.rows();
    if (op_.symmetric()) {
      visit_line(op_.by_row(), node, 0, visit);
      // A diagonal entry stands in both lists and is one equation.
      visit_column(node, [&](Index other) {
        if (other != node) visit(other);
      });
    } else if (node < p) {
      visit_line(op_.by_row(), node, p, visit);
    } else {
      visit_column(node - p, visit);
    }
  }

 private:
  template <typename Visit>
  void visit_line(const SparseLines& lines, Index line, Index offset, const Visit& visit) const {
    const Reals<Scalar>& root = op_.root_weights();
    for (auto s = lines.first[line]; s < lines.first[line + 1]; ++s)
      if (root.size() == 0 || root(lines.entry[s]) > 0) visit(offset + lines.other[s]);
  }
  template <typename Visit>
  void visit_column(Index col, const Visit& visit) const {
    for (Index t = 0; t < op_.by_col().tiles(); ++t)
      visit_line(op_.by_col().tile(t), col, 0, visit);
  }

  const EntriesOperator<Scalar>& op_;
};

// Neighbours of each node. Where symmetric a diagonal entry is counted once: see above.
template <typename Scalar>
std::vector<Index> degrees(const EntriesOperator<Scalar>& op, const EntryGraph<Scalar>& graph) {
  std::vector<Index> degree;
  if (op.symmetric()) {
    degree.assign(static_cast<size_t>(graph.nodes()), 0);
    for (Index node = 0; node < graph.nodes(); ++node)
      graph.visit_neighbours(node, [&](Index) { ++degree[static_cast<size_t>(node)]; });
  } else {
    degree = op.row_sizes();
    degree.insert(degree.end(), op.col_sizes().begin(), op.col_sizes().end());
  }
  return degree;
}

// Marks the nodes that remain when nodes with fewer than `rank` remaining neighbours are taken
// away, again and again. A node that goes with e remaining neighbours has rank - e parameters that
// nothing determines, whatever the others are.
template <typename Graph>
std::vector<char> core_nodes(const Graph& graph, std::vector<Index> degree, Index rank,
                             Index& free_parameters) {
  std::vector<char> remains(degree.size(), 1);
  std::vector<Index> queue;
  for (size_t node = 0; node < degree.size(); ++node)
    if (degree[node] < rank) queue.push_back(static_cast<Index>(node));
  for (const Index node : queue) remains[static_cast<size_t>(node)] = 0;
  while (!queue.empty()) {
    const Index node = queue.back();
    queue.pop_back();
    free_parameters += rank - std::max<Index>(degree[static_cast<size_t>(node)], 0);
    graph.visit_neighbours(node, [&](Index other) {
      const auto o = static_cast<size_t>(other);
      --degree[o];
      if (remains[o] && degree[o] < rank) {
        remains[o] = 0;
        queue.push_back(other);
      }
    });
  }
  return remains;
}

std::vector<Index> nodes_that_are(char what, const std::vector<char>& marks) {
  std::vector<Index> nodes;
  for (size_t node = 0; node < marks.size(); ++node)
    if (marks[node] == what) nodes.push_back(static_cast<Index>(node));
  return nodes;
}

// Nodes with the mark `own` that have a neighbour with the mark `other`, in order.
template <typename Graph>
std::vector<Index> nodes_beside(const Graph& graph, const std::vector<char>& marks, char own,
                                char other) {
  constexpr Index kBlock = 1 << 14;
  std::vector<char> beside(marks.size());
  parallel_blocks(graph.nodes(), kBlock, [&](Index begin, Index end) {
    for (Index node = begin; node < end; ++node)
      beside[static_cast<size_t>(node)] =
          marks[static_cast<size_t>(node)] == own && graph.any_neighbour(node, [&](Index next) {
            return marks[static_cast<size_t>(next)] == other;
          });
  });
  return nodes_that_are(1, beside);
}

// Connected components among the nodes that remain, each sorted. Where a component has more nodes
// than are left, those look whether they belong to it: its own neighbours are known mostly.
template <typename Graph>
std::vector<std::vector<Index>> components(const Graph& graph, std::vector<char> remains) {
  constexpr char kLeft = 1, kInside = 2;
  const auto at = [&](Index node) -> char& { return remains[static_cast<size_t>(node)]; };
  std::vector<std::vector<Index>> found;
  auto left = static_cast<size_t>(std::count(remains.begin(), remains.end(), kLeft));
  for (Index start = 0; start < graph.nodes() && left > 0; ++start) {
    if (at(start) != kLeft) continue;
    std::vector<Index> members;
    const auto take = [&](Index node) {
      at(node) = kInside;
      members.push_back(node);
      --left;
    };
    take(start);
    bool asked = false;
    for (size_t next = 0; next < members.size() && left > 0; ++next) {
      graph.visit_neighbours(members[next], [&](Index other) {
        if (at(other) == kLeft) take(other);
      });
      if (asked || members.size() <= left) continue;
      asked = true;
      for (const Index node : nodes_beside(graph, remains, kLeft, kInside)) take(node);
    }
    const bool most = 8 * members.size() > remains.size();
    if (most) members = nodes_that_are(kInside, remains);  // faster than to sort them
    for (const Index node : members) at(node) = 0;
    if (!most) std::sort(members.begin(), members.end());
    found.push_back(std::move(members));
  }
  return found;
}

// The same of entries that several processes share: each looks at its own lines, all know the
// answers. Rows 0 .. p-1, then columns.
template <typename Scalar>
class SpreadGraph {
 public:
  explicit SpreadGraph(const EntriesOperator<Scalar>& op) : op_(op), graph_(op) {}

  /// of_line(node) for all nodes, of which each process computes its own.
  template <typename OfLine>
  std::vector<Index> of_all(const OfLine& of_line) const {
    std::vector<Index> values(static_cast<size_t>(graph_.nodes()));
    const EntrySpread& spread = *op_.shares().spread;
    const Index p = op_.rows();
    for (Index i = spread.rows.begin(); i < spread.rows.end(p); ++i)
      values[static_cast<size_t>(i)] = of_line(i);
    for (Index j = spread.cols.begin(); j < spread.cols.end(op_.cols()); ++j)
      values[static_cast<size_t>(p + j)] = of_line(p + j);
    spread.rows.gather(values.data(), sizeof(Index));
    spread.cols.gather(values.data() + p, sizeof(Index));
    return values;
  }

  std::vector<Index> degrees(const std::vector<char>& remains) const {
    return of_all([&](Index node) {
      Index count = 0;
      graph_.visit_neighbours(node,
                              [&](Index other) { count += remains[static_cast<size_t>(other)]; });
      return count;
    });
  }

  // All nodes with too few neighbours at once, until none is left. Each edge of a node that goes
  // has determined one parameter, whatever the order.
  std::vector<char> core_nodes(const std::vector<Index>& degree, Index rank,
                               Index& free_parameters) const {
    std::vector<char> remains(degree.size(), 1);
    std::vector<Index> now = degree;
    Index removed = 0;
    for (bool again = true; again;) {
      again = false;
      for (size_t node = 0; node < now.size(); ++node)
        if (remains[node] && now[node] < rank) {
          remains[node] = 0;
          again = true;
          ++removed;
        }
      if (again) now = degrees(remains);
    }
    const auto p = static_cast<size_t>(op_.rows());
    Index left = 0;  // edges
    for (size_t row = 0; row < p; ++row)
      if (remains[row]) left += now[row];
    free_parameters = rank * removed - (op_.num_measurements() - left);
    return remains;
  }

  // Connected components but the largest one, which may be most of the nodes. Every node takes the
  // smallest number that it or a neighbour has, until none changes.
  std::vector<std::vector<Index>> smaller_components(const std::vector<char>& remains) const {
    std::vector<Index> label(remains.size());
    for (size_t node = 0; node < label.size(); ++node) label[node] = static_cast<Index>(node);
    for (std::vector<Index> before; before != label;) {
      before.swap(label);
      label = of_all([&](Index node) {
        Index least = before[static_cast<size_t>(node)];
        if (!remains[static_cast<size_t>(node)]) return least;
        graph_.visit_neighbours(node, [&](Index other) {
          const auto o = static_cast<size_t>(other);
          if (remains[o]) least = std::min(least, before[o]);
        });
        return least;
      });
    }
    std::vector<Index> size(label.size());
    for (size_t node = 0; node < label.size(); ++node)
      if (remains[node]) ++size[static_cast<size_t>(label[node])];
    const auto largest = std::max_element(size.begin(), size.end()) - size.begin();
    std::map<Index, std::vector<Index>> found;  // by their first node
    for (size_t node = 0; node < label.size(); ++node)
      if (remains[node] && label[node] != largest)
        found[label[node]].push_back(static_cast<Index>(node));
    std::vector<std::vector<Index>> components;
    for (auto& [first, members] : found) components.push_back(std::move(members));
    return components;
  }

 private:
  const EntriesOperator<Scalar>& op_;
  EntryGraph<Scalar> graph_;
};

// The pattern on a device is the graph.
template <typename Scalar>
bool seen_by_device(const EntriesOperator<Scalar>& op) {
  return op.device() && !op.symmetric() && op.root_weights().size() == 0;
}

template <typename Scalar>
std::vector<std::vector<Index>> connected_on_device(const EntriesOperator<Scalar>& op,
                                                    const std::vector<char>& marks) {
  if constexpr (kIsComplex<Scalar>)
    return {};
  else
    return op.device()->connected_blocks(marks);
}

}  // namespace

template <typename Scalar>
Undetermined EntriesOperator<Scalar>::undetermined(Index rank) const {
  const Index p = this->rows();
  const EntryGraph<Scalar> graph(*this);
  const SpreadGraph<Scalar> spread(*this);
  const std::vector<Index> degree = degrees(*this, graph);
  Undetermined open;
  const Index least = std::max<Index>(rank, 1);
  const std::vector<char> remains = is_spread()
                                        ? spread.core_nodes(degree, least, open.free_parameters)
                                        : core_nodes(graph, degree, least, open.free_parameters);
  for (Index node = 0; node < graph.nodes(); ++node) {
    const bool is_row = node < p;
    if (degree[static_cast<size_t>(node)] == 0)
      (is_row ? open.empty_rows : open.empty_cols).push_back(is_row ? node : node - p);
    else if (!remains[static_cast<size_t>(node)])
      (is_row ? open.rows : open.cols).push_back(is_row ? node : node - p);
  }
  auto blocks = is_spread()             ? spread.smaller_components(remains)
                : seen_by_device(*this) ? connected_on_device(*this, remains)
                                        : components(graph, remains);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (size_t b = is_spread() ? 0 : 1; b < blocks.size(); ++b) {
    const auto split = std::lower_bound(blocks[b].begin(), blocks[b].end(), p);
    std::vector<Index> cols(split, blocks[b].end());
    for (Index& col : cols) col -= p;
    open.blocks.emplace_back(std::vector<Index>(blocks[b].begin(), split), std::move(cols));
  }
  return open;
}

#define UDV_INSTANTIATE(Scalar) \
  template Undetermined EntriesOperator<Scalar>::undetermined(Index) const;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
