// SPDX-License-Identifier: MIT
#include "udv/report/report.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "core/require.hpp"
#include "udv/io/expansion.hpp"

namespace udv::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> folders;
  std::string out = "report.html", title = "udv report";
  double max_expand = 0;
};

void describe(OptionTable& table, ReportOptions& options) {
  table
      .add_each("folders", options.folders, "Folders of runs, or folders that contain such folders")
      .is_input()
      .called("FOLDER");
  table.add("out", options.out, "HTML file to write").called("FILE");
  table.add("title", options.title, "Title of the page");
  io::add_max_expand(table, options.max_expand);
}

ExitCode run_report(const ReportOptions& options) {
  io::set_max_expand(options.max_expand);
  const std::vector<std::filesystem::path> folders(options.folders.begin(), options.folders.end());
  require<IoError>(!std::filesystem::is_directory(options.out), options.out,
                   ": a folder found, the name of an HTML file expected");
  for (const std::string& problem : report::write_report(options.out, options.title, folders))
    warn(problem);
  fmt::print("  {}\n", options.out);
  return kDone;
}

}  // namespace

Command report_command() {
  return plain_command("report", "Make one HTML page of finished runs: charts, tables, pictures",
                       run_report);
}

}  // namespace udv::cli
