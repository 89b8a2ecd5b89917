// SPDX-License-Identifier: MIT
#include "udv/net/adapter.hpp"

#include <gtest/gtest.h>

#include "support/adapters.hpp"
#include "support/reference.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace adapter_test {

using testing::change_of;
using testing::error_of;
using testing::random_block;
using testing::rounding_of;
using testing::small_adapter;

// Taller, wider and smaller than their rank, and none at all.
const std::vector<AdapterBlock>& blocks() {
  static const std::vector<AdapterBlock> all{
      random_block("a", 12, 7, 5, 1), random_block("b", 7, 12, 5, 2),
      random_block("c", 3, 9, 6, 3),  random_block("d", 9, 2, 6, 4),
      random_block("e", 1, 1, 1, 5),  random_block("f", 5, 4, 0, 6)};
  return all;
}

double dropped_energy(const Vector<double>& spectrum, Index rank) {
  return spectrum.tail(spectrum.size() - std::min(rank, spectrum.size())).squaredNorm();
}

TEST(Adapter, SpectrumIsThatOfTheProduct) {
  for (const AdapterBlock& block : blocks()) {
    if (block.rank() == 0) continue;
    const Vector<double> exact = testing::singular_values_of(change_of(block));
    const Vector<double> found = spectrum(block);
    const Index rank = std::min(found.size(), exact.size());
    EXPECT_LE((found.head(rank) - exact.head(rank)).norm(), 1e-12 * exact(0)) << block.name;
    EXPECT_LE(exact.tail(exact.size() - rank).norm(), 1e-12 * exact(0)) << block.name;
  }
}

// Eckart-Young: error^2 = sum of the dropped s^2, and nothing of this rank is nearer.
TEST(Adapter, TruncationIsTheBestOfItsRank) {
  for (const AdapterBlock& block : blocks()) {
    for (Index rank = 0; rank <= block.rank() + 1; ++rank) {
      const AdapterBlock kept = truncated(block, rank);
      const double error = (change_of(kept) - change_of(block)).norm();
      EXPECT_NEAR(error, std::sqrt(dropped_energy(spectrum(block), rank)), rounding_of(block));
      EXPECT_LE(kept.rank(), rank);
      EXPECT_EQ(kept.name, block.name);
      EXPECT_EQ(kept.A.cols(), block.A.cols());
      EXPECT_EQ(kept.B.rows(), block.B.rows());
    }
  }
}

TEST(Adapter, TruncationSharesTheSizeBetweenBothFactors) {
  const AdapterBlock kept = truncated(blocks()[0], 3);
  EXPECT_EQ(kept.d, Vector<float>(Vector<float>::Ones(3)));
  EXPECT_NEAR(kept.A.norm(), kept.B.norm(), 1e-5 * kept.A.norm());
}

TEST(Adapter, MoreEnergyKeepsMoreOfEveryBlock) {
  const AdapterPruning pruning(small_adapter());
  AdapterPruning::Ranks before(pruning.blocks(), 0);
  for (double energy = 0.05; energy <= 1; energy += 0.05) {
    const AdapterPruning::Ranks ranks = pruning.ranks_of_energy(energy);
    for (std::size_t b = 0; b < ranks.size(); ++b) {
      EXPECT_GE(ranks[b], before[b]);
      EXPECT_GE(pruning.energy_kept(b, ranks[b]), energy * (1 - 1e-12));
      if (ranks[b] > 0) {
        EXPECT_LT(pruning.energy_kept(b, ranks[b] - 1), energy);
      }
    }
    before = ranks;
  }
}

TEST(Adapter, ParametersAreThoseOfWhatIsKept) {
  for (const char* method : {"lora", "lora-udv"}) {
    Adapter adapter = small_adapter();
    adapter.method = method;
    const AdapterPruning pruning(adapter);
    const auto ranks = pruning.ranks_of_energy(0.8);
    const Adapter kept = pruning.keep(ranks);
    EXPECT_EQ(kept.parameters(), pruning.parameters(ranks));
    EXPECT_EQ(pruning.ratio(ranks),
              static_cast<double>(kept.parameters()) / static_cast<double>(adapter.parameters()));
    EXPECT_EQ(kept.method, method);
    EXPECT_EQ(kept.base_model, adapter.base_model);
    EXPECT_EQ(kept.metadata, adapter.metadata);
  }
  EXPECT_EQ(small_adapter().parameters(), 3 * 15 + 4 * 15 + 1 * 13);
}

