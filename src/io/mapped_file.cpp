// SPDX-License-Identifier: MIT
#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/require.hpp"
#include "gzip.hpp"
#include "udv/io/file.hpp"

namespace udv::io::detail {
namespace {

MappedFile map_plain(const std::string& name, std::string_view expected) {
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  require<IoError>(file >= 0, name, ": cannot be opened for reading: ", std::strerror(errno));
  struct stat info {};
  const bool known = ::fstat(file, &info) == 0;
  const auto size = known && S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) : 0;
  void* const data = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
  require<IoError>(known && !S_ISDIR(info.st_mode), name, ": a folder found, a file expected");
  require<IoError>(data != MAP_FAILED, name, ": ", size, " bytes found, ", expected, " expected");
  return {std::shared_ptr<const void>(
              data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); }),
          {static_cast<const char*>(data), size}};
}

}  // namespace

MappedFile map_file(const std::filesystem::path& path, std::string_view expected) {
  if (!is_packed(path)) return map_plain(path.string(), expected);
  const auto text = std::make_shared<const std::string>(read_bytes(path));
  require<IoError>(!text->empty(), path.string(), ": 0 bytes found, ", expected, " expected");
  return {text, *text};
}

}  // namespace udv::io::detail
