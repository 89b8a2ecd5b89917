// SPDX-License-Identifier: MIT
#pragma once

namespace udv::cli {

/// From now on Ctrl-C (or a polite kill) only sets a flag; a second one, a second or
/// more later, ends the program at once.
void catch_interrupts();
bool interrupted();

}  // namespace udv::cli
