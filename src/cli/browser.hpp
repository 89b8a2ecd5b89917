// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace udv::cli {

/// Shows an address in the user's browser ($BROWSER, else xdg-open) where there is a graphical
/// session and standard output is a terminal; else nothing. Waits for nobody, and what goes wrong
/// is no error. The browser gets a file that only the user may read and that leads to the address:
/// arguments of processes are seen by everybody. The file goes in the end.
class ShownAddress {
 public:
  explicit ShownAddress(const std::string& address);
  ~ShownAddress();
  ShownAddress(const ShownAddress&) = delete;
  ShownAddress& operator=(const ShownAddress&) = delete;

 private:
  std::filesystem::path folder_;
};

}  // namespace udv::cli
