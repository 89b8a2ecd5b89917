// SPDX-License-Identifier: MIT
#include "cli/team.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/exit_code.hpp"
#include "core/hash.hpp"
#include "core/require.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeout = 1800;     // seconds that a rank waits for the others
constexpr unsigned kOthersFirst = 2;  // seconds after which an error is one of this rank alone

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

// As OpenMPI, MPICH, Intel MPI and Slurm say it.
int processes_started() {
  int most = 1;
  for (const char* const variable :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"})
    most = std::max(most, number_in(variable));
  return most;
}

fs::path this_program() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown);
}

// Beside the program, or where it is installed.
fs::path module_file() {
  const fs::path folder = this_program().parent_path();
  const fs::path beside = folder / "libudv_mpi.so";
  std::error_code unknown;
  if (fs::exists(beside, unknown)) return beside;
  for (const char* const place : {"../lib/udv", "../lib/x86_64-linux-gnu/udv", "../lib64/udv"}) {
    const fs::path file = folder / place / "libudv_mpi.so";
    if (fs::exists(file, unknown)) return file;
  }
  return beside;
}

Team* join_team(int processes) {
  void* const module = dlopen(module_file().c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const why = module ? nullptr : dlerror();
  require<IoError>(module != nullptr, "one of ", processes,
                   " processes, but the MPI component cannot be loaded: ", why ? why : "unknown");
  const auto join = reinterpret_cast<JoinTeam>(dlsym(module, "udv_join_team"));
  require<IoError>(join != nullptr, module_file().string(), ": not the MPI component of udv");
  const char* const timeout = std::getenv("UDV_MPI_TIMEOUT");
  Team* const team = join(timeout ? std::max(1.0, std::atof(timeout)) : kTimeout);
  require<IoError>(team->size() > 1, "one of ", processes,
                   " processes, but MPI knows of one only: is the launcher that of another MPI?");
  return team;
}

// What decides the last bits: the program, and what the processor can do.
std::string description() {
  const std::string program = io::read_bytes(this_program());
  std::string text = message("udv ", version(), ", program ", fnv_hash(program));
#if defined(__x86_64__)
  __builtin_cpu_init();
  text += message(", processor with", __builtin_cpu_supports("avx512f") ? " avx512f" : "",
                  __builtin_cpu_supports("avx2") ? " avx2" : "",
                  __builtin_cpu_supports("fma") ? " fma" : "");
#endif
  return text;
}

void check_alike() {
  const auto all = gathered(description());
  for (std::size_t r = 1; r < all.size(); ++r)
    require<IoError>(all[r] == all[0], "rank 0 is ", all[0], "; rank ", r, " is ", all[r],
                     ": the same program on processors of one kind expected");
}

bool is_error(int exit_code) {
  return exit_code == kWrongUsage || exit_code == kBadInput || exit_code == kInternalError;
}

}  // namespace

bool TeamMember::join(char** arguments) {
  const int processes = processes_started();
  const bool completes = arguments[0] && arguments[1] && !std::strcmp(arguments[1], "complete");
  if (processes < 2 || !completes) return true;
  try {
    team_ = join_team(processes);
    use_ = std::make_unique<UseCommunicator>(*team_);
    if (!team_->is_root()) silence();
    check_alike();
    return true;
  } catch (const IoError& error) {
    // Without a team every process finds out by itself; the first one says it.
    const bool first = team_ || number_in("OMPI_COMM_WORLD_RANK") + number_in("PMI_RANK") +
                                        number_in("PMIX_RANK") + number_in("SLURM_PROCID") ==
                                    0;
    if (first) std::fputs(message("udv: ", error.what(), "\n").c_str(), stderr);
    return false;
  }
}

// What the other ranks print goes to a file in memory.
void TeamMember::silence() {
  standard_error_ = dup(2);
  kept_ = memfd_create("udv", MFD_CLOEXEC);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  std::fflush(stdout);
  if (nowhere >= 0) dup2(nowhere, 1);
  if (kept_ >= 0) dup2(kept_, 2);
}

// The first line of an error that was kept; warnings are those of rank 0, too.
std::string TeamMember::last_words() const {
  std::string text(1 << 16, '\0');
  const ssize_t size = kept_ < 0 ? 0 : pread(kept_, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::size_t at = 0;
  while (text.compare(at, 13, "udv: warning:") == 0) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) return "";
    at = end + 1;
  }
  if (text.compare(at, 5, "udv: ") == 0) at += 5;
  return text.substr(at, text.find('\n', at) - at);
}

int TeamMember::leave(int exit_code) {
  if (!team_) return exit_code;
  if (is_error(exit_code)) {
    if (!team_->is_root()) {
      // Rank 0 ends all where it has the same error.
      sleep(kOthersFirst);
      dprintf(standard_error_, "udv: rank %d: %s\n", team_->rank(), last_words().c_str());
    }
    std::fflush(nullptr);
    team_->abort(exit_code);
  }
  team_->finish();
  return exit_code;
}

}  // namespace udv::cli
