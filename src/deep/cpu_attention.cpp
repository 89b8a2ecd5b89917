// SPDX-License-Identifier: MIT
#include "deep/cpu_attention.hpp"

#include <cmath>
#include <limits>

#include "udv/core/parallel.hpp"
#include "udv/core/types.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using Matrix = RowMatrix<float>;
using View = Eigen::Map<Matrix>;
using ConstView = Eigen::Map<const Matrix>;

constexpr Index kRows = 64;  // of a head at a time

// A tensor of batch x heads x tokens x head_dim, head by head.
class Heads {
 public:
  explicit Heads(const Tensor& values)
      : data_(values.data_ptr<float>()), tokens_(values.size(2)), dim_(values.size(3)) {}
  View operator[](Index head) const { return {data_ + head * tokens_ * dim_, tokens_, dim_}; }

 private:
  float* data_;
  Index tokens_, dim_;
};

float scale_of(Index head_dim) {
  return 1 / std::sqrt(static_cast<float>(head_dim));
}

// Scores of rows begin .. begin + count with all tokens up to their own.
void causal_scores(const View& Q, const View& K, Index begin, Index count, Matrix& S) {
  const Index seen = begin + count;
  S.resize(count, seen);
  S.noalias() = scale_of(Q.cols()) * Q.middleRows(begin, count) * K.topRows(seen).transpose();
  for (Index i = 0; i + 1 < count; ++i)
    S.row(i).tail(count - 1 - i).setConstant(-std::numeric_limits<float>::infinity());
}

// s <- softmax(s); returns the log of its denominator. Row by row: only these loops are vectorized.
float normalise(Eigen::Ref<Eigen::RowVectorXf> s) {
  const float largest = s.maxCoeff();
  s = (s.array() - largest).exp();
  const float sum = s.sum();
  s /= sum;
  return largest + std::log(sum);
}

// O = softmax(S) V and L = log of the softmax's denominators.
void forward_head(const View& Q, const View& K, const View& V, View O, float* L) {
  Matrix S;
  for (Index begin = 0; begin < Q.rows(); begin += kRows) {
    const Index count = std::min(kRows, Q.rows() - begin);
    causal_scores(Q, K, begin, count, S);
    auto rows = O.middleRows(begin, count);
    for (Index i = 0; i < count; ++i) L[begin + i] = normalise(S.row(i));
    rows.noalias() = S * V.topRows(S.cols());
  }
}

struct HeadGradients {
  View dQ, dK, dV;
};

// With P = softmax(S): dV = P^T dO, dS = P * (dO V^T - sum(dO * O)), dQ = dS K, dK = dS^T Q.
void backward_head(const View& Q, const View& K, const View& V, const View& O, const float* L,
                   const View& dO, HeadGradients g) {
  Matrix P, dS;
  g.dK.setZero();
  g.dV.setZero();
  for (Index begin = 0; begin < Q.rows(); begin += kRows) {
    const Index count = std::min(kRows, Q.rows() - begin), seen = begin + count;
    causal_scores(Q, K, begin, count, P);
    for (Index i = 0; i < count; ++i) P.row(i) = (P.row(i).array() - L[begin + i]).exp();
    const auto rows = dO.middleRows(begin, count);
    g.dV.topRows(seen).noalias() += P.transpose() * rows;
    dS.resize(count, seen);
    dS.noalias() = rows * V.topRows(seen).transpose();
    for (Index i = 0; i < count; ++i) {
      const float through = rows.row(i).dot(O.row(begin + i));
      dS.row(i) = P.row(i).array() * (dS.row(i).array() - through) * scale_of(Q.cols());
    }
    g.dQ.middleRows(begin, count).noalias() = dS * K.topRows(seen);
    g.dK.topRows(seen).noalias() += dS.transpose() * Q.middleRows(begin, count);
  }
}

class CausalAttention : public torch::autograd::Function<CausalAttention> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& queries,
                        const Tensor& keys, const Tensor& values) {
    const Tensor q = queries.contiguous(), k = keys.contiguous(), v = values.contiguous();
    const Tensor y = torch::empty_like(q), logs = torch::empty({q.size(0), q.size(1), q.size(2)});
    const Heads Q(q), K(k), V(v), O(y);
    auto* const L = logs.data_ptr<float>();
    parallel_blocks(q.size(0) * q.size(1), 1, [&](Index h, Index) {
      forward_head(Q[h], K[h], V[h], O[h], L + h * q.size(2));
    });
    context->save_for_backward({q, k, v, y, logs});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &q = saved[0], &logs = saved[4], dy = gradients[0].contiguous();
    const Tensor dq = torch::empty_like(q), dk = torch::empty_like(q), dv = torch::empty_like(q);
    const Heads Q(q), K(saved[1]), V(saved[2]), O(saved[3]), dO(dy), dQ(dq), dK(dk), dV(dv);
    const auto* const L = logs.data_ptr<float>();
    parallel_blocks(q.size(0) * q.size(1), 1, [&](Index h, Index) {
      backward_head(Q[h], K[h], V[h], O[h], L + h * q.size(2), dO[h], {dQ[h], dK[h], dV[h]});
    });
    return {dq, dk, dv};
  }
};

}  // namespace

Tensor cpu_causal_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  return CausalAttention::apply(q, k, v);
}

}  // namespace udv::deep
