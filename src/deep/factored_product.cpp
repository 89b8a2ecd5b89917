// SPDX-License-Identifier: MIT
#include "deep/factored_product.hpp"

#include "deep/diagonal.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Calls that change nothing still take a microsecond each; small blocks wait for them.
Tensor to_type(const Tensor& values, torch::Dtype type) {
  return values.scalar_type() == type ? values : values.to(type);
}

Tensor as_rows(const Tensor& values, std::int64_t columns) {
  return values.dim() == 2 ? values : values.reshape({-1, columns});
}

Tensor like(const Tensor& rows, const Tensor& values) {
  if (values.dim() == 2) return rows;
  std::vector<std::int64_t> shape = values.sizes().vec();
  shape.back() = rows.size(1);
  return rows.view(shape);
}

// Hides a tensor from autograd: no gradient is computed for it.
struct NonDifferentiable {
  Tensor values;
};

// With n rows of x, h = x U^T is n x r and V is m x r; the diagonal goes into h where n < m.
bool goes_into_h(const Tensor& rows, const Tensor& V) {
  return rows.size(0) < V.size(0);
}

class FactoredProduct : public torch::autograd::Function<FactoredProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& U, const Tensor& w,
                        const Tensor& V, const NonDifferentiable& counters) {
    const auto type = x.scalar_type();
    const Tensor rows = as_rows(x, U.size(1)), U_x = to_type(U, type);
    const Tensor h = at::mm(rows, U_x.t());
    const bool into_h = goes_into_h(rows, V);
    const Tensor w_x = into_h ? to_type(w, type) : w, V_x = into_h ? to_type(V, type) : V;
    const Tensor scaled = scale_columns(into_h ? h : V, w_x, type);
    context->save_for_backward({rows, U_x, w_x, V_x, h, scaled});
    context->saved_data["counters"] = counters.values;
    if (U.scalar_type() != type)
      context->saved_data["weights"] = static_cast<std::int64_t>(U.scalar_type());
    return like(into_h ? at::mm(scaled, V_x.t()) : at::mm(h, scaled.t()), x);
  }

  // With G = dL/dy. Into h, s = h diag(w):  ds = G V, dV = G^T s, (dh, dw) from ds.
  // Into V, Y = V diag(w):                  dh = G Y, dY = G^T h, (dV, dw) from dY.
  // Then dU = dh^T x, dx = dh U.
  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const variable_list saved = context->get_saved_variables();
    const Tensor &x = saved[0], &U = saved[1], &w = saved[2], &V = saved[3], &h = saved[4],
                 &scaled = saved[5];
    auto& data = context->saved_data;
    const Tensor counters = data["counters"].toTensor();
    const auto type = data.count("weights") > 0 ? static_cast<torch::Dtype>(data["weights"].toInt())
                                                : U.scalar_type();
    const Tensor G = as_rows(outputs[0], V.size(0));
    const bool into_h = goes_into_h(x, V);
    const Tensor of_h = at::mm(G, into_h ? V : scaled), of_V = at::mm(G.t(), into_h ? scaled : h);
    const auto [d, dw] = into_h ? scale_columns_backward(of_h, h, w, counters)
                                : scale_columns_backward(of_V, V, w, counters);
    const Tensor &dh = into_h ? d : of_h, &dV = into_h ? of_V : d;
    const Tensor dx = context->needs_input_grad(0) ? like(at::mm(dh, U), outputs[0]) : Tensor();
    return {dx, to_type(at::mm(dh.t(), x), type), to_type(dw, type), to_type(dV, type), Tensor()};
  }
};

}  // namespace

Tensor factored_product(const Tensor& x, const Tensor& U, const Tensor& w, const Tensor& V,
                        const Tensor& counters) {
  return FactoredProduct::apply(x, U, w, V, NonDifferentiable{counters});
}

}  // namespace udv::deep
