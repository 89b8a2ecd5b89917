// SPDX-License-Identifier: MIT
#include "udv/recover/operators/rank_one.hpp"

#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv {
namespace {

constexpr Index kMeasurementBlock = 64;
constexpr Index kRowBlock = 32;

// J P = 2 sum_c (A U)_c o (A P)_c and J^T w = 2 A^T (w o A U), with A U computed once.
template <typename Scalar>
class RankOneLinearization final : public GenericLinearization<Scalar> {
 public:
  RankOneLinearization(const RankOneOperator<Scalar>& op, const Stack<Scalar>& Z)
      : GenericLinearization<Scalar>(op, Z), op_(op), projected_(op.project(Z.U())) {}

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    const Vector<Scalar> measured = 4 * projected_.cwiseProduct(op_.project(P)).rowwise().sum();
    Y.resize(P.rows(), P.cols());
    op_.back_project(measured, projected_, Y);
  }

 private:
  const RankOneOperator<Scalar>& op_;
  RowMatrix<Scalar> projected_;
};

}  // namespace

template <typename Scalar>
RankOneOperator<Scalar>::RankOneOperator(RowMatrix<Scalar> vectors)
    : MeasurementOperator<Scalar>(vectors.cols(), vectors.cols(), vectors.rows(), true),
      vectors_(std::move(vectors)) {
  require(vectors_.rows() > 0 && vectors_.cols() > 0, "rank_one: the array of vectors is ",
          vectors_.rows(), " x ", vectors_.cols(), ", at least 1 x 1 expected");
  for (Index i = 0; i < vectors_.rows(); ++i)
    require(vectors_.row(i).allFinite(), "rank_one: a_", i, " holds a value that is not finite");
  // |a a^T|_F = |a|^2
  const Vector<Scalar> squares = vectors_.rowwise().squaredNorm();
  const auto p = static_cast<double>(vectors_.cols());
  mean_gain_ = squares.squaredNorm() / (p * p);
  norm_bound_ = squares.norm();
}

template <typename Scalar>
RowMatrix<Scalar> RankOneOperator<Scalar>::project(const ConstRows<Scalar>& U) const {
  RowMatrix<Scalar> result(vectors_.rows(), U.cols());
  parallel_blocks(vectors_.rows(), kMeasurementBlock, [&](Index begin, Index end) {
    result.middleRows(begin, end - begin).noalias() = vectors_.middleRows(begin, end - begin) * U;
  });
  return result;
}

template <typename Scalar>
void RankOneOperator<Scalar>::back_project(const Vector<Scalar>& w, const RowMatrix<Scalar>& W,
                                           Rows<Scalar> out) const {
  const RowMatrix<Scalar> weighted = w.asDiagonal() * W;
  parallel_blocks(vectors_.cols(), kRowBlock, [&](Index begin, Index end) {
    out.middleRows(begin, end - begin).noalias() =
        vectors_.middleCols(begin, end - begin).transpose() * weighted;
  });
}

template <typename Scalar>
void RankOneOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Vector<Scalar>& d,
                                    const ConstRows<Scalar>& V, Vector<Scalar>& y) const {
  const RowMatrix<Scalar> left = project(U);
  if (U.data() == V.data())
    y = left.cwiseProduct(left) * d;
  else
    y = left.cwiseProduct(project(V)) * d;
}

template <typename Scalar>
void RankOneOperator<Scalar>::adjoint_times(const Vector<Scalar>& z, const ConstRows<Scalar>& V,
                                            Rows<Scalar> out) const {
  back_project(z, project(V), out);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> RankOneOperator<Scalar>::linearize(
    const Stack<Scalar>& Z) const {
  return std::make_unique<RankOneLinearization<Scalar>>(*this, Z);
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> RankOneOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  RowMatrix<Scalar> kept(static_cast<Index>(which.size()), vectors_.cols());
  for (size_t i = 0; i < which.size(); ++i)
    kept.row(static_cast<Index>(i)) = vectors_.row(which[i]);
  return std::make_unique<RankOneOperator>(std::move(kept));
}

template class RankOneOperator<double>;

}  // namespace udv
