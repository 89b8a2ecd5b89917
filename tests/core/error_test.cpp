// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/require.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace error_test {

TEST(Message, JoinsItsParts) {
  EXPECT_EQ(message("step is ", -0.5, ", 3 x ", 4), "step is -0.5, 3 x 4");
}

TEST(Require, ThrowsTheJoinedMessage) {
  EXPECT_EQ(testing::error_of([] { require(false, "rank is ", 7); }), "rank is 7");
}

TEST(Require, DoesNothingWhereTheConditionHolds) {
  EXPECT_NO_THROW(require(true, "unused"));
}

TEST(Require, ThrowsTheWantedKindOfError) {
  EXPECT_THROW(require<IoError>(false, "unreadable"), IoError);
}

}  // namespace error_test
}  // namespace udv
