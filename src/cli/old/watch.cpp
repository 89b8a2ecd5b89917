// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/interrupt.hpp"
#include "cli/watch_server.hpp"

namespace udv::cli {
namespace {

struct Flags {
  std::string folder;
  int port = 0;
  double time_limit = 0;
};

ExitCode run_watch(const Flags& flags) {
  WatchServer server(flags.folder);
  const int port = server.bind(flags.port);
  fmt::print("  http://127.0.0.1:{}/   (Ctrl-C ends it)\n", port);
  std::fflush(stdout);
  catch_interrupts();
  const auto start = std::chrono::steady_clock::now();
  server.serve([&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return interrupted() || (flags.time_limit > 0 && passed.count() > flags.time_limit);
  });
  return kDone;
}

}  // namespace

Run setup_watch(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(
      "watch", "Follows a running job on a local page: progress, objective, spectrum, rank");
  command->add_option("folder", flags->folder, "The folder of the run, its --out")->required();
  command->add_option("--port", flags->port, "Port on 127.0.0.1 (default: any)")
      ->check(CLI::Range(1, 65535));
  command->add_option("--time-limit", flags->time_limit, "End after so many seconds")
      ->check(positive());
  return [flags] { return run_watch(*flags); };
}

}  // namespace udv::cli