TEST(Adapter, BudgetIsKeptAndUsedUp) {
  const Adapter adapter = small_adapter();
  const AdapterPruning pruning(adapter);
  for (double ratio = 0.4; ratio <= 1; ratio += 0.05) {
    const double energy = pruning.energy_for_ratio(ratio);
    const auto ranks = pruning.ranks_of_energy(energy);
    EXPECT_LE(pruning.ratio(ranks), ratio);
    // A little more energy is one rank more, and too much, or there was nothing left to drop.
    const auto more = pruning.ranks_of_energy(energy * (1 + 1e-9));
    EXPECT_TRUE(pruning.ratio(more) > ratio || pruning.ratio(ranks) == 1) << ratio;
    EXPECT_EQ(prune_to_ratio(adapter, ratio).parameters(), pruning.parameters(ranks));
  }
  EXPECT_EQ(error_of([&] { pruning.energy_for_ratio(0.1); }),
            "prune: ratio 0.1 wanted, the smallest reachable is 0.364407 (rank 1 in every block)");
}

// For the loss <G, dW> + 1/2 |dW|^2 the prediction is exact.
TEST(Adapter, ASlopeIsPartOfThePrediction) {
  Adapter adapter = small_adapter();
  adapter.blocks.resize(1);
  const AdapterBlock& block = adapter.blocks[0];
  const auto dense = [](const AdapterBlock& b) {
    return RowMatrix<double>((b.B * b.d.asDiagonal() * b.A).cast<double>());
  };
  const RowMatrix<double> W = dense(block);
  LayerMoments moments;
  moments.inputs.setIdentity(block.A.cols(), block.A.cols());
  moments.gradients.setIdentity(block.B.rows(), block.B.rows());
  moments.slope = -0.2 * W;
  moments.slope(0, 0) += 0.01 * W.norm();
  const AdapterPruning pruning(adapter, {{block.name, moments}});
  for (Index rank = 1; rank < block.rank(); ++rank) {
    const RowMatrix<double> change = dense(pruning.keep({rank}).blocks[0]) - W;
    const double loss =
        moments.slope.cwiseProduct(change).sum() + 0.5 * 1.001 * change.squaredNorm();
    EXPECT_NEAR(pruning.budget().dropped({rank}), loss, 2e-3 * loss) << rank;
  }
  moments.slope.resize(2, 2);
  EXPECT_NE(error_of([&] {
              AdapterPruning(adapter, {{block.name, moments}});
            }).find("2 x 2 found"),
            std::string::npos);
}

TEST(Adapter, ABlockOfZerosGetsRankZero) {
  Adapter adapter = small_adapter();
  adapter.blocks[0].B.setZero();
  adapter.blocks[2].d.setZero();
  for (const Adapter& kept : {prune_to_energy(adapter, 1), prune_to_rank(adapter, 2)}) {
    EXPECT_EQ(kept.blocks[0].rank(), 0);
    EXPECT_EQ(kept.blocks[2].rank(), 0);
    EXPECT_EQ(kept.blocks[3].rank(), 1);
    EXPECT_EQ(kept.blocks[0].A.cols(), 8);
    EXPECT_EQ(kept.blocks[0].B.rows(), 6);
  }
}

TEST(Adapter, NothingButZerosNeedsNoParameters) {
  Adapter adapter = small_adapter();
  for (AdapterBlock& block : adapter.blocks) block.A.setZero();
  EXPECT_EQ(prune_to_ratio(adapter, 0.01).parameters(), 0);
  EXPECT_EQ(prune_to_energy({}, 0.9).parameters(), 0);
  EXPECT_EQ(AdapterPruning(Adapter{}).ratio({}), 1);
}

TEST(Adapter, KeepsWhatItSaysForEveryNumberOfThreads) {
  const Adapter adapter = small_adapter();
  const testing::ThreadCount one(1);
  const Adapter expected = prune_to_rank(adapter, 2);
  const testing::ThreadCount many(4);
  const Adapter found = prune_to_rank(adapter, 2);
  for (std::size_t b = 0; b < expected.blocks.size(); ++b) {
    EXPECT_EQ(found.blocks[b].A, expected.blocks[b].A);
    EXPECT_EQ(found.blocks[b].B, expected.blocks[b].B);
  }
  EXPECT_EQ(error_of([&] { AdapterPruning(adapter).keep({1}); }),
            "prune: 1 ranks found, one for each of 4 blocks expected");
}

}  // namespace adapter_test
}  // namespace udv::net
