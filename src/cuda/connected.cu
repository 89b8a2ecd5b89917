// SPDX-License-Identifier: MIT
// Blocks of lines that entries connect, by union and find.
#include "common.cuh"

namespace udv::device {
namespace {

// A node's block is that of the node it points to, which is never a larger one; a root points to
// itself. Roots only ever get smaller, so that the smallest node of a block is its root in the end,
// whatever the order in which threads meet.
__device__ std::int32_t root_of(std::int32_t* parent, std::int32_t node) {
  volatile std::int32_t* const now = parent;
  std::int32_t above = now[node];
  while (above != node) {
    const std::int32_t next = now[above];
    if (next != above) now[node] = next;  // halves the way for the next one
    node = above;
    above = next;
  }
  return node;
}

__device__ void unite(std::int32_t* parent, std::int32_t a, std::int32_t b) {
  for (;;) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a == b) return;
    const std::int32_t large = max(a, b), small = min(a, b);
    if (atomicCAS(parent + large, large, small) == large) return;
  }
}

__global__ void start_nodes(std::int32_t* parent, std::int64_t nodes) {
  for (std::int64_t n = thread_index(); n < nodes; n += num_threads())
    parent[n] = static_cast<std::int32_t>(n);
}

// One entry of each row, the n-th one: after a few of them most nodes are in one block, and the
// other entries have little to do (Sutton, Ben-Nun and Barak, "Optimizing parallel graph
// connectivity computation via subgraph sampling", 2018).
__global__ void unite_samples(Side rows, std::int64_t n, const char* marks, std::int32_t* parent) {
  for (std::int64_t i = thread_index(); i < rows.lines; i += num_threads()) {
    const std::int64_t s = rows.first[i] + n;
    if (!marks[i] || s >= rows.first[i + 1]) continue;
    const auto other = static_cast<std::int32_t>(rows.lines + rows.other[s]);
    if (marks[other]) unite(parent, static_cast<std::int32_t>(i), other);
  }
}

// All entries, one warp a row; those whose ends are known to be together are passed over.
__global__ void unite_entries(Side rows, const char* marks, std::int32_t* parent) {
  const std::int64_t warps = num_threads() / kWarp;
  for (std::int64_t i = thread_index() / kWarp; i < rows.lines; i += warps) {
    if (!marks[i]) continue;
    const std::int32_t own = parent[i];
    for (std::int64_t s = rows.first[i] + threadIdx.x % kWarp; s < rows.first[i + 1]; s += kWarp) {
      const auto other = static_cast<std::int32_t>(rows.lines + rows.other[s]);
      if (marks[other] && parent[other] != own) unite(parent, static_cast<std::int32_t>(i), other);
    }
  }
}

__global__ void flatten(std::int32_t* parent, std::int64_t nodes) {
  for (std::int64_t n = thread_index(); n < nodes; n += num_threads())
    parent[n] = root_of(parent, static_cast<std::int32_t>(n));
}

__global__ void settle(std::int32_t* parent, std::int64_t nodes, const char* marks, double* roots) {
  double own = 0;
  for (std::int64_t n = thread_index(); n < nodes; n += num_threads()) {
    const std::int32_t root = root_of(parent, static_cast<std::int32_t>(n));
    parent[n] = root;
    own += marks[n] && root == n ? 1 : 0;
  }
  store_block_sum(own, roots + blockIdx.x);
}

}  // namespace

std::int64_t connected_blocks(const Pattern* pattern, const char* marks, std::int32_t* label) {
  const Side rows = side_of(pattern, 0);
  const std::int64_t nodes = rows.lines + side_of(pattern, 1).lines;
  const auto bytes = static_cast<std::size_t>(nodes) * sizeof(std::int32_t);
  auto* const parent = static_cast<std::int32_t*>(scratch(3, bytes));
  const int blocks = blocks_for(nodes, kThreads);
  auto* const roots =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(blocks) * sizeof(double)));
  auto* const counts = static_cast<char*>(scratch(6, static_cast<std::size_t>(nodes)));
  send(counts, marks, static_cast<std::size_t>(nodes));
  start_nodes<<<blocks, kThreads>>>(parent, nodes);
  constexpr int kSamples = 3;
  for (int n = 0; n < kSamples; ++n) {
    unite_samples<<<blocks_for(rows.lines, kThreads), kThreads>>>(rows, n, counts, parent);
    flatten<<<blocks, kThreads>>>(parent, nodes);
  }
  unite_entries<<<warp_blocks(rows.lines), kThreads>>>(rows, counts, parent);
  settle<<<blocks, kThreads>>>(parent, nodes, counts, roots);
  launched("connected");
  double found = 0;
  add_parts(roots, blocks, 1, &found);
  if (found > 1) fetch(label, parent, bytes);
  return static_cast<std::int64_t>(found);
}

}  // namespace udv::device
