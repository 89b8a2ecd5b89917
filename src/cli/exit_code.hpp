// SPDX-License-Identifier: MIT
#pragma once

namespace udv::cli {

/// What the program returns; part of its interface.
enum ExitCode {
  kDone = 0,
  kWrongUsage = 2,
  kBadInput = 3,      ///< a file or value that cannot be read or makes no sense
  kNotConverged = 4,  ///< diverged or reached a limit; results are written all the same
  kInternalError = 70,
  kInterrupted = 130,  ///< checkpoint written
};

}  // namespace udv::cli
