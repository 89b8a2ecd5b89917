// SPDX-License-Identifier: MIT
#include "udv/recover/operators/rank_one.hpp"

#include "core/instantiate.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv {
namespace {

constexpr Index kMeasurementBlock = 64;
constexpr Index kRowBlock = 32;

// J P = 2 Re sum_c conj (W U)_c o (W P)_c and J^T z = 2 W^* (z o W U), with W U computed once.
template <typename Scalar>
class RankOneLinearization final : public GenericLinearization<Scalar> {
 public:
  RankOneLinearization(const RankOneOperator<Scalar>& op, const Stack<Scalar>& Z)
      : GenericLinearization<Scalar>(op, Z), op_(op), projected_(op.project(Z.U())) {}

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    const Reals<Scalar> measured =
        4 * projected_.conjugate().cwiseProduct(op_.project(P)).rowwise().sum().real();
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
    require(vectors_.row(i).allFinite(), "rank_one: row ", i, " holds a value that is not finite");
  // |w^* w|_F = |w|^2
  const Vector<double> squares = vectors_.rowwise().squaredNorm().template cast<double>();
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
void RankOneOperator<Scalar>::back_project(const Reals<Scalar>& z, const RowMatrix<Scalar>& P,
                                           Rows<Scalar> out) const {
  const RowMatrix<Scalar> weighted = z.template cast<Scalar>().asDiagonal() * P;
  parallel_blocks(vectors_.cols(), kRowBlock, [&](Index begin, Index end) {
    out.middleRows(begin, end - begin).noalias() =
        vectors_.middleCols(begin, end - begin).adjoint() * weighted;
  });
}

template <typename Scalar>
void RankOneOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                    const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  const RowMatrix<Scalar> left = project(U);
  if (U.data() == V.data())
    y = left.cwiseAbs2() * d;
  else
    y = left.cwiseProduct(project(V).conjugate()).real() * d;
}

template <typename Scalar>
void RankOneOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
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

#define UDV_INSTANTIATE(Scalar) template class RankOneOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
