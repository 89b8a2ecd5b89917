// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "udv/core/options.hpp"

namespace udv::deep {

class Processes;

/// The device that a model runs on, the precision of its numbers, and the processes that share the
/// work.
struct Placement {
  std::string device = "cpu";      ///< or cuda
  std::string precision = "auto";  ///< single or bf16; auto: bf16 on cuda
  double process_timeout = 600;    ///< seconds without an answer until a process counts as lost
  std::shared_ptr<Processes> processes = nullptr;  ///< nullptr: this one alone
};
void describe(OptionTable& table, Placement& placement);
/// What trainings by several processes need besides.
void describe_processes(OptionTable& table, Placement& placement);

}  // namespace udv::deep
