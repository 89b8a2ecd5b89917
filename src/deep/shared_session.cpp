// SPDX-License-Identifier: MIT
#include "deep/shared_session.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "udv/core/parallel.hpp"

namespace udv::jobs {
namespace {

RunOptions without_folder(RunOptions options) {
  options.out = "";
  options.resume = false;
  return options;
}

}  // namespace

SharedSession::SharedSession(Session& session, std::shared_ptr<deep::Processes> processes)
    : session_(session) {
  if (!processes) return;
  if (!processes->is_first())
    silent_.emplace(without_folder(session.options()), &session.listener());
  if (session.options().threads == 0)
    set_num_threads(std::max(1, num_threads() / processes->local_size()));
}

bool interrupted(const Session& session, const std::shared_ptr<deep::Processes>& processes) {
  const bool here = session.interrupted();
  return processes ? processes->largest(here ? 1 : 0) > 0 : here;
}

Hooks shared_hooks(Run& run, const std::shared_ptr<deep::Processes>& processes,
                   const ProgressTotal& total, const ProgressWords& words) {
  Hooks hooks;
  run_on_all(processes, [&] { hooks = run.hooks(total, words); });
  if (processes) hooks.resume = processes->broadcast(hooks.resume);
  return hooks;
}

void check_processes(const std::shared_ptr<deep::Processes>& processes, const OptionTable& table,
                     Index batch) {
  if (!processes) return;
  std::string lines;
  for (const auto& [name, value] : table.config()) lines += settings_text({{name, value}}) + "\n";
  processes->check_equal("settings", lines);
  processes->run_on_all([&] {
    if (batch > 0 && batch < processes->size())
      throw OptionError("batch", message("'", batch, "' found, at least ", processes->size(),
                                         " expected: one for each process"));
  });
}

void check_same_input(const std::shared_ptr<deep::Processes>& processes, const std::string& what,
                      std::uint64_t hash) {
  if (processes) processes->check_equal(what, message("bytes with the hash ", hash));
}

}  // namespace udv::jobs
