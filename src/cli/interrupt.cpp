// SPDX-License-Identifier: MIT
#include "cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "cli/exit_code.hpp"

namespace udv::cli {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
  if (signals_seen > 0) _exit(kInterrupted);
  signals_seen = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return signals_seen > 0;
}

}  // namespace udv::cli
