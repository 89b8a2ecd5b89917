// SPDX-License-Identifier: MIT
#include <algorithm>

#include "deep/diagonal.hpp"
#include "udv/deep/udv_linear.hpp"

namespace udv::deep {
namespace {

using net::Constraint;
using torch::Tensor;

constexpr std::int64_t kRow = kernels::kAligned;  // numbers in a row of the common memory

std::int64_t rows_of(const Tensor& values) {
  return (values.numel() + kRow - 1) / kRow;
}

torch::Dtype norm_type(const Tensor& values) {
  return values.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
}

// Of the same device and type.
bool is_like(const Tensor& a, const Tensor& b) {
  return a.device() == b.device() && a.scalar_type() == b.scalar_type();
}

std::vector<std::shared_ptr<UDVLinearImpl>> all_blocks(const torch::nn::Module& module) {
  std::vector<std::shared_ptr<UDVLinearImpl>> blocks;
  for (auto& [name, block] : udv_blocks(module)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace

Projector::Projector(const torch::nn::Module& module) : Projector(all_blocks(module)) {}

Projector::Projector(std::vector<std::shared_ptr<UDVLinearImpl>> blocks)
    : blocks_(std::move(blocks)) {
  gather();
}

void Projector::add(const Tensor& values, std::vector<Shared>& groups) {
  for (Shared& group : groups) {
    if (!is_like(group.members.front(), values)) continue;
    group.members.push_back(values);
    return;
  }
  groups.emplace_back().members.push_back(values);
}

// The arrays become views of one memory, each from a row of its own on.
void Projector::share(Shared& group) {
  std::int64_t rows = 0, longest = 0;
  std::vector<std::int64_t> counts;
  for (const Tensor& values : group.members) {
    rows += rows_of(values);
    counts.push_back(rows_of(values) * kRow);
    longest = std::max(longest, rows_of(values));
  }
  const auto count = static_cast<std::int64_t>(group.members.size());
  group.equal = rows == count * longest;
  group.memory = torch::zeros({rows, kRow}, group.members.front().options().requires_grad(false));
  Tensor table = torch::full({count, longest}, rows, torch::kLong);
  Tensor owner = torch::empty({rows}, torch::kLong);
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Tensor& values = group.members[static_cast<size_t>(i)];
    const std::int64_t used = rows_of(values);
    const Tensor view =
        group.memory.view({-1}).narrow(0, begin * kRow, values.numel()).view(values.sizes());
    view.copy_(values);
    values.set_data(view);
    group.addresses.push_back(values.data_ptr());
    table[i].narrow(0, 0, used).copy_(torch::arange(begin, begin + used));
    owner.narrow(0, begin, used).fill_(i);
    begin += used;
  }
  const Pieces pieces = pieces_of(counts, group.memory.device());
  group.pieces = pieces.table;
  group.squares = pieces.squares;
  group.table = table.view({-1}).to(group.memory.device());
  group.owner = owner.to(group.memory.device());
}

void Projector::gather() {
  torch::NoGradGuard no_grad;
  balls_.clear();
  nonnegative_.clear();
  rows_.clear();
  columns_.clear();
  for (const auto& block : blocks_)
    for (const auto& array : block->arrays()) switch (array.block.constraint) {
        case Constraint::kFree:
          break;
        case Constraint::kBall:
          add(array.values, balls_);
          break;
        case Constraint::kNonnegative:
          add(array.values, nonnegative_);
          break;
        case Constraint::kNeuronBalls:
          (array.block.neurons == net::Neurons::kRows ? rows_ : columns_).push_back(array.values);
          break;
      }
  for (auto* groups : {&balls_, &nonnegative_})
    for (Shared& group : *groups) share(group);
}

// A model that was moved to another device or type has left the memory.
bool Projector::moved() const {
  for (const auto* groups : {&balls_, &nonnegative_})
    for (const Shared& group : *groups)
      for (size_t i = 0; i < group.members.size(); ++i)
        if (group.members[i].data_ptr() != group.addresses[i]) return true;
  return false;
}

void Projector::project_balls(const Shared& group) {
  const Tensor& memory = group.memory;
  const auto count = static_cast<std::int64_t>(group.members.size());
  const auto type = norm_type(memory);
  const Tensor of_rows = at::linalg_vector_norm(memory, 2, at::IntArrayRef{1}, false, type);
  // A product is a third faster than a division here.
  const auto factors = [](const Tensor& norms) { return norms.clamp_min(1).reciprocal_(); };
  if (group.equal) {
    const Tensor norms =
        at::linalg_vector_norm(of_rows.view({count, -1}), 2, at::IntArrayRef{1}, true);
    memory.view({count, -1}).mul_(factors(norms));
    return;
  }
  // The row of zeros stands for the ends of shorter arrays.
  const Tensor padded = at::constant_pad_nd(of_rows, {0, 1});
  const Tensor norms = at::linalg_vector_norm(padded.index_select(0, group.table).view({count, -1}),
                                              2, at::IntArrayRef{1}, false);
  memory.mul_(factors(norms).index_select(0, group.owner).unsqueeze(1));
}

void Projector::project() {
  torch::NoGradGuard no_grad;
  if (moved()) gather();
  std::vector<const Shared*> nonnegative;  // that nobody has cut off yet
  for (const Shared& group : nonnegative_) nonnegative.push_back(&group);
  for (const Shared& group : balls_) {
    const auto beside =
        std::find_if(nonnegative.begin(), nonnegative.end(),
                     [&](const auto* other) { return is_like(other->memory, group.memory); });
    const bool found = beside != nonnegative.end();
    if (!deep::project_balls(group.memory, {group.pieces, group.squares},
                             found ? (*beside)->memory : Tensor()))
      project_balls(group);
    else if (found)
      nonnegative.erase(beside);
  }
  const auto project_neurons = [](const std::vector<Tensor>& arrays, std::int64_t over) {
    for (const Tensor& W : arrays)
      W.detach().div_(
          at::linalg_vector_norm(W.detach(), 2, at::IntArrayRef{over}, true, norm_type(W))
              .clamp_min_(1));
  };
  project_neurons(rows_, 1);
  project_neurons(columns_, 0);
  for (const Shared* group : nonnegative) group->memory.clamp_min_(0);
}

}  // namespace udv::deep
