// SPDX-License-Identifier: MIT
#include "udv/report/report.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "udv/core/error.hpp"

namespace udv::cli {
namespace {

struct Flags {
  std::vector<std::string> folders;
  std::string out = "report.html", title = "udv report";
};

ExitCode run_report(const Flags& flags) {
  const std::vector<std::filesystem::path> folders(flags.folders.begin(), flags.folders.end());
  require<IoError>(!std::filesystem::is_directory(flags.out), flags.out,
                   ": a folder found, the name of an HTML file expected");
  report::write_report(flags.out, flags.title, folders);
  fmt::print("  {}\n", flags.out);
  return kDone;
}

}  // namespace

Run setup_report(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command =
      program.add_subcommand("report", "One HTML page of finished runs: charts, tables, pictures");
  command->add_option("folders", flags->folders, "Folders of runs, or folders of such")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--out", flags->out, "The HTML file")->capture_default_str();
  command->add_option("--title", flags->title, "Its title")->capture_default_str();
  return [flags] { return run_report(*flags); };
}

}  // namespace udv::cli
