// SPDX-License-Identifier: MIT
#include "cli/export_adapter.hpp"

#include <fmt/format.h>

#include "udv/core/error.hpp"
#include "udv/net/peft.hpp"

namespace udv::cli {

void write_adapter_files(const std::filesystem::path& folder, const net::Adapter& adapter,
                         net::AdapterKind kind, bool compact) {
  if (kind == net::AdapterKind::kPeft) {
    net::write_peft(folder, adapter, compact ? net::PeftForm::kCompact : net::PeftForm::kPadded);
    return;
  }
  // A diverged training writes its adapter as it is; here it would be taken for a good one.
  for (const net::AdapterBlock& block : adapter.blocks)
    require<IoError>(block.A.allFinite() && block.d.allFinite() && block.B.allFinite(),
                     folder.string(), ": block '", block.name,
                     "' is too large for single precision: its factors are not finite");
  net::write_adapter(folder / "model.safetensors", adapter);
}

ExitCode export_adapter(const std::string& path, const std::string& format, bool compact,
                        const CommonFlags& common) {
  require<IoError>(format == "peft" || format == "safetensors", path,
                   ": an adapter found, which goes to peft or safetensors, not to ", format);
  const net::Adapter adapter = net::read_adapter(path);
  const bool peft = format == "peft";
  if (peft) net::check_for_peft(path, adapter);
  const auto folder = make_run_folder(common, "export");
  write_adapter_files(folder, adapter, peft ? net::AdapterKind::kPeft : net::AdapterKind::kNative,
                      compact);
  if (!common.quiet) fmt::print("  results        {}\n", folder.string());
  return kDone;
}

}  // namespace udv::cli
