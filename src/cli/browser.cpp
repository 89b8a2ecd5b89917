// SPDX-License-Identifier: MIT
#include "cli/browser.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool has_screen() {
  return ::isatty(STDOUT_FILENO) == 1 &&
         !(variable("DISPLAY") + variable("WAYLAND_DISPLAY")).empty();
}

// Empty where it cannot be had.
fs::path private_folder() {
  std::error_code failure;
  fs::path place = variable("XDG_RUNTIME_DIR");
  if (place.empty()) place = fs::temp_directory_path(failure);
  std::string name = (place / "udv-watch-XXXXXX").string();
  return ::mkdtemp(name.data()) ? fs::path(name) : fs::path();
}

// $BROWSER is a list of commands; "%s" in them stands for the page, which else comes last.
std::vector<std::string> browser_words(const std::string& page) {
  const std::string browser = variable("BROWSER");
  std::istringstream stream(browser.substr(0, browser.find(':')));
  std::vector<std::string> words;
  bool named = false;
  for (std::string word; stream >> word; words.push_back(word))
    if (const auto at = word.find("%s"); at != word.npos) {
      word.replace(at, 2, page);
      named = true;
    }
  if (words.empty()) words = {"xdg-open"};
  if (!named) words.push_back(page);
  return words;
}

// In a group of its own: Ctrl-C is not meant for it.
void start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int handle : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, handle, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  ::posix_spawnp(&process, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

}  // namespace

ShownAddress::ShownAddress(const std::string& address) {
  if (!has_screen()) return;
  folder_ = private_folder();
  if (folder_.empty()) return;
  const fs::path page = folder_ / "watch.html";
  std::ofstream(page) << fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\"><a href=\"{0}\">udv watch</a>\n",
      address);
  start(browser_words(page.string()));
}

ShownAddress::~ShownAddress() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace udv::cli
