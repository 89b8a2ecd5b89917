// SPDX-License-Identifier: MIT
#include "jobs/config_file.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {
namespace config_file_test {

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() { describe(table_, options_); }

  std::string error_of(const std::string& toml) {
    const auto path = folder_.write("run.toml", toml);
    return folder_.error_of([&] { apply_config(path.string(), table_); });
  }

  io::TemporaryFolder folder_;
  RunOptions options_;
  OptionTable table_;
};

TEST_F(ConfigFile, SetsOptions) {
  EXPECT_EQ(error_of("seed = 3\nout = \"here\"\nresume = true\ntime-limit = 1.5\n"), "no error");
  EXPECT_EQ(options_.seed, 3u);
  EXPECT_EQ(options_.out, "here");
  EXPECT_TRUE(options_.resume);
  EXPECT_EQ(options_.time_limit, 1.5);
}

TEST_F(ConfigFile, NamesFileLineKeyAndTheNearestRightKey) {
  EXPECT_EQ(error_of("seed = 1\nthread = 2\n"),
            "run.toml:2: thread: no such setting; did you mean threads?");
  EXPECT_EQ(error_of("aeroplane = 2\n"), "run.toml:1: aeroplane: no such setting");
}

TEST_F(ConfigFile, NamesFileLineAndValueThatMakesNoSense) {
  EXPECT_EQ(error_of("\nthreads = 0\n"),
            "run.toml:2: threads: '0' found, a whole number from 1 to 1024 expected");
  EXPECT_EQ(error_of("resume = \"yes\"\n"),
            "run.toml:1: resume: 'yes' found, true or false expected");
  EXPECT_EQ(error_of("threads = []\n"),
            "run.toml:1: threads: an empty list found, values expected");
}

TEST_F(ConfigFile, ThatIsNoTomlNamesTheLine) {
  EXPECT_EQ(error_of("seed = 1\nout =\n").find("run.toml:2: "), 0u);
  EXPECT_EQ(error_of("[run]\nseed = 1\n").find("run.toml:1: run: "), 0u);
}

TEST_F(ConfigFile, JoinsListsWithCommas) {
  const auto path = folder_.write("run.toml", "shape = [32, 27]\none = [5]\n");
  const std::vector<ConfigEntry> entries = config_entries(path.string());
  ASSERT_EQ(entries.size(), 2u);
  for (const ConfigEntry& entry : entries)
    EXPECT_EQ(entry.text, entry.name == "shape" ? "32,27" : "5,");
}

}  // namespace config_file_test
}  // namespace udv::jobs
