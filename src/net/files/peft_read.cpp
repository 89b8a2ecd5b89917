// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/require.hpp"
#include "net/files/adapter_tensors.hpp"
#include "net/files/peft_config.hpp"
#include "udv/net/files/peft.hpp"

namespace udv::net {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOthers = " (DoRA, biases, embeddings and modules_to_save are not supported)";

// LoRA of a linear layer: alpha / r B A, or alpha / sqrt(r) B A.
class LoraReader {
 public:
  explicit LoraReader(const PeftSettings& settings)
      : settings_(settings),
        rank_(settings.number("r")),
        alpha_(settings.number("lora_alpha")),
        root_(settings.flag("use_rslora")),
        ranks_(settings.pattern("rank_pattern")),
        alphas_(settings.pattern("alpha_pattern")) {}

  std::vector<TensorEnding> endings() const {
    return {{".lora_A.weight", 'A'}, {".lora_B.weight", 'B'}};
  }

  void scale(const io::SafetensorsFile& file, const BlockTensors::mapped_type&,
             AdapterBlock& block) const {
    const double rank = ranks_.at(block.name, rank_);
    require<IoError>(rank == static_cast<double>(block.rank()), file.name(), ": block '",
                     block.name, "' has rank ", block.rank(), ", ", rank, " expected by ",
                     settings_.name());
    const double alpha = alphas_.at(block.name, alpha_);
    block.B *= static_cast<float>(alpha / (root_ ? std::sqrt(rank) : rank));
    require<IoError>(block.B.allFinite(), file.name(), ": block '", block.name, "' times alpha ",
                     alpha, " over its rank is not finite");
  }

 private:
  const PeftSettings& settings_;
  double rank_, alpha_;
  bool root_;
  PeftPattern ranks_, alphas_;
};

// AdaLoRA: alpha / (ranknum + 1e-5) B diag(E) A. Blocks are saved with what is left of them;
// ranknum, which is not saved, stays init_r.
class AdaLoraReader {
 public:
  explicit AdaLoraReader(const PeftSettings& settings)
      : alpha_(settings.number("lora_alpha")), start_rank_(settings.number("init_r")) {}

  std::vector<TensorEnding> endings() const {
    return {{".lora_A", 'A'}, {".lora_B", 'B'}, {".lora_E", 'E'}, {".ranknum", 'n'}};
  }

  void scale(const io::SafetensorsFile& file, const BlockTensors::mapped_type& parts,
             AdapterBlock& block) const {
    const auto E = parts.find('E'), ranknum = parts.find('n');
    require<IoError>(E != parts.end(), file.name(), ": block '", block.name, "' has no lora_E");
    const double divisor =
        ranknum == parts.end() ? start_rank_ : read_numbers(file, *ranknum->second, 1)(0);
    require<IoError>(divisor > 0 || block.rank() == 0, file.name(), ": block '", block.name,
                     "' has ranknum ", divisor, ", a positive number expected");
    const Vector<float> d = read_numbers(file, *E->second, block.rank()) *
                            static_cast<float>(alpha_ / (divisor + 1e-5));
    block.A = d.asDiagonal() * block.A;
    require<IoError>(block.A.allFinite(), file.name(), ": block '", block.name,
                     "' times lora_E and alpha ", alpha_, " over its rank is not finite");
  }

 private:
  double alpha_, start_rank_;
};

template <typename Reader>
std::vector<AdapterBlock> read_blocks(const io::SafetensorsFile& file, const Reader& reader) {
  std::vector<AdapterBlock> blocks;
  for (const auto& [name, parts] : tensors_by_block(file, kPeftPrefix, reader.endings(), kOthers)) {
    AdapterBlock block = read_factors(file, name, parts);
    reader.scale(file, parts, block);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

Adapter read_peft(const fs::path& folder) {
  const PeftSettings settings(folder / kPeftConfig);
  std::error_code unknown;
  require<IoError>(fs::exists(folder / kPeftTensors, unknown), (folder / kPeftTensors).string(),
                   ": not there; tensors are not read from other files, such as adapter_model.bin");
  const io::SafetensorsFile file(folder / kPeftTensors);
  Adapter adapter;
  adapter.base_model = settings.text("base_model_name_or_path");
  adapter.metadata[kCarriedKey] = settings.carried();
  adapter.number_type = number_type_of(file);
  adapter.blocks = settings.is_adalora() ? read_blocks(file, AdaLoraReader(settings))
                                         : read_blocks(file, LoraReader(settings));
  return adapter;
}

}  // namespace udv::net
