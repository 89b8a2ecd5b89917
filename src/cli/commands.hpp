// SPDX-License-Identifier: MIT
#pragma once

#include "cli/command.hpp"

namespace udv::cli {

Command demo_command();
Command complete_command();
Command fold_in_command();
Command sense_command();
Command phase_command();
Command ptycho_command();
Command train_command();
Command predict_command();
Command evaluate_command();
Command sweep_command();
Command prune_command();
Command inspect_command();
Command export_command();
Command planted_command();
Command report_command();
Command reproduce_command();
Command watch_command();
Command finetune_command();
Command lora_command();
Command generate_command();

}  // namespace udv::cli
