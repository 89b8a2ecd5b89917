// SPDX-License-Identifier: MIT
#include "core/machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "io/temporary_files.hpp"

namespace udv {
namespace machine_test {

TEST(Machine, TextsOfBytesHaveTheLargestUnit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1600), "1.6 KB");
  EXPECT_EQ(bytes_text(48e9), "48 GB");
  EXPECT_EQ(bytes_text(3e15), "3e+03 TB");
}

TEST(Machine, HasMemory) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_TRUE(std::isfinite(available_memory()));
}

// Slurm and containers limit the memory of a group of processes; cached files do not count.
TEST(Machine, AControlGroupLeavesWhatItDoesNotUse) {
  const io::TemporaryFolder folder;
  EXPECT_EQ(available_in_group(folder / ""), std::numeric_limits<double>::infinity());
  folder.write("memory.current", "600\n");
  folder.write("memory.max", "max\n");
  EXPECT_EQ(available_in_group(folder / ""), std::numeric_limits<double>::infinity());
  folder.write("memory.max", "1000\n");
  EXPECT_EQ(available_in_group(folder / ""), 400);
  folder.write("memory.stat", "anon 300\nfile 350\ninactive_file 200\nactive_file 50\n");
  EXPECT_EQ(available_in_group(folder / ""), 650);
  folder.write("memory.current", "2000\n");
  EXPECT_EQ(available_in_group(folder / ""), 0);
}

TEST(Machine, OfAProcessAloneIsTheTightest) {
  setenv("UDV_AVAILABLE_MEMORY", "1000", 1);
  const MachineNeed need = tightest_machine(250);
  unsetenv("UDV_AVAILABLE_MEMORY");
  EXPECT_EQ(need.processes, 1);
  EXPECT_EQ(need.share(), 0.25);
}

}  // namespace machine_test
}  // namespace udv
