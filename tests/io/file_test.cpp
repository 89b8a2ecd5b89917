// SPDX-License-Identifier: MIT
#include "udv/io/file.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "temporary_files.hpp"

namespace udv::io {
namespace file_test {

// "hello\n", packed by gzip -n.
const std::string kPackedHello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06"
    "\x00\x00\x00",
    26);

std::size_t num_files(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(ReadBytes, ReturnsEveryByte) {
  const TemporaryFolder folder;
  const std::string bytes("a\0\r\n\xff", 5);
  EXPECT_EQ(read_bytes(folder.write("x.bin", bytes)), bytes);
}

TEST(ReadBytes, ReadsAnEmptyFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_bytes(folder.write("empty", "")), "");
}

TEST(ReadBytes, NamesAMissingFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { read_bytes(folder / "none.csv"); }),
            "none.csv: no such file, a file to read expected");
}

TEST(ReadBytes, RefusesAFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  EXPECT_EQ(folder.error_of([&] { read_bytes(folder / "sub"); }),
            "sub: a folder found, a file expected");
}

TEST(ReadBytes, UnpacksGzip) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_bytes(folder.write("x.txt.gz", kPackedHello)), "hello\n");
}

TEST(ReadBytes, UnpacksEveryMemberOfAGzipFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_bytes(folder.write("x.GZ", kPackedHello + kPackedHello)), "hello\nhello\n");
}

TEST(ReadBytes, RefusesGzipDataCutAnywhere) {
  const TemporaryFolder folder;
  for (std::size_t length = 0; length < kPackedHello.size(); ++length) {
    const auto path = folder.write("x.gz", kPackedHello.substr(0, length));
    EXPECT_EQ(folder.error_of([&] { read_bytes(path); }),
              message("x.gz: gzip data ends after ", length, " bytes, more expected"));
  }
}

TEST(ReadBytes, RefusesGzipDataWithAWrongByte) {
  const TemporaryFolder folder;
  std::string damaged = kPackedHello;
  damaged[20] ^= 1;  // in the checksum
  const auto path = folder.write("x.gz", damaged);
  EXPECT_EQ(folder.error_of([&] { read_bytes(path); }),
            "x.gz: damaged gzip data found: incorrect data check");
}

TEST(ReadBytes, RefusesPlainTextNamedGz) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.gz", "1,2,3\n");
  EXPECT_EQ(folder.error_of([&] { read_bytes(path); }),
            "x.gz: damaged gzip data found: incorrect header check");
}

TEST(WriteAtomically, ReplacesAFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_atomically(folder.write("x.bin", "old and longer"), std::string("n\0w", 3));
  EXPECT_EQ(read_bytes(folder / "x.bin"), std::string("n\0w", 3));
  EXPECT_EQ(num_files(folder / ""), 1u);
}

TEST(WriteAtomically, NamesThePathInAMissingFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { write_atomically(folder / "none/x.bin", "bytes"); }),
            "none/x.bin: cannot be opened for writing: No such file or directory");
}

TEST(WriteAtomically, RefusesAFolderAndLeavesNothing) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  EXPECT_EQ(folder.error_of([&] { write_atomically(folder / "sub", "bytes"); }),
            "sub: a folder or device found, a regular file or a new name expected");
  EXPECT_EQ(num_files(folder / ""), 1u);
}

TEST(WriteAtomically, DoesNotReplaceADevice) {
  EXPECT_THROW(write_atomically("/dev/null", "bytes"), IoError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace file_test
}  // namespace udv::io
