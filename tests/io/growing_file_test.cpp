// SPDX-License-Identifier: MIT
#include "io/growing_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "io/temporary_files.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace growing_file_test {

/// No file may become larger: what a full disk does, for this process alone.
class LargestFile {
 public:
  explicit LargestFile(rlim_t bytes) {
    before_action_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LargestFile() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_action_);
  }
  LargestFile(const LargestFile&) = delete;
  LargestFile& operator=(const LargestFile&) = delete;

 private:
  rlimit before_ = {};
  void (*before_action_)(int) = nullptr;
};

TEST(GrowingFile, TakesATextOrNothingOfIt) {
  const TemporaryFolder folder;
  const auto path = folder / "results.csv";
  detail::GrowingFile file(path);
  file.append("first\n");
  std::string error;
  {
    const LargestFile limit(10);
    error = folder.error_of([&] { file.append("second\n"); });
  }
  EXPECT_EQ(error, "results.csv: writing 7 bytes failed: File too large; 3 bytes are missing");
  EXPECT_EQ(read_bytes(path), "first\n");
  file.append("third\n");
  EXPECT_EQ(read_bytes(path), "first\nthird\n");
}

TEST(GrowingFile, ThatCannotBeOpenedIsNamed) {
  const TemporaryFolder folder;
  EXPECT_NE(folder.error_of([&] { detail::GrowingFile file(folder / "no/where.csv"); })
                .find("no/where.csv: cannot be opened"),
            std::string::npos);
}

}  // namespace growing_file_test
}  // namespace udv::io
