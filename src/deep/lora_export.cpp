// SPDX-License-Identifier: MIT
#include "deep/lora_export.hpp"

#include "jobs/adapter_files.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {

void export_lora(const std::filesystem::path& folder, const net::Adapter& adapter,
                 const LoraJobOptions& options, const deep::TextModel& model, Session& session) {
  io::make_folder(folder);
  if (options.export_to == "merged") {
    // The model in memory may have half precision and other adapters.
    deep::LanguageModel merged = deep::LanguageModel::read(model.path, {"cpu", "single"});
    merged.set_adapter(adapter);
    merged.merge_adapters();
    merged.write(folder);
    text::write_tokenizer(folder, *model.tokenizer);
  } else if (adapter.parameters() > 0) {
    write_adapter_files(folder, adapter, net::AdapterKind::kPeft, options.compact);
  } else {
    session.listener().warning(folder.string() +
                               ": all blocks have rank 0, there is no PEFT adapter to write");
  }
}

}  // namespace udv::jobs
