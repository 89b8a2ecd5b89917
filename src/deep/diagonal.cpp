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

class ScaledColumns : public torch::autograd::Function<ScaledColumns> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& V, const Tensor& w,
                        torch::Dtype type) {
    context->save_for_backward({V, w});
    const Tensor Y = torch::empty(V.sizes(), V.options().dtype(type));
    run_on(V, kernels::ScaleColumns{V.data_ptr(), w.data_ptr(), Y.data_ptr(), V.size(0), V.size(1),
                                    kernel_type(V.scalar_type()), kernel_type(type)});
    return Y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &V = saved[0], &w = saved[1], G = gradients[0].contiguous();
    const Tensor dV = torch::empty_like(V), dw = torch::empty_like(w);
    const Tensor partial = torch::empty({kernels::num_partials(V.size(0)), V.size(1)},
                                        V.options().dtype(torch::kFloat32));
    run_on(V, kernels::ScaleColumnsBackward{G.data_ptr(), V.data_ptr(), w.data_ptr(), dV.data_ptr(),
                                            dw.data_ptr(), partial.data_ptr<float>(), V.size(0),
                                            V.size(1), kernel_type(V.scalar_type()),
                                            kernel_type(G.scalar_type())});
    return {dV, dw, Tensor()};
  }
};

bool fits(const Tensor& V, const Tensor& w, torch::Dtype type) {
  const auto from = V.scalar_type();
  return V.is_cuda() && V.numel() > 0 && V.is_contiguous() && w.is_contiguous() &&
         w.scalar_type() == from && has_kernels(from) && has_kernels(type) &&
         (from == type || from == torch::kFloat32);
}

#endif

}  // namespace

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

bool project_balls([[maybe_unused]] const Tensor& memory, [[maybe_unused]] const Pieces& pieces) {
#ifdef UDV_WITH_CUDA_KERNELS
  if (memory.is_cuda() && has_kernels(memory.scalar_type())) {
    run_on(memory,
           kernels::ProjectBalls{memory.data_ptr(),
                                 reinterpret_cast<const kernels::Piece*>(pieces.table.data_ptr()),
                                 pieces.squares.data_ptr<float>(), pieces.table.size(0),
                                 kernel_type(memory.scalar_type())});
    return true;
  }
#endif
  return false;
}

}  // namespace udv::deep
