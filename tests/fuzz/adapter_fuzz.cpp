// SPDX-License-Identifier: MIT
// Adapters of udv and of PEFT: the tensors, or the configuration beside tensors that are whole. The
// first byte chooses.
#include "input_file.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/adapter_file.hpp"
#include "udv/net/files/peft.hpp"

using namespace udv;

namespace {

const char kConfig[] =
    R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "base_model_name_or_path": "m",
  "target_modules": ["q"], "rank_pattern": {"b.q": 1}, "alpha_pattern": {"b.q": 8}})";

// A folder with one whole file beside the one that is fuzzed.
struct PeftFolder {
  PeftFolder(const char* fuzzed, const char* whole, const std::string& bytes) : file(fuzzed) {
    io::write_atomically(file.write("").parent_path() / whole, bytes);
  }
  fuzz::InputFile file;
};

std::string whole_tensors() {
  const fuzz::InputFile file("unused");
  const std::filesystem::path folder = file.write("").parent_path() / "peft";
  std::filesystem::create_directory(folder);
  net::Adapter adapter;
  for (const char* const name : {"a.q", "b.q"}) {
    net::AdapterBlock block;
    block.name = name;
    const Index rank = name[0] == 'a' ? 2 : 1;
    block.A = RowMatrix<float>::Ones(rank, 3);
    block.d = Vector<float>::Ones(rank);
    block.B = RowMatrix<float>::Ones(4, rank);
    adapter.blocks.push_back(block);
  }
  net::write_peft(folder, adapter, net::PeftForm::kCompact);
  return io::read_bytes(folder / "adapter_model.safetensors");
}

// A message names the file that is at fault: either of the two.
void read_folder(const std::filesystem::path& path) {
  fuzz::read_or_refuse(path.parent_path(), [](const auto& folder) { net::read_peft(folder); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile native("adapter.safetensors");
  static const PeftFolder config("adapter_config.json", "adapter_model.safetensors",
                                 whole_tensors());
  static const PeftFolder tensors("adapter_model.safetensors", "adapter_config.json", kConfig);
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::view(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      read_folder(config.file.write(bytes));
      break;
    case 1:
      read_folder(tensors.file.write(bytes));
      break;
    default:
      fuzz::read_or_refuse(native.write(bytes), [](const auto& path) { net::read_adapter(path); });
  }
  return 0;
}
