// SPDX-License-Identifier: MIT
#include "deep/diagonal.hpp"

#ifdef UDV_WITH_CUDA_KERNELS
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace udv::deep {
namespace {

using torch::Tensor;

#ifdef UDV_WITH_CUDA_KERNELS

bool has_kernels(torch::Dtype type) {
  return type == torch::kFloat32 || type == torch::kBFloat16 || type == torch::kFloat16;
}

kernels::Type kernel_type(torch::Dtype type) {
  if (type == torch::kFloat32) return kernels::Type::kSingle;
  return type == torch::kBFloat16 ? kernels::Type::kBrain : kernels::Type::kHalf;
}

// On the device and the stream that PyTorch works with.
template <typename Task>
void run_on(const Tensor& values, const Task& task) {
  const c10::cuda::CUDAGuard guard(values.device());
  kernels::run(task, c10::cuda::getCurrentCUDAStream().stream());
}

bool fits(const Tensor& V, const Tensor& w, torch::Dtype type) {
  const auto from = V.scalar_type();
  return V.is_cuda() && V.numel() > 0 && V.is_contiguous() && w.is_contiguous() &&
         w.scalar_type() == from && has_kernels(from) && has_kernels(type) &&
         (from == type || from == torch::kFloat32);
}

Tensor scaled_by_kernel(const Tensor& V, const Tensor& w, torch::Dtype type) {
  const Tensor Y = torch::empty(V.sizes(), V.options().dtype(type).requires_grad(false));
  run_on(V, kernels::ScaleColumns{V.data_ptr(), w.data_ptr(), Y.data_ptr(), V.size(0), V.size(1),
                                  kernel_type(V.scalar_type()), kernel_type(type)});
  return Y;
}

ScaledGradients gradients_by_kernel(const Tensor& G, const Tensor& V, const Tensor& w,
                                    const Tensor& counters) {
  const Tensor dV = torch::empty_like(V), dw = torch::empty_like(w);
  const Tensor partial = torch::empty({kernels::num_partials(V.size(0)), V.size(1)},
                                      torch::TensorOptions(torch::kFloat32).device(V.device()));
  run_on(V, kernels::ScaleColumnsBackward{
                G.data_ptr(), V.data_ptr(), w.data_ptr(), dV.data_ptr(), dw.data_ptr(),
                partial.data_ptr<float>(), static_cast<unsigned*>(counters.data_ptr()), V.size(0),
                V.size(1), kernel_type(V.scalar_type()), kernel_type(G.scalar_type())});
  return {dV, dw};
}

#endif

// The type that sums are made in.
torch::Dtype sum_type(const Tensor& values) {
  return values.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
}

class ScaledColumns : public torch::autograd::Function<ScaledColumns> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& V, const Tensor& w,
                        torch::Dtype type) {
    context->save_for_backward({V, w});
    return scale_columns(V, w, type);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto [dV, dw] = scale_columns_backward(gradients[0].contiguous(), saved[0], saved[1],
                                                 column_counters(saved[1]));
    return {dV, dw, Tensor()};
  }
};

}  // namespace

Tensor column_counters(const Tensor& w) {
  const std::int64_t columns_of_one = 32;  // at least, whatever the kernel takes together
  return torch::zeros({(w.numel() + columns_of_one - 1) / columns_of_one},
                      torch::TensorOptions(torch::kInt32).device(w.device()));
}

Tensor scale_columns(const Tensor& V, const Tensor& w, torch::Dtype type) {
  const torch::NoGradGuard no_grad;
#ifdef UDV_WITH_CUDA_KERNELS
  if (fits(V, w, type)) return scaled_by_kernel(V, w, type);
#endif
  return (V * w).to(type);
}

ScaledGradients scale_columns_backward(const Tensor& G, const Tensor& V, const Tensor& w,
                                       [[maybe_unused]] const Tensor& counters) {
  const torch::NoGradGuard no_grad;
#ifdef UDV_WITH_CUDA_KERNELS
  if (fits(V, w, G.scalar_type()) && G.is_contiguous())
    return gradients_by_kernel(G, V, w, counters);
#endif
  const Tensor dw = (G * V).sum(0, false, sum_type(V));
  return {(G * w).to(V.scalar_type()), dw.to(w.scalar_type())};
}

Tensor scaled_columns(const Tensor& V, const Tensor& w, torch::Dtype type) {
#ifdef UDV_WITH_CUDA_KERNELS
  if (fits(V, w, type)) return ScaledColumns::apply(V, w, type);
#endif
  return (V * w).to(type);
}

Pieces pieces_of(const std::vector<std::int64_t>& counts, const torch::Device& device) {
  std::vector<kernels::Piece> pieces;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    const auto first = static_cast<std::int64_t>(pieces.size());
    const std::int64_t end = begin + count,
                       number = (count + kernels::kPiece - 1) / kernels::kPiece;
    for (; begin < end; begin += kernels::kPiece)
      pieces.push_back({begin, std::min(kernels::kPiece, end - begin), first, number});
    begin = end;
  }
  constexpr std::int64_t kColumns = sizeof(kernels::Piece) / sizeof(std::int64_t);
  const auto rows = static_cast<std::int64_t>(pieces.size());
  const Tensor table = torch::from_blob(pieces.data(), {rows, kColumns}, torch::kLong);
  return {table.to(device, torch::kLong, false, true),
          torch::empty({rows}, torch::TensorOptions(torch::kFloat32).device(device))};
}

bool project_balls([[maybe_unused]] const Tensor& memory, [[maybe_unused]] const Pieces& pieces,
                   [[maybe_unused]] const Tensor& nonnegative) {
#ifdef UDV_WITH_CUDA_KERNELS
  if (memory.is_cuda() && has_kernels(memory.scalar_type())) {
    const bool both = nonnegative.defined();
    run_on(memory,
           kernels::ProjectBalls{
               memory.data_ptr(), reinterpret_cast<const kernels::Piece*>(pieces.table.data_ptr()),
               pieces.squares.data_ptr<float>(), pieces.table.size(0),
               both ? nonnegative.data_ptr() : nullptr, both ? nonnegative.numel() : 0,
               kernel_type(memory.scalar_type())});
    return true;
  }
#endif
  return false;
}

}  // namespace udv::deep
