// SPDX-License-Identifier: MIT
#include "udv/net/files/adapter_file.hpp"

#include <deque>
#include <nlohmann/json.hpp>

#include "core/require.hpp"
#include "io/text.hpp"
#include "net/files/adapter_tensors.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/files/peft.hpp"

namespace udv::net {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kKey = "udv_adapter";

bool is_method(const std::string& name) {
  return name == "lora" || name == "lora-udv" || name == "adalora";
}

fs::path file_in(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown) ? path / "model.safetensors" : path;
}

// Method and base model.
void read_description(const io::SafetensorsFile& file, Adapter& adapter) {
  const auto text = file.metadata().find(kKey);
  require<IoError>(text != file.metadata().end(), file.name(), ": no '", kKey,
                   "' in its metadata: not an adapter that udv wrote");
  const Json json = Json::parse(text->second, nullptr, false);
  const auto word = [&](const char* key) {
    require<IoError>(json.is_object() && json.contains(key) && json[key].is_string(), file.name(),
                     ": no text '", key, "' in '", kKey, "' of its metadata");
    return json[key].get<std::string>();
  };
  adapter.method = word("method");
  require<IoError>(is_method(adapter.method), file.name(), ": method ",
                   io::detail::in_quotes(adapter.method),
                   " found, lora, lora-udv or adalora expected");
  adapter.base_model = word("base_model");
}

Adapter read_native(const fs::path& path) {
  const io::SafetensorsFile file(path);
  Adapter adapter;
  adapter.metadata = file.metadata();
  read_description(file, adapter);
  for (const char* own : {"udv", kKey}) adapter.metadata.erase(own);
  adapter.number_type = number_type_of(file);
  const BlockTensors blocks =
      tensors_by_block(file, "", {{".A", 'A'}, {".d", 'd'}, {".B", 'B'}}, "");
  for (const auto& [name, parts] : blocks) {
    AdapterBlock block = read_factors(file, name, parts);
    const auto d = parts.find('d');
    require<IoError>(d != parts.end(), file.name(), ": block '", name, "' has no factor d");
    block.d = read_numbers(file, *d->second, block.A.rows());
    adapter.blocks.push_back(std::move(block));
  }
  return adapter;
}

}  // namespace

AdapterKind adapter_kind(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_regular_file(path / "adapter_config.json", unknown)) return AdapterKind::kPeft;
  const fs::path file = file_in(path);
  if (!fs::is_regular_file(file, unknown)) return AdapterKind::kNone;
  try {
    return io::SafetensorsFile(file).metadata().contains(kKey) ? AdapterKind::kNative
                                                               : AdapterKind::kNone;
  } catch (const IoError&) {
    return AdapterKind::kNone;
  }
}

void write_adapter(const fs::path& path, const Adapter& adapter) {
  require(is_method(adapter.method), "adapter: method '", adapter.method,
          "' found, lora, lora-udv or adalora expected");
  std::map<std::string, std::string> metadata = adapter.metadata;
  metadata["udv"] = version();
  metadata[kKey] = Json{{"method", adapter.method}, {"base_model", adapter.base_model}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  std::deque<std::string> bytes;  // tensors are views of them
  std::vector<io::Tensor> tensors;
  const auto add = [&](const std::string& name, std::vector<Index> shape, const float* values) {
    io::Tensor tensor{name, adapter.number_type, std::move(shape), {}};
    bytes.push_back(io::tensor_bytes(tensor.type, values, tensor.size()));
    tensor.bytes = bytes.back();
    tensors.push_back(std::move(tensor));
  };
  for (const AdapterBlock& block : adapter.blocks) {
    add(block.name + ".A", {block.A.rows(), block.A.cols()}, block.A.data());
    add(block.name + ".d", {block.d.size()}, block.d.data());
    add(block.name + ".B", {block.B.rows(), block.B.cols()}, block.B.data());
  }
  io::write_atomically(path, io::safetensors_bytes(tensors, metadata));
}

Adapter read_adapter(const fs::path& path) {
  return adapter_kind(path) == AdapterKind::kPeft ? read_peft(path) : read_native(file_in(path));
}

}  // namespace udv::net
