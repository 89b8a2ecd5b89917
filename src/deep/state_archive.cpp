// SPDX-License-Identifier: MIT
#include "deep/state_archive.hpp"

#include <sstream>

#include "udv/core/error.hpp"

namespace udv::deep {

using torch::Tensor;

std::string pack_arrays(const std::string& settings, const std::vector<Tensor>& arrays) {
  torch::serialize::OutputArchive archive;
  archive.write("settings", torch::jit::IValue(settings));
  archive.write("count", torch::jit::IValue(static_cast<std::int64_t>(arrays.size())));
  for (size_t i = 0; i < arrays.size(); ++i)
    archive.write(message("t", i),
                  arrays[i].detach().to(torch::kCPU).clone(at::MemoryFormat::Contiguous));
  std::ostringstream bytes;
  archive.save_to(bytes);
  return bytes.str();
}

std::vector<Tensor> unpack_arrays(const std::string& bytes, const std::string& settings,
                                  const std::string& command) {
  torch::serialize::InputArchive archive;
  std::istringstream stream(bytes);
  torch::jit::IValue found, count;
  std::vector<Tensor> arrays;
  try {
    archive.load_from(stream);
    archive.read("settings", found);
    archive.read("count", count);
    require(found.isString() && count.isInt(), "no settings");
    for (std::int64_t i = 0; i < count.toInt(); ++i) {
      arrays.emplace_back();
      archive.read(message("t", i), arrays.back());
    }
  } catch (const std::exception&) {
    throw InvalidArgument(message("not a checkpoint of ", command, ", or damaged"));
  }
  require(found.toStringRef() == settings,
          "made by a run of another model or with other settings (", found.toStringRef(), ")");
  return arrays;
}

}  // namespace udv::deep
