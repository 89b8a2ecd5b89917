// SPDX-License-Identifier: MIT
#include "core/save_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace udv {
namespace save_clock_test {

void wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// A state that takes so long to write.
Hooks hooks_with(double every_seconds, int milliseconds) {
  Hooks hooks;
  hooks.save_every_seconds = every_seconds;
  hooks.save = [milliseconds](const std::string&) { wait(milliseconds); };
  return hooks;
}

TEST(SaveClock, SavesAtIntervals) {
  const Hooks hooks = hooks_with(0.2, 0);
  SaveClock clock(hooks);
  EXPECT_FALSE(clock.due());
  wait(250);
  EXPECT_TRUE(clock.due());
  EXPECT_TRUE(clock.due_at_point());
  clock.save([] { return std::string("state"); });
  EXPECT_FALSE(clock.due());
  EXPECT_FALSE(clock.due_at_point());
}

TEST(SaveClock, WaitsForTwoSecondsAtMostAtFirst) {
  const Hooks hooks = hooks_with(30, 0);
  SaveClock clock(hooks);
  wait(100);
  EXPECT_FALSE(clock.due());
  wait(2000);
  EXPECT_TRUE(clock.due());
  clock.save([] { return std::string("state"); });
  wait(100);
  EXPECT_FALSE(clock.due()) << "thirty seconds from here";
}

// 150 ms of writing are followed by 1.5 s of work.
TEST(SaveClock, SpendsATenthOfTheTimeAtMost) {
  const Hooks hooks = hooks_with(0, 150);
  SaveClock clock(hooks);
  wait(10);
  EXPECT_TRUE(clock.due());
  clock.save([] { return std::string("state"); });
  wait(400);
  EXPECT_FALSE(clock.due());
  EXPECT_FALSE(clock.due_at_point());
}

TEST(SaveClock, IsNeverDueWhereNobodySaves) {
  const Hooks hooks;
  const SaveClock clock(hooks);
  EXPECT_FALSE(clock.due());
  EXPECT_FALSE(clock.due_at_point());
}

// The making of a state counts as its writing does.
TEST(SaveClock, WaitsTenTimesAsLongAsASaveTakes) {
  Hooks hooks;
  hooks.save = [](const std::string&) { wait(60); };
  hooks.save_every_seconds = 0.01;
  SaveClock clock(hooks);
  clock.save([] { return wait(60), std::string("state"); });
  wait(700);
  EXPECT_FALSE(clock.due());
  EXPECT_FALSE(clock.due_at_point());
  wait(800);
  EXPECT_TRUE(clock.due());
}

}  // namespace save_clock_test
}  // namespace udv
