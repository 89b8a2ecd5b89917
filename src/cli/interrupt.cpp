// SPDX-License-Identifier: MIT
#include "cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>

#include "cli/exit_code.hpp"

namespace udv::cli {
namespace {

// Signals that follow each other at once are one wish: a terminal and a supervisor may both send
// theirs. Only a later one ends the program without a checkpoint.
constexpr double kSecondWish = 1;

volatile std::sig_atomic_t signals_seen = 0;
volatile double first_seconds = 0;

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void on_signal(int) {
  if (signals_seen == 0) {
    first_seconds = seconds_now();
    signals_seen = 1;
  } else if (seconds_now() - first_seconds > kSecondWish) {
    _exit(kInterrupted);
  }
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);  // mpirun passes it on to all processes
  struct sigaction hangup = {};          // ignored where the program was started with nohup
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() {
  return signals_seen > 0;
}

}  // namespace udv::cli
