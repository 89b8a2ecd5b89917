// SPDX-License-Identifier: MIT
// Two known blocks of a rank-k matrix and b entries between them: with fewer than k^2 the data
// leave k^2 - b directions free. Every verdict is held against that count and against the truth.
//
// usage: bench_bridges [SEEDS]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"

namespace {

using namespace udv;

constexpr Index kBlock = 15;

struct Bridged {
  Entries entries;
  RowMatrix<double> X;
};

// The bridges are in one corner, so that they are linear equations for the change of gauge.
Bridged make(Index rank, Index bridges, std::uint64_t seed) {
  Random random(seed, 815);
  RowMatrix<double> U(2 * kBlock, rank), V(2 * kBlock, rank);
  random.fill_normal(U);
  random.fill_normal(V);
  Bridged made{{2 * kBlock, 2 * kBlock, false, {}, {}, {}}, U * V.transpose()};
  const auto add = [&](Index i, Index j) {
    made.entries.row.push_back(static_cast<std::int32_t>(i));
    made.entries.col.push_back(static_cast<std::int32_t>(j));
    made.entries.value.push_back(made.X(i, j));
  };
  for (Index i = 0; i < 2 * kBlock; ++i)
    for (Index j = 0; j < 2 * kBlock; ++j)
      if ((i < kBlock) == (j < kBlock)) add(i, j);
  // More than k of them in one line would depend on each other.
  std::set<std::pair<Index, Index>> places;
  std::vector<Index> in_line(4 * kBlock, 0);
  while (static_cast<Index>(places.size()) < bridges) {
    const Index i = random.below(kBlock), j = kBlock + random.below(kBlock);
    Index &of_row = in_line[static_cast<size_t>(i)],
          &of_col = in_line[static_cast<size_t>(2 * kBlock + j)];
    if (of_row == rank || of_col == rank || !places.insert({i, j}).second) continue;
    ++of_row;
    ++of_col;
  }
  for (const auto& [i, j] : places) add(i, j);
  return made;
}

bool is_right(const Bridged& made, Index rank, Index bridges, const Recovery& found) {
  const Index free = std::max<Index>(0, rank * rank - bridges);
  bool right = found.rank == rank && found.determinacy.unique == (free == 0) &&
               found.determinacy.free_directions == free;
  for (Index i = 0; i < 2 * kBlock; ++i)
    for (Index j = 0; j < 2 * kBlock; ++j)
      if (found.open_entries.determined(i, j))
        right = right && std::abs(found.predict(i, j) - made.X(i, j)) <= 1e-6;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 20;
  set_num_threads(1);
  int right = 0, all = 0;
  for (Index rank = 1; rank <= 3; ++rank)
    for (Index bridges = 0; bridges <= rank * rank + 1; ++bridges)
      for (int seed = 0; seed < seeds; ++seed) {
        const Bridged made = make(rank, bridges, static_cast<std::uint64_t>(seed));
        const Recovery found = recover(completion(made.entries));
        const bool ok = is_right(made, rank, bridges, found);
        right += ok;
        ++all;
        if (!ok)
          fmt::print(stderr, "rank {}, {} bridges, seed {}: {}\n", rank, bridges, seed,
                     found.summary());
      }
  fmt::print(
      "bridged blocks, rank 1 to 3, 0 to k^2 + 1 entries between them: verdict right in {} of {}\n",
      right, all);
  return right == all ? 0 : 1;
}
