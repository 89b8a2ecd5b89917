// SPDX-License-Identifier: MIT
#include "cli/lora_export.hpp"

#include "cli/common.hpp"
#include "cli/export_adapter.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {

void LoraExport::prepare(const std::filesystem::path& folder) const {
  if (!to.empty()) io::make_folder(folder / to);
}

void LoraExport::write(const std::filesystem::path& folder, const net::Adapter& whole,
                       const std::string& model, const deep::Tokenizer& tokenizer) const {
  if (to.empty()) return;
  prepare(folder);
  const net::Adapter adapter = energy < 1 ? net::prune_to_energy(whole, energy) : whole;
  if (to == "merged") {
    deep::LanguageModel merged = deep::LanguageModel::read(model, {"cpu", "single"});
    merged.set_adapter(adapter);
    merged.merge_adapters();
    merged.write(folder / to);
    deep::write_tokenizer(folder / to, tokenizer);
  } else if (adapter.parameters() > 0) {
    write_adapter_files(folder / to, adapter, net::AdapterKind::kPeft, compact);
  } else {
    warn((folder / to).string() + ": all blocks have rank 0, there is no PEFT adapter to write");
  }
}

}  // namespace udv::cli
