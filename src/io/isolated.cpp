// SPDX-License-Identifier: MIT
#include "isolated.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "array_layout.hpp"
#include "core/archive.hpp"
#include "core/require.hpp"
#include "unpacked_size.hpp"

namespace udv::io {

template <typename Archive>
void fields(Archive& archive, Variable& variable) {
  archive(variable.name, variable.shape, variable.type, variable.is_numeric);
}

namespace detail {
namespace {

constexpr double kSpareMemory = 1 << 30;  // of the child, besides what the numbers take
constexpr rlim_t kMostSeconds = 900;      // of processor time
constexpr std::size_t kMostText = 1 << 16;

enum class Kind : char { kAnswer = 'a', kError = 'e' };

/// One end of a pipe. A write that fails ends the child, whose parent is gone; a read that ends
/// early says that the child is.
class PipeEnd {
 public:
  explicit PipeEnd(int handle) : handle_(handle) {}
  ~PipeEnd() { ::close(handle_); }
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;

  void write(const void* data, std::size_t size) const {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t count = ::write(handle_, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) ::_exit(1);
      at += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  bool read(void* data, std::size_t size) const {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t count = ::read(handle_, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

  void write_text(const std::string& text) const {
    const std::uint64_t size = text.size();
    write(&size, sizeof size);
    write(text.data(), text.size());
  }
  bool read_text(std::string& text, std::uint64_t most) const {
    std::uint64_t size = 0;
    if (!read(&size, sizeof size) || size > most) return false;
    text.resize(size);
    return read(text.data(), size);
  }

 private:
  int handle_;
};

double file_bytes(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : static_cast<double>(size);
}

// Of this process now, which the child begins with.
double address_space() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void set_limit(int what, double value) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource>(what), &limit);
  constexpr double kLargest = 0x1p62;  // a file may announce more than a number can hold
  const auto wanted = static_cast<rlim_t>(std::min(value, kLargest));
  if (limit.rlim_cur == RLIM_INFINITY || wanted < limit.rlim_cur) limit.rlim_cur = wanted;
  ::setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

/// What a child does: it sends an answer, or throws.
using Work = std::function<void(const PipeEnd&)>;

[[noreturn]] void run_child(const PipeEnd& out, double memory, const Work& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
    std::signal(signal, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, static_cast<double>(kMostSeconds));
  set_limit(RLIMIT_AS, memory);
  const auto fail = [&](const std::string& text) {
    const Kind kind = Kind::kError;
    out.write(&kind, 1);
    out.write_text(text.substr(0, kMostText));
    ::_exit(0);
  };
  try {
    work(out);
  } catch (const IoError& error) {
    fail(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    fail(message(error.path1().string(), ": cannot be read: ", error.code().message()));
  } catch (const std::exception&) {
    fail("");
  }
  ::_exit(0);
}

/// How a child ended that has said nothing.
std::string end_text(int status) {
  if (!WIFSIGNALED(status)) return "ended without an answer";
  if (WTERMSIG(status) == SIGXCPU) return message("took more than ", kMostSeconds, " s");
  return message("crashed (", ::strsignal(WTERMSIG(status)), ")");
}

/// Runs `work` in a child; `receive` reads its answer and returns false where it ends early.
void run_isolated(const std::filesystem::path& path, double memory, const Work& work,
                  const std::function<bool(const PipeEnd&)>& receive) {
  int ends[2];
  require<IoError>(::pipe2(ends, O_CLOEXEC) == 0, path.string(),
                   ": no pipe to be had: ", std::strerror(errno));
  const double limit = address_space() + memory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    const PipeEnd out(ends[1]);
    run_child(out, limit, work);
  }
  ::close(ends[1]);
  const PipeEnd in(ends[0]);
  require<IoError>(child > 0, path.string(), ": no process to be had: ", std::strerror(errno));
  Kind kind{};
  std::string problem;
  bool whole = in.read(&kind, 1);
  if (whole) whole = kind == Kind::kAnswer ? receive(in) : in.read_text(problem, kMostText);
  if (!whole) ::kill(child, SIGKILL);  // it may wait for somebody who reads
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  require<IoError>(whole, path.string(), ": damaged: the library that reads it ", end_text(status));
  if (kind == Kind::kError)
    throw IoError(problem.empty() ? path.string() + ": takes more memory than its size allows for"
                                  : problem);
}

// `memory` besides what this process has now, `most`: of the text.
std::string isolated_text(const std::filesystem::path& path, double memory, std::uint64_t most,
                          const std::function<std::string()>& work) {
  std::string text;
  run_isolated(
      path, memory,
      [&](const PipeEnd& out) {
        const std::string found = work();
        const Kind kind = Kind::kAnswer;
        out.write(&kind, 1);
        out.write_text(found);
      },
      [&](const PipeEnd& in) { return in.read_text(text, most); });
  return text;
}

constexpr std::uint64_t kSpareText = 1 << 24;

}  // namespace

std::string text_isolated(const std::filesystem::path& path,
                          const std::function<std::string()>& work) {
  const double size = file_bytes(path);
  return isolated_text(path, kSpareMemory + 4 * size,
                       4 * static_cast<std::uint64_t>(size) + kSpareText, work);
}

std::vector<Variable> list_isolated(const VariableFormat& format,
                                    const std::filesystem::path& path) {
  if (!format.isolated) return format.list(path);
  const double size = file_bytes(path);
  const auto unpacked = most_unpacked(static_cast<std::uintmax_t>(size));
  const std::string bytes =
      isolated_text(path, kSpareMemory + 4 * size + 4 * static_cast<double>(unpacked),
                    64 * static_cast<std::uint64_t>(size) + kSpareText, [&] {
                      std::vector<Variable> found = format.list(path);
                      ArchiveWriter archive;
                      archive(found);
                      return archive.take();
                    });
  std::vector<Variable> variables;
  ArchiveReader archive(bytes);
  archive(variables);
  return variables;
}

ComplexArray read_isolated(const VariableFormat& format, const std::filesystem::path& path,
                           const Variable& variable, std::optional<Slices> slices) {
  const auto read = [&] {
    return slices ? format.read_slices(path, variable, *slices) : format.read(path, variable);
  };
  if (!format.isolated) return read();
  ComplexArray array{slices ? sliced_shape(variable.shape, *slices) : variable.shape, {}, false};
  const std::size_t count = element_count(array.shape).value_or(0);
  run_isolated(
      path, kSpareMemory + 4 * file_bytes(path) + 64 * static_cast<double>(count),
      [&](const PipeEnd& out) {
        const ComplexArray found = read();
        const Kind kind = Kind::kAnswer;
        const std::uint64_t size = found.values.size();
        out.write(&kind, 1);
        out.write(&found.is_complex, sizeof found.is_complex);
        out.write(&size, sizeof size);
        out.write(found.values.data(), size * sizeof found.values[0]);
      },
      [&](const PipeEnd& in) {
        std::uint64_t size = 0;
        if (!in.read(&array.is_complex, sizeof array.is_complex) || !in.read(&size, sizeof size) ||
            size > count)
          return false;
        array.values.resize(size);
        return in.read(array.values.data(), size * sizeof array.values[0]);
      });
  return array;
}

}  // namespace detail
}  // namespace udv::io
