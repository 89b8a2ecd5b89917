// SPDX-License-Identifier: MIT
#include "udv/io/file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>

#include "atomic_file.hpp"
#include "core/require.hpp"
#include "gzip.hpp"
#include "names.hpp"

namespace udv::io {

namespace fs = std::filesystem;

/// Removes the file at the end of the scope; one that was renamed meanwhile is no longer there.
struct TemporaryFile {
  explicit TemporaryFile(fs::path name) : path(std::move(name)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  fs::path path;
};

namespace {

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Stream open_stream(const fs::path& file, const char* mode, const fs::path& named) {
  Stream stream(std::fopen(file.c_str(), mode), &std::fclose);
  require<IoError>(stream != nullptr, named.string(), ": cannot be opened for ",
                   mode[0] == 'r' ? "reading: " : "writing: ", std::strerror(errno));
  return stream;
}

void require_readable_kind(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require<IoError>(status.type() != fs::file_type::not_found, path.string(),
                   ": no such file, a file to read expected");
  require<IoError>(status.type() != fs::file_type::directory, path.string(),
                   ": a folder found, a file expected");
}

/// Reads until the end instead of trusting the size: pipes and /proc files report none.
std::string read_stream(const fs::path& path, std::FILE* stream) {
  constexpr std::size_t kChunk = 1 << 16;
  std::error_code unknown_size;
  const std::uintmax_t size = fs::file_size(path, unknown_size);
  std::string bytes(unknown_size ? kChunk : static_cast<std::size_t>(size) + 1, '\0');
  std::size_t used = 0;
  while (const std::size_t count = std::fread(&bytes[used], 1, bytes.size() - used, stream)) {
    used += count;
    if (used == bytes.size()) bytes.resize(used + kChunk);
  }
  require<IoError>(!std::ferror(stream), path.string(), ": reading failed: ", std::strerror(errno));
  bytes.resize(used);
  return bytes;
}

/// Random rather than the process id: a stale file of a crashed run must not stand in the way.
fs::path temporary_name_beside(const fs::path& path) {
  std::random_device entropy;
  return path.parent_path() / fmt::format(".udv-{:08x}{:08x}.tmp", entropy(), entropy());
}

/// "out/U.npy" for "out/.udv-new/U.npy".
fs::path later_place(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path)
    if (part != kStagingFolder) result /= part;
  return result;
}

// A rename would replace a device such as /dev/null by a plain file.
void require_place_for_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require<IoError>(!fs::exists(status) || fs::is_regular_file(status), later_place(path).string(),
                   ": a folder or device found, a regular file or a new name expected");
}

Stream no_stream() {
  return {nullptr, &std::fclose};
}

/// What was written of the file goes; where the disk is full, the message says what it lacks.
[[noreturn]] void fail_to_write(Stream stream, const fs::path& file, std::uintmax_t size,
                                const fs::path& named) {
  const int why = errno;
  std::error_code ignored;
  stream.reset();  // an open file keeps its space
  fs::remove(file, ignored);
  std::string text =
      message(named.string(), ": writing ", size, " bytes failed: ", std::strerror(why));
  const fs::space_info space = fs::space(file.parent_path(), ignored);
  if (why == ENOSPC && !ignored && space.available < size)
    text += message("; ", size - space.available, " bytes are missing");
  throw IoError(text);
}

void write_stream(const fs::path& file, std::string_view bytes, const fs::path& named) {
  Stream stream = open_stream(file, "wbx", named);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) == bytes.size() &&
                       std::fflush(stream.get()) == 0;
  if (!written) fail_to_write(std::move(stream), file, bytes.size(), named);
  if (std::fclose(stream.release()) != 0) fail_to_write(no_stream(), file, bytes.size(), named);
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  require_readable_kind(path);
  const Stream stream = open_stream(path, "rb", path);
  std::string bytes = read_stream(path, stream.get());
  return detail::is_packed(path) ? detail::gunzip(path.string(), bytes) : bytes;
}

bool detail::is_packed(const fs::path& path) {
  return lower_case(path.extension().string()) == ".gz";
}

std::string detail::read_unpacked_start(const fs::path& path, std::size_t count) {
  require_readable_kind(path);
  const Stream stream = open_stream(path, "rb", path);
  return gunzip_start(path.string(), read_stream(path, stream.get()), count);
}

std::string read_start(const fs::path& path, std::size_t count) {
  require_readable_kind(path);
  const Stream stream = open_stream(path, "rb", path);
  std::error_code unknown_size;
  const std::uintmax_t size = fs::file_size(path, unknown_size);
  if (!unknown_size && size > 0 && size < count) count = static_cast<std::size_t>(size);
  std::string bytes(count, '\0');
  bytes.resize(std::fread(bytes.data(), 1, count, stream.get()));
  require<IoError>(!std::ferror(stream.get()), path.string(),
                   ": reading failed: ", std::strerror(errno));
  return bytes;
}

struct AtomicFile::Parts {
  explicit Parts(const fs::path& path)
      : path(path),
        named(later_place(path)),
        temporary(temporary_name_beside(path)),
        stream(open_stream(temporary.path, "wbx", named)) {}

  fs::path path, named;
  TemporaryFile temporary;
  Stream stream;
  std::uintmax_t size = 0;  // so far
};

AtomicFile::AtomicFile(const fs::path& path) {
  require_place_for_file(path);
  parts_ = std::make_unique<Parts>(path);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::append(std::string_view bytes) {
  parts_->size += bytes.size();
  if (std::fwrite(bytes.data(), 1, bytes.size(), parts_->stream.get()) != bytes.size())
    fail_to_write(std::move(parts_->stream), parts_->temporary.path, parts_->size, parts_->named);
}

void AtomicFile::finish() {
  if (std::fclose(parts_->stream.release()) != 0)
    fail_to_write(no_stream(), parts_->temporary.path, parts_->size, parts_->named);
  std::error_code error;
  fs::rename(parts_->temporary.path, parts_->path, error);
  require<IoError>(!error, parts_->named.string(), ": cannot be written: ", error.message());
}

void write_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path named = later_place(path);
  require_place_for_file(path);
  std::error_code error;
  const TemporaryFile temporary(temporary_name_beside(path));
  write_stream(temporary.path, bytes, named);
  fs::rename(temporary.path, path, error);
  require<IoError>(!error, named.string(), ": cannot be written: ", error.message());
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require<IoError>(!failure, folder.string(), ": cannot make this folder: ", failure.message());
}

}  // namespace udv::io
