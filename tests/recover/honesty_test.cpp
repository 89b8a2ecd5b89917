// SPDX-License-Identifier: MIT
#include "support/honesty.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace udv::testing {
namespace honesty_test {

class HonestyLaw : public ::testing::TestWithParam<int> {};

TEST_P(HonestyLaw, NothingIsClaimedThatTheDataDoNotSay) {
  Index entries = 0, different = 0, exact = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const Honesty each = examine_honesty(GetParam(), number);
    EXPECT_FALSE(each.refuted) << each.problem << ", number " << number;
    EXPECT_EQ(each.wrong, 0) << each.problem << ", number " << number;
    entries += each.entries;
    different += each.flags_different;
    exact += each.exact;
  }
  EXPECT_GT(exact, 0);
  EXPECT_LE(static_cast<double>(different), 1e-3 * static_cast<double>(entries));
}

// Each of the two blocks is fitted exactly without the entries that join them, and the larger block
// without the smaller one: nothing contradicts these entries, so they are no gross errors.
TEST(Honesty, EntriesThatNothingContradictsAreNoErrors) {
  constexpr int kBlocks = 2, kBridged = 3;
  const std::pair<int, std::uint64_t> problems[] = {
      {kBridged, 777'123}, {kBlocks, 10'001'882}, {kBlocks, 20'000'382}};
  for (const auto& [kind, number] : problems) {
    const Honesty each = examine_honesty(kind, number);
    EXPECT_TRUE(each.exact);
    EXPECT_EQ(each.wrong, 0) << each.problem << ", number " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, HonestyLaw, ::testing::Range(0, honesty_kinds()));

}  // namespace honesty_test
}  // namespace udv::testing
