// SPDX-License-Identifier: MIT
#include "udv/recover/operators/rank_one.hpp"

#include <algorithm>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using blas::Form;

// SparseLines of a product per task, so that a task has some 200,000 multiplications.
Index block_of(Index work_per_line) {
  return std::max<Index>(16, 200'000 / std::max<Index>(work_per_line, 1));
}

}  // namespace

template <typename Scalar>
RankOneOperator<Scalar>::RankOneOperator(RowMatrix<Scalar> vectors)
    : IntensityOperator<Scalar>(vectors.cols(), vectors.rows()), vectors_(std::move(vectors)) {
  require(vectors_.rows() > 0 && vectors_.cols() > 0, "rank_one: the array of vectors is ",
          vectors_.rows(), " x ", vectors_.cols(), ", at least 1 x 1 expected");
  for (Index i = 0; i < vectors_.rows(); ++i)
    require(vectors_.row(i).allFinite(), "rank_one: row ", i, " holds a value that is not finite");
  // |w^* w|_F = |w|^2
  squares_ = vectors_.rowwise().squaredNorm();
  const Vector<double> squares = squares_.template cast<double>();
  const auto p = static_cast<double>(vectors_.cols());
  mean_gain_ = squares.squaredNorm() / (p * p);
  norm_bound_ = squares.norm();
}

template <typename Scalar>
void RankOneOperator<Scalar>::project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const {
  fields.resize(vectors_.rows(), U.cols());
  parallel_blocks(vectors_.rows(), block_of(U.size()), [&](Index begin, Index end) {
    blas::multiply<Scalar>(Form::kPlain, vectors_.middleRows(begin, end - begin), Form::kPlain, U,
                           fields.middleRows(begin, end - begin));
  });
}

template <typename Scalar>
void RankOneOperator<Scalar>::back_project(const RowMatrix<Scalar>& fields,
                                           Rows<Scalar> out) const {
  // W^* x = conj(W^T conj(x)), with conj(x) for all tasks.
  const RowMatrix<Scalar> conjugate =
      kIsComplex<Scalar> ? RowMatrix<Scalar>(fields.conjugate()) : RowMatrix<Scalar>();
  const RowMatrix<Scalar>& turned = kIsComplex<Scalar> ? conjugate : fields;
  parallel_blocks(vectors_.cols(), block_of(fields.size()), [&](Index begin, Index end) {
    auto rows = out.middleRows(begin, end - begin);
    blas::multiply<Scalar>(Form::kTransposed, vectors_.middleCols(begin, end - begin), Form::kPlain,
                           turned, rows);
    if (kIsComplex<Scalar>) rows = rows.conjugate().eval();
  });
}

// E w X w^* = |w|^2 tr X / p for a random direction.
template <typename Scalar>
double RankOneOperator<Scalar>::trace_estimate(const Reals<Scalar>& b) const {
  double sum = 0;
  Index counted = 0;
  for (Index i = 0; i < b.size(); ++i)
    if (squares_(i) > 0) {
      sum += static_cast<double>(b(i)) / static_cast<double>(squares_(i));
      ++counted;
    }
  return counted > 0 ? sum * static_cast<double>(this->rows()) / static_cast<double>(counted) : 0;
}

template <typename Scalar>
Reals<Scalar> RankOneOperator<Scalar>::diagonal(const Reals<Scalar>& w) const {
  const RealOf<Scalar> mean = w.dot(squares_) / static_cast<RealOf<Scalar>>(this->rows());
  return Reals<Scalar>::Constant(this->rows(), mean);
}

template <typename Scalar>
Reals<Scalar> RankOneOperator<Scalar>::squared_rows(const Reals<Scalar>& c) const {
  Reals<Scalar> squares(vectors_.rows());
  for (Index i = 0; i < squares.size(); ++i)
    squares(i) = vectors_.row(i).cwiseAbs2().dot(c.transpose());
  return squares;
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> RankOneOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  RowMatrix<Scalar> kept(static_cast<Index>(which.size()), vectors_.cols());
  for (size_t i = 0; i < which.size(); ++i)
    kept.row(static_cast<Index>(i)) = vectors_.row(which[i]);
  return std::make_unique<RankOneOperator>(std::move(kept));
}

#define UDV_INSTANTIATE(Scalar) template class RankOneOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
