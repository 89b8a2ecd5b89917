// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "cli/browser.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/watch_server.hpp"

namespace udv::cli {
namespace {

constexpr double kLargestPort = 65535;

struct WatchOptions {
  std::string folder;
  int port = 0;           ///< 0: any
  double time_limit = 0;  ///< seconds; 0: none
  bool open = true;
};

void describe(OptionTable& table, WatchOptions& options) {
  table.add("folder", options.folder, "Folder of the run, its --out").is_input().called("FOLDER");
  table.add("port", options.port, "Port on 127.0.0.1")
      .between(1, kLargestPort)
      .default_is("any that is free");
  table.add("time-limit", options.time_limit, "End after this time")
      .positive()
      .measured_in("seconds")
      .default_is("none");
  table
      .add("open", options.open,
           "Open the page in the browser where there is a graphical session (BROWSER, xdg-open)")
      .as_switch_word();
}

ExitCode run_watch(const WatchOptions& options) {
  WatchServer server(options.folder);
  const int port = server.bind(options.port);
  const std::string address = fmt::format("http://127.0.0.1:{}/{}/", port, server.token());
  fmt::print("  {}   (Ctrl-C ends it)\n", address);
  std::fflush(stdout);
  catch_interrupts();
  std::optional<ShownAddress> shown;
  if (options.open) shown.emplace(address);
  const auto start = std::chrono::steady_clock::now();
  server.serve([&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return interrupted() || (options.time_limit > 0 && passed.count() > options.time_limit);
  });
  return kDone;
}

}  // namespace

Command watch_command() {
  return plain_command("watch",
                       "Follow a running job on a local page: progress, objective, spectrum, rank",
                       run_watch);
}

}  // namespace udv::cli
