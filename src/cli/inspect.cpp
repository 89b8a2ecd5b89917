// SPDX-License-Identifier: MIT
#include "udv/jobs/inspect.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

struct InspectFlags {
  jobs::InspectInput input;
  jobs::InspectOptions options;
};

void describe(OptionTable& table, InspectFlags& flags) {
  describe(table, flags.input);
  describe(table, flags.options);
}

void print(const jobs::InspectReport::Fact& fact) {
  fmt::print("  {:<18} {}\n", fact.name, fact.value);
}

void print(const jobs::InspectReport::Table& table) {
  fmt::print("\n{}", report::table(table.header, table.rows));
  if (!table.note.empty()) fmt::print("  {}\n", table.note);
}

ExitCode run_inspect(const InspectFlags& flags) {
  const jobs::InspectReport found = jobs::inspect(flags.input, flags.options);
  for (const auto& part : found.parts) std::visit([](const auto& one) { print(one); }, part);
  return kDone;
}

}  // namespace

Command inspect_command() {
  return plain_command("inspect", "Show what is in a file that udv reads or writes", run_inspect);
}

}  // namespace udv::cli
