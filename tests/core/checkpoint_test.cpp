// SPDX-License-Identifier: MIT
#include "udv/core/checkpoint.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/archive.hpp"
#include "udv/core/version.hpp"

namespace udv {
namespace checkpoint_test {

const Checkpoint kExample{"complete", "lr 0.1; seed 0", std::string("state\0with\nbytes", 16)};

std::string error_of(const std::string& bytes) {
  try {
    checkpoint_from_bytes(bytes);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

std::string difference_to(const std::string& job, const std::string& fingerprint) {
  try {
    check_belongs(kExample, job, fingerprint);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

// An envelope with a right check sum and any contents.
std::string sealed(std::uint32_t format, std::string program, const std::string& more = "") {
  ArchiveWriter archive;
  std::string job = "complete", fingerprint = "f", payload = "p";
  archive(format, program, job, fingerprint, payload);
  std::string bytes = "udv checkpoint\n" + archive.take() + more;
  const auto sum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  return bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
}

TEST(CheckpointFile, ComesBackAsItWas) {
  const std::string bytes = to_bytes(kExample);
  EXPECT_TRUE(starts_checkpoint(bytes));
  const Checkpoint again = checkpoint_from_bytes(bytes);
  EXPECT_EQ(again.job, kExample.job);
  EXPECT_EQ(again.fingerprint, kExample.fingerprint);
  EXPECT_EQ(again.payload, kExample.payload);
  EXPECT_EQ(to_bytes(again), bytes);
}

TEST(CheckpointFile, CutShortAnywhereIsRefused) {
  const std::string bytes = to_bytes(kExample);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of(bytes.substr(0, size)), "") << size << " of " << bytes.size() << " bytes";
}

TEST(CheckpointFile, WithAnyByteAlteredIsRefused) {
  const std::string bytes = to_bytes(kExample);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const int change : {1, 0x80, 0xff}) {
      std::string altered = bytes;
      altered[at] = static_cast<char>(altered[at] ^ change);
      EXPECT_NE(error_of(altered), "") << "byte " << at;
    }
}

TEST(CheckpointFile, WithBytesAtTheEndIsRefused) {
  EXPECT_NE(error_of(to_bytes(kExample) + "x"), "");
  EXPECT_NE(error_of(sealed(2, version(), "more")).find("left over"), std::string::npos);
}

TEST(CheckpointFile, OfAnotherFormatOrVersionSaysSo) {
  EXPECT_EQ(error_of(sealed(2, version())), "");
  EXPECT_EQ(error_of(sealed(1, version())), "checkpoint: format 1 found, 2 expected");
  const std::string problem = error_of(sealed(2, "9.9.9"));
  EXPECT_NE(problem.find("9.9.9"), problem.npos) << problem;
  EXPECT_NE(problem.find(version()), problem.npos) << problem;
}

TEST(CheckpointFile, OfSomethingElseSaysSo) {
  EXPECT_EQ(error_of(""), "not a checkpoint of udv");
  EXPECT_EQ(error_of("PK\x03\x04"), "not a checkpoint of udv");
}

TEST(CheckpointOwner, IsTheSameJobWithTheSameSettings) {
  EXPECT_EQ(difference_to("complete", "lr 0.1; seed 0"), "");
}

TEST(CheckpointOwner, OfAnotherJobIsNamed) {
  EXPECT_EQ(difference_to("train", "lr 0.1; seed 0"),
            "a checkpoint of the job 'complete' found, 'train' expected");
}

TEST(CheckpointOwner, WithOtherSettingsNamesThoseThatDiffer) {
  const std::string problem = difference_to("complete", "lr 0.2; seed 0");
  EXPECT_NE(problem.find("lr 0.1 found, lr 0.2 expected"), problem.npos) << problem;
  EXPECT_EQ(problem.find("seed"), problem.npos) << problem;
}

TEST(CheckpointOwner, WithASettingMoreSaysThatItIsMissing) {
  const std::string problem = difference_to("complete", "lr 0.1; momentum 0.9; seed 0");
  EXPECT_NE(problem.find("nothing found, momentum 0.9 expected"), problem.npos) << problem;
}

}  // namespace checkpoint_test
}  // namespace udv
