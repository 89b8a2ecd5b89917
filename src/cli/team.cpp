// SPDX-License-Identifier: MIT
#include "cli/team.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "cli/exit_code.hpp"
#include "core/hash.hpp"
#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeout = 1800;  // seconds that a rank waits for the others
// Seconds after which an error is one of this rank alone: OpenMPI takes two of them to kill.
constexpr std::chrono::seconds kOthersFirst{4};

// The largest of some variables that are whole numbers.
template <std::size_t count>
int largest_of(const std::array<const char*, count>& variables, int least) {
  for (const char* const variable : variables)
    if (const char* const text = std::getenv(variable)) least = std::max(least, std::atoi(text));
  return least;
}

// As OpenMPI, MPICH, Intel MPI and Slurm say it.
int processes_started() {
  return largest_of(
      std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}

int rank_started() {
  return largest_of(std::array{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}, 0);
}

fs::path this_program() {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/exe", unknown);
}

// Beside the program, or where it is installed.
fs::path module_file() {
  const fs::path folder = this_program().parent_path();
  const fs::path beside = folder / "libudv_mpi.so", installed = folder / UDV_MPI_MODULE;
  std::error_code unknown;
  return fs::exists(beside, unknown) || !fs::exists(installed, unknown) ? beside : installed;
}

// What the module calls by this name; the name decides the type.
template <typename Symbol>
Symbol* symbol_of(void* module, const char* name) {
  return reinterpret_cast<Symbol*>(dlsym(module, name));
}

void* open_module(int processes) {
  void* const module = dlopen(module_file().c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const why = module ? nullptr : dlerror();
  require<IoError>(module != nullptr, "one of ", processes,
                   " processes, but the MPI component cannot be loaded: ", why ? why : "unknown");
  const int* const found = symbol_of<const int>(module, "udv_team_version");
  require<IoError>(found && *found == kTeamVersion, module_file().string(), ": version ",
                   found ? *found : 0, " of the MPI component found, ", kTeamVersion, " expected");
  return module;
}

// UDV_MPI_TIMEOUT in seconds.
double timeout_seconds() {
  const char* const text = std::getenv("UDV_MPI_TIMEOUT");
  if (text == nullptr) return kTimeout;
  double seconds = 0;
  constexpr double kMost = 1e9;
  require<IoError>(parse_all(std::string_view(text), seconds) && seconds >= 1 && seconds <= kMost,
                   "UDV_MPI_TIMEOUT: '", text,
                   "' found, a number of seconds from 1 to 1e9 expected");
  return seconds;
}

Team* join_team(int processes, int standard_error) {
  const double timeout = timeout_seconds();
  const auto join = symbol_of<Team*(const TeamRules&)>(open_module(processes), "udv_join_team");
  require<IoError>(join != nullptr, module_file().string(), ": not the MPI component of udv");
  Team* const team = join({timeout, standard_error, rank_started()});
  require<IoError>(team->size() > 1, "one of ", processes,
                   " processes, but MPI knows of one only: is the launcher that of another MPI?");
  return team;
}

// The file that contains this library, which may be the program.
std::string library_file() {
  Dl_info info;
  const bool known = dladdr(reinterpret_cast<const void*>(&version), &info) != 0 && info.dli_fname;
  return known ? info.dli_fname : this_program().string();
}

// Libraries choose their loops at run time: "OpenBLAS 0.3.21 ... Haswell, glibc 2.36".
std::string libraries() {
  using Text = char*();
  std::string text;
  for (const char* const name : {"openblas_get_config", "openblas_get_corename"})
    if (const auto get = symbol_of<Text>(RTLD_DEFAULT, name)) text += message(", ", get());
#ifdef __GLIBC__
  text += message(", glibc ", gnu_get_libc_version());
  if (const char* const tuned = std::getenv("GLIBC_TUNABLES")) text += message(" with ", tuned);
#endif
  return text;
}

// What decides the last bits: the program, its libraries, and what the processor can do.
std::string description(const Team& team) {
  std::string text = message(
      "udv ", version(), ", program ", fnv_hash(io::read_bytes(this_program())), ", library ",
      fnv_hash(io::read_bytes(library_file())), libraries(), ", ", team.library());
#if defined(__x86_64__)
  __builtin_cpu_init();
  text += message(", processor with", __builtin_cpu_supports("avx512f") ? " avx512f" : "",
                  __builtin_cpu_supports("avx512vl") ? " avx512vl" : "",
                  __builtin_cpu_supports("avx2") ? " avx2" : "",
                  __builtin_cpu_supports("fma") ? " fma" : "");
#endif
  return text;
}

void check_alike(const Team& team) {
  const auto all = gathered(description(team));
  for (std::size_t r = 1; r < all.size(); ++r)
    require<IoError>(all[r] == all[0], "rank 0 is ", all[0], "; rank ", r, " is ", all[r],
                     ": the same program and libraries on processors of one kind expected");
}

// Without a team every process finds out by itself. The first one says it and ends the others, so
// that they get to speak where the trouble is theirs alone.
void say_by_itself(const std::string& what) {
  const int rank = rank_started();
  if (rank > 0) std::this_thread::sleep_for(kOthersFirst);
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  std::fputs(message("udv: rank ", rank, " on ", host, ": ", what, "\n").c_str(), stderr);
}

// Commands that processes share, or of which each does its own part.
bool takes_processes(char** arguments) {
  if (!arguments[0] || !arguments[1]) return true;
  const std::string_view command = arguments[1];
  if (command == "complete") return true;
  // torchrun's variables, whoever has set them.
  if (command == "finetune" || command == "lora") return std::getenv("WORLD_SIZE") != nullptr;
  for (char** word = arguments + 1; *word; ++word)
    for (const char* const harmless : {"--help", "-h", "help", "--version", "version"})
      if (std::string_view(*word) == harmless) return true;
  if (command != "sweep") return false;
  for (char** word = arguments + 2; *word; ++word)
    if (std::string_view(*word).starts_with("--part")) return true;
  return false;
}

bool is_error(int exit_code) {
  return exit_code == kWrongUsage || exit_code == kBadInput || exit_code == kInternalError;
}

}  // namespace

int TeamMember::join(char** arguments) {
  const int processes = processes_started();
  if (processes < 2) return kDone;
  if (!takes_processes(arguments)) {
    say_by_itself(message("udv ", arguments[1], " runs in one process, ", processes,
                          " found that mpirun or srun has started"));
    return kWrongUsage;
  }
  if (!arguments[0] || !arguments[1] || std::strcmp(arguments[1], "complete") != 0) return kDone;
  try {
    standard_error_ = fcntl(2, F_DUPFD_CLOEXEC, 3);
    team_ = join_team(processes, standard_error_);
    use_ = std::make_unique<UseCommunicator>(*team_);
    if (!team_->is_root()) silence();
    check_alike(*team_);
  } catch (const IoError& error) {
    if (team_)
      std::fputs(message("udv: ", error.what(), "\n").c_str(), stderr);
    else
      say_by_itself(error.what());
    return kBadInput;
  }
  return kDone;
}

// What the other ranks print goes to a file in memory.
void TeamMember::silence() {
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
      std::this_thread::sleep_for(kOthersFirst);
      dprintf(standard_error_, "udv: rank %d: %s\n", team_->rank(), last_words().c_str());
    }
    std::fflush(nullptr);
    team_->abort(exit_code);
  }
  team_->finish();
  return exit_code;
}

}  // namespace udv::cli
