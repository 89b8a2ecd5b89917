// SPDX-License-Identifier: MIT
#include "udv/recover/symmetry.hpp"

#include <gtest/gtest.h>

#include "support/planted_problems.hpp"

namespace udv {
namespace symmetry_test {

using testing::completed;

/// Entries of U diag(1, -1, 1, ...) U^T, upper triangle.
struct Indefinite {
  Planted planted;
  Vector<double> signs;

  explicit Indefinite(double noise = 0) : planted(completed(40, 40, true, 3, 5, 1, 0, 2)) {
    signs = Vector<double>::Ones(3);
    signs(1) = -1;
    Random random(5, kStreamProbe);
    Entries& entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t)
      entries.value[t] = at(entries.row[t], entries.col[t]) + noise * random.normal();
  }
  double at(Index i, Index j) const {
    return planted.U.row(i).cwiseProduct(signs.transpose()).dot(planted.U.row(j));
  }
};

TEST(Mirrored, ListsEachEntryAtBothPlaces) {
  const Entries both = mirrored({3, 3, true, {0, 1}, {2, 1}, {5, 6}});
  EXPECT_FALSE(both.symmetric);
  EXPECT_EQ(both.row, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(both.col, (std::vector<std::int32_t>{2, 1, 0}));
  EXPECT_EQ(both.value, (std::vector<double>{5, 6, 5}));
}

TEST(Symmetrised, RecoversEigenvaluesOfEitherSign) {
  const Indefinite indefinite;
  const Recovery found = symmetrised(recover(completion(mirrored(indefinite.planted.entries))));
  EXPECT_TRUE(found.symmetric);
  EXPECT_EQ(found.rank, 3);
  ASSERT_EQ(found.d.size(), 3);
  EXPECT_EQ((found.d.array() < 0).count(), 1);
  EXPECT_EQ(found.V.size(), 0);
  for (Index c = 0; c < 3; ++c) EXPECT_EQ(found.spectrum(c), std::abs(found.d(c)));
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) EXPECT_NEAR(found.predict(i, j), indefinite.at(i, j), 1e-8);
}

TEST(Contradiction, OfIndefiniteDataIsSaid) {
  EXPECT_TRUE(recover(completion(Indefinite().planted.entries)).indefinite);
  EXPECT_TRUE(recover(completion(Indefinite(0.1).planted.entries)).indefinite);
}

TEST(Contradiction, OfNegativeDiagonalEntriesIsSaid) {
  Planted planted = completed(40, 40, true, 2, 5, 1, 0, 3);
  Entries& entries = planted.entries;
  for (size_t t = 0; t < entries.value.size(); ++t)
    if (entries.row[t] == entries.col[t]) entries.value[t] = -10;
  EXPECT_TRUE(recover(completion(entries)).indefinite);
}

TEST(Contradiction, IsNotSeenInNoise) {
  for (const double noise : {0.0, 0.05, 0.5})
    EXPECT_FALSE(recover(completion(completed(60, 60, true, 2, 5, 1, noise, 3).entries)).indefinite)
        << noise;
}

TEST(RankCap, IsToldWhereItEndedTheWalk) {
  // All entries of a 3 x 3 matrix of rank 3: nine numbers cannot confirm rank 2.
  Entries entries{3, 3, false, {}, {}, {2, -1, 0, 1, 3, 1, 0, 2, -4}};
  for (std::int32_t t = 0; t < 9; ++t) {
    entries.row.push_back(t / 3);
    entries.col.push_back(t % 3);
  }
  EXPECT_EQ(recover(completion(entries)).rank_cap, 1);
}

TEST(RankCap, IsNotToldOfExactFitsOrOfEnoughData) {
  EXPECT_EQ(recover(testing::planted_entries(40, 30, false, 3, 4).problem).rank_cap, 0);
  EXPECT_EQ(recover(testing::planted_entries(40, 30, false, 2, 5, 1, 0.05).problem).rank_cap, 0);
}

}  // namespace symmetry_test
}  // namespace udv
