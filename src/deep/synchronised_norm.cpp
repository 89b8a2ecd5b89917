// SPDX-License-Identifier: MIT
#include "deep/synchronised_norm.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kOver[] = {0, 2, 3};  // all but the channels

Tensor sums(const Tensor& x) {
  return x.sum(at::IntArrayRef(kOver), false, torch::kFloat64);
}

// One number for each channel.
Tensor by_channel(const Tensor& values) {
  return values.to(torch::kFloat32).view({1, -1, 1, 1});
}

struct Moments {
  Tensor mean, squares;  // sum of (x - mean)^2
  Tensor count;          // one number: nothing waits for the device
};

// Of the values of all processes, from those of each: means m_r and squares q_r of n_r values give
//   m = sum n_r m_r / n,  q = sum q_r + sum n_r (m_r - m)^2.
Moments all_moments(Processes& processes, const Tensor& x) {
  const auto channels = x.size(1);
  const double own = static_cast<double>(x.numel()) / static_cast<double>(channels);
  const Tensor mean = sums(x) / std::max(own, 1.0);
  const Tensor squares = sums((x - by_channel(mean)).square());
  Tensor table = torch::zeros({processes.size(), 2 * channels + 1}, mean.options());
  table[processes.rank()].copy_(torch::cat({mean, squares, torch::full({1}, own, mean.options())}));
  processes.group().sum(table);
  const Tensor means = table.narrow(1, 0, channels), counts = table.narrow(1, 2 * channels, 1);
  const Tensor count = counts.sum();
  const Tensor m = (counts * means).sum(0) / count;
  const Tensor q =
      table.narrow(1, channels, channels).sum(0) + (counts * (means - m).square()).sum(0);
  return {m, q, count};
}

class SynchronisedNorm : public torch::autograd::Function<SynchronisedNorm> {
 public:
  // scale = 1 / sqrt(variance + epsilon); y = (x - mean) scale weight + bias.
  static Tensor forward(AutogradContext* context, const Tensor& given, const Tensor& weight,
                        const Tensor& bias, const Tensor& mean, const Tensor& scale,
                        const Tensor& count, std::int64_t processes) {
    const Tensor x = given.to(torch::kFloat32);
    context->save_for_backward({x, weight, mean, scale, count});
    context->saved_data["processes"] = processes;
    const Tensor y = (x - by_channel(mean)) * by_channel(scale * weight) + by_channel(bias);
    return y.to(given.scalar_type());
  }

  // With c = x - mean and g = dL/dy:
  //   dL/dx = scale weight (g - sum g / n - c scale^2 sum(g c) / n), sums over all processes.
  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &scale = saved[3],
                 &count = saved[4];
    auto& processes = *reinterpret_cast<Processes*>(context->saved_data["processes"].toInt());
    const Tensor g = outputs[0].to(torch::kFloat32), c = x - by_channel(mean);
    const Tensor of_g = sums(g), of_gc = sums(g * c);
    Tensor both = torch::stack({of_g, of_gc});
    processes.group().sum(both);
    const Tensor dx =
        by_channel(scale * weight) *
        (g - by_channel(both[0] / count) - c * by_channel(scale * scale * both[1] / count));
    return {dx.to(outputs[0].scalar_type()),
            (of_gc * scale).to(weight.scalar_type()),
            of_g.to(weight.scalar_type()),
            Tensor(),
            Tensor(),
            Tensor(),
            Tensor()};
  }
};

}  // namespace

Tensor synchronised_norm(Processes& processes, const Tensor& x, const NormArrays& arrays,
                         double momentum, double epsilon) {
  Tensor mean, scale, count;
  {
    const torch::NoGradGuard no_grad;
    const Moments moments = all_moments(processes, x.detach().to(torch::kFloat32));
    count = moments.count;
    mean = moments.mean;
    scale = (moments.squares / count + epsilon).rsqrt();
    const auto move = [&](Tensor running, const Tensor& to) {
      running.mul_(1 - momentum).add_(to.to(running.scalar_type()), momentum);
    };
    move(arrays.running_mean, mean);
    move(arrays.running_var, moments.squares / (count - 1).clamp_min(1));
  }
  return SynchronisedNorm::apply(x, arrays.weight, arrays.bias, mean, scale, count,
                                 reinterpret_cast<std::int64_t>(&processes));
}

}  // namespace udv::deep
