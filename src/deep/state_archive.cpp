// SPDX-License-Identifier: MIT
#include "deep/state_archive.hpp"

#include <sstream>

#include "core/require.hpp"

namespace udv::deep {

using torch::Tensor;

std::string pack_arrays(const std::vector<Tensor>& arrays) {
  torch::serialize::OutputArchive archive;
  archive.write("count", torch::jit::IValue(static_cast<std::int64_t>(arrays.size())));
  for (size_t i = 0; i < arrays.size(); ++i)
    archive.write(message("t", i),
                  arrays[i].detach().to(torch::kCPU).clone(at::MemoryFormat::Contiguous));
  std::ostringstream bytes;
  archive.save_to(bytes);
  return bytes.str();
}

std::vector<Tensor> unpack_arrays(const std::string& bytes) {
  torch::serialize::InputArchive archive;
  std::istringstream stream(bytes);
  torch::jit::IValue count;
  std::vector<Tensor> arrays;
  try {
    archive.load_from(stream);
    archive.read("count", count);
    require(count.isInt(), "no number of arrays");
    for (std::int64_t i = 0; i < count.toInt(); ++i) {
      arrays.emplace_back();
      archive.read(message("t", i), arrays.back());
    }
  } catch (const std::exception&) {
    throw InvalidArgument("not a checkpoint of this training, or damaged");
  }
  return arrays;
}

}  // namespace udv::deep
