// SPDX-License-Identifier: MIT
#include "deep/script_file.hpp"

#include <filesystem>

#include "core/require.hpp"
#include "deep/runtime.hpp"

namespace udv::deep {

torch::jit::Module load_script(const std::string& path, torch::Device device) {
  require<IoError>(std::filesystem::is_regular_file(path), path,
                   ": no such file, a TorchScript file expected");
  try {
    return torch::jit::load(path, device);
  } catch (const c10::Error&) {
    throw IoError(message(path, ": not a TorchScript file that this LibTorch can read"));
  }
}

void save_script(const torch::jit::Module& module, const std::string& path) {
  guarded(path, [&] { module.save(path + ".tmp"); });
  std::error_code failure;
  std::filesystem::rename(path + ".tmp", path, failure);
  require<IoError>(!failure, path, ": cannot be written: ", failure.message());
}

}  // namespace udv::deep
