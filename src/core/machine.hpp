// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// A process numbers the entries that it holds by 32 bits, which halves the memory of a pattern:
/// 2^31 - 1 of them, fewer in tests.
UDV_EXPORT Index most_entries();
UDV_EXPORT void set_most_entries(Index count);

/// Bytes that this process may still take: what the system calls available, or what its control
/// group leaves, as Slurm and containers set it. Infinite where nobody tells.
UDV_EXPORT double available_memory();
/// What the control group with this folder (version 2) leaves: files in memory can go. Infinite
/// where it has no limit.
UDV_EXPORT double available_in_group(const std::filesystem::path& folder);

/// What several processes want to take of the memory of one machine.
struct MachineNeed {
  std::string name;
  int processes = 0;     ///< on this machine
  double needed = 0;     ///< bytes, of all of them
  double available = 0;  ///< bytes

  double share() const { return needed / available; }
};

/// The machine with the least room for so many bytes in each process. Collective.
UDV_EXPORT MachineNeed tightest_machine(double bytes_per_process);

/// "1.6 GB", in the largest unit that leaves no leading zero.
UDV_EXPORT std::string bytes_text(double bytes);

}  // namespace udv
