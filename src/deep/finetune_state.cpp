// SPDX-License-Identifier: MIT
#include "deep/finetune_state.hpp"

#include "core/require.hpp"
#include "deep/state_archive.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

Tensor doubles(const std::vector<double>& values) {
  return torch::tensor(values, torch::kFloat64);
}

std::vector<double> doubles_of(const Tensor& values, std::int64_t count) {
  require(values.scalar_type() == torch::kFloat64 && values.numel() == count,
          "not a checkpoint of this training, or damaged");
  const Tensor flat = values.contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + count};
}

// One line per epoch.
Tensor history_table(const std::vector<net::EpochRecord>& history) {
  Tensor table = torch::zeros({static_cast<std::int64_t>(history.size()), 8}, torch::kFloat64);
  for (size_t i = 0; i < history.size(); ++i) {
    const net::EpochRecord& r = history[i];
    table[static_cast<std::int64_t>(i)] = doubles(
        {static_cast<double>(r.epoch), r.seconds, r.train_loss, r.test_loss, r.test_accuracy,
         r.learning_rate, static_cast<double>(r.live_width), r.effective_rank});
  }
  return table;
}

std::vector<net::EpochRecord> history_of(const Tensor& table) {
  require(table.dim() == 2, "not a checkpoint of this training, or damaged");
  std::vector<net::EpochRecord> history;
  for (std::int64_t i = 0; i < table.size(0); ++i) {
    const std::vector<double> at = doubles_of(table[i], 8);
    history.push_back({static_cast<Index>(at[0]), at[1], at[2], at[3], at[4], at[5],
                       static_cast<Index>(at[6]), at[7]});
  }
  return history;
}

}  // namespace

// Numbers and history come before the arrays.
std::string to_bytes(const FinetuneState& state, const Tensors& arrays) {
  Tensors all{doubles({static_cast<double>(state.epoch), static_cast<double>(state.batch),
                       state.loss_sum, state.seconds, state.learning_seconds}),
              history_table(state.history)};
  all.insert(all.end(), arrays.begin(), arrays.end());
  return pack_arrays(all);
}

FinetuneState finetune_state_from_bytes(const std::string& bytes, Tensors& arrays) {
  const Tensors found = unpack_arrays(bytes);
  require(found.size() == arrays.size() + 2, found.size(), " arrays found, ", arrays.size() + 2,
          " expected");
  for (size_t i = 0; i < arrays.size(); ++i) {
    require(found[i + 2].sizes() == arrays[i].sizes(), "array ", i, " of another model");
    arrays[i] = found[i + 2];
  }
  const std::vector<double> at = doubles_of(found[0], 5);
  return {static_cast<Index>(at[0]), static_cast<Index>(at[1]), at[2], at[3], at[4],
          history_of(found[1])};
}

}  // namespace udv::deep
