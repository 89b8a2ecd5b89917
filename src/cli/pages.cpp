// SPDX-License-Identifier: MIT
#include "cli/pages.hpp"

#include <filesystem>

#include "cli/deep_program.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
namespace {

struct PagesOptions {
  std::string folder;
};

void describe(OptionTable& table, PagesOptions& options) {
  table.add("folder", options.folder, "Folder for the pages").is_input().called("FOLDER");
}

void write_pages(const std::filesystem::path& folder, const std::vector<Page>& pages) {
  for (const Page& page : pages) {
    io::make_folder((folder / page.path).parent_path());
    io::write_atomically(folder / page.path, page.text);
  }
}

}  // namespace

std::vector<Page> all_pages(const Commands& commands) {
  std::vector<Page> pages = manual_pages(commands);
  pages.push_back({"completions/udv.bash", bash_completion(commands)});
  pages.push_back({"completions/_udv", zsh_completion(commands)});
  pages.push_back({"completions/udv.fish", fish_completion(commands)});
  pages.push_back({"commands.md", reference_page(commands)});
  return pages;
}

Command pages_command(Commands (*all_commands)()) {
  const auto options = std::make_shared<PagesOptions>();
  Command command;
  command.name = "pages";
  command.summary = "Write manual pages, completion scripts and the reference page";
  command.hidden = true;
  describe(command.table, *options);
  command.run = [options, all_commands] {
    prefer_deep_program();  // it has the tables of all commands
    write_pages(options->folder, all_pages(all_commands()));
    return kDone;
  };
  return command;
}

}  // namespace udv::cli
