// SPDX-License-Identifier: MIT
#include "core/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

#include "core/communicator.hpp"

namespace udv {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Tests have no room for so many entries.
Index usual_most() {
  constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
  const char* const text = std::getenv("UDV_MOST_ENTRIES");
  return text ? std::clamp<Index>(std::atoll(text), 1, kMost) : kMost;
}

Index most = usual_most();

// MemAvailable of the system; infinite where there is no such file.
double available_on_machine() {
  std::ifstream file("/proc/meminfo");
  constexpr double kKiB = 1024;
  std::string word;
  for (double kilobytes = 0; file >> word;)
    if (word == "MemAvailable:" && file >> kilobytes) return kKiB * kilobytes;
  return kInfinite;
}

double number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? number : kInfinite;  // "max" is none
}

// This process's control group (version 2) and those around it, as the process sees them.
double available_in_groups() {
  const std::filesystem::path root = "/sys/fs/cgroup";
  double least = available_in_group(root);  // that of a container
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::filesystem::path group = line.substr(4); !group.empty(); group = group.parent_path())
      least = std::min(least, available_in_group(root / group));
  }
  return least;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace

Index most_entries() {
  return most;
}

void set_most_entries(Index count) {
  most = count;
}

double available_in_group(const std::filesystem::path& folder) {
  const double limit = number_in(folder / "memory.max"),
               used = number_in(folder / "memory.current");
  if (limit == kInfinite || used == kInfinite) return kInfinite;
  std::ifstream file(folder / "memory.stat");
  double cached = 0, bytes = 0;
  for (std::string name; file >> name >> bytes;)
    if (name == "active_file" || name == "inactive_file") cached += bytes;
  return std::clamp(limit - used + cached, 0.0, limit);
}

double available_memory() {
  if (const char* const text = std::getenv("UDV_AVAILABLE_MEMORY"))
    return std::atof(text);  // tests
  return std::min(available_on_machine(), available_in_groups());
}

MachineNeed tightest_machine(double bytes_per_process) {
  std::ostringstream own;
  own << std::setprecision(17) << available_memory() << ' ' << host_name();
  std::map<std::string, MachineNeed> machines;
  for (const std::string& text : gathered(own.str())) {
    const std::size_t blank = text.find(' ');
    const double available = std::strtod(text.c_str(), nullptr);
    const std::string name = text.substr(blank + 1);
    MachineNeed& machine =
        machines.try_emplace(name, MachineNeed{name, 0, 0, available}).first->second;
    ++machine.processes;
    machine.needed += bytes_per_process;
    machine.available = std::min(machine.available, available);
  }
  const auto tightest = std::max_element(
      machines.begin(), machines.end(),
      [](const auto& a, const auto& b) { return a.second.share() < b.second.share(); });
  return tightest->second;
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  std::ostringstream text;
  text << std::setprecision(3) << bytes << ' ' << units[unit];
  return text.str();
}

}  // namespace udv
