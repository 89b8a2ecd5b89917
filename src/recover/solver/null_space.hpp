// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "recover/solver/conjugate_gradients.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Which directions of the stack a model may take: all of them where empty, else the range of an
/// orthogonal projection, `apply`, of codimension `fixed`.
template <typename Scalar>
struct AllowedDirections {
  std::function<void(RowMatrix<Scalar>&)> apply;
  Index columns = 0;     ///< of the stack that belong to offsets, at its end
  Index fixed = 0;       ///< real parameters of the stack that the model does not have
  Index more_gauge = 0;  ///< directions beyond U M, -V M^* that leave the sum alone
};

/// Random elements of the null spaces of J and J^T, where J is the derivative of Z -> A(U V^*).
/// Lines of Z that are marked `open` are left aside where movements are measured.
template <typename Scalar>
class UDV_EXPORT NullSpace {
 public:
  NullSpace(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
            AllowedDirections<Scalar> allowed, std::vector<char> open, double tolerance,
            int max_steps);

  struct Draw {
    StackedFactors<Scalar> start, N;  ///< P and its projection
    bool still = false;               ///< no entry of X moves
    bool converged = false;           ///< to the accuracy that tells small movements from none
  };
  /// N = P - argmin |J y - J P| for a Gaussian P, each line of the size of the line of Z. Ends
  /// early where it sees that nothing moves.
  Draw draw(Random& random);

  /// z - argmin over the range of J, for a Gaussian z.
  Reals<Scalar> stress(Random& random);

  /// The largest movement |dX_i| of a line, against its own size and that of the other side.
  double movement(const RowMatrix<Scalar>& N) const;
  /// Sizes of the lines of Z; the mean of all where a line is zero.
  const Reals<Scalar>& sizes() const { return sizes_; }

  /// Real parts of the inner products of the dX of some directions.
  Matrix<double> inner_products(const std::vector<Draw>& draws) const;

  /// Dimension of the null space of J, from all eigenvalues of J^T J: for few parameters.
  /// `zero`: eigenvalue of J^T J with unit diagonal, of the largest, that counts as none.
  Index dense_dimension(double zero = 1e-12);
  /// The same as a mean over draws: the trace of the projection.
  double estimated_dimension(const std::vector<Draw>& draws) const;

  Index parameters() const { return kParts<Scalar> * Z_.Z.size() - allowed_.fixed; }
  /// Directions that change Z and leave X alone.
  Index gauge() const;
  Index steps() const { return steps_; }

 private:
  // Products of all lines of one side: V^* V, N_V^* N_V and V^* N_V, lines left aside taken out.
  struct Side {
    Matrix<Scalar> of_Z, of_N, mixed;
  };
  Side side(const RowMatrix<Scalar>& Z, const RowMatrix<Scalar>& N, Index from, Index size) const;
  RowMatrix<Scalar> without_open(const RowMatrix<Scalar>& Z) const;
  double line_movement(const RowMatrix<Scalar>& Z, const RowMatrix<Scalar>& N, Index from,
                       Index size, const Side& other, double other_size) const;

  const MeasurementOperator<Scalar>& op_;
  const StackedFactors<Scalar>& Z_;
  AllowedDirections<Scalar> allowed_;
  std::vector<char> open_;
  double tolerance_;
  int max_steps_;
  std::unique_ptr<Linearization<Scalar>> model_;
  Reals<Scalar> sizes_;
  LinearSolve<Scalar> work_;
  Index steps_ = 0;
};

}  // namespace udv
