// SPDX-License-Identifier: MIT
#pragma once

#include "recover/solver/offsets.hpp"
#include "recover/solver/rank_walk.hpp"
#include "udv/recover/factors/factorization.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv {

/// |X|_F after scaling, against a ball of radius 1.
inline constexpr double kSizeAgainstBall = 5;

/// The data of a solve: less what is held out, less their offsets, scaled. The walks see op() and
/// b(); what they find is brought into the caller's units by unit() and scale().
template <typename Scalar>
class PreparedProblem {
 public:
  /// Throws where the options do not go with the problem. Keeps references to both.
  PreparedProblem(const BasicProblem<Scalar>& problem, const RecoverOptions& options);

  const MeasurementOperator<Scalar>& op() const { return *used_.op; }
  /// Scaled: made where somebody asks for it.
  const Reals<Scalar>& b() const;
  double square() const;  ///< |b|^2
  double norm() const;    ///< |b|
  /// |A(X) - b|^2
  double squared_residual(const Factorization<Scalar>& X) const;
  /// In the caller's units.
  const Reals<Scalar>& data() const { return given_ ? *given_ : used_.b; }
  double scale() const { return scale_; }
  double unit() const { return 1 / (scale_ * scale_); }         ///< of an objective, for the caller
  Index num_measurements() const { return num_measurements_; }  ///< gross errors included
  /// The largest number of columns that X can have or is allowed to.
  Index columns() const;
  /// Relative residual that counts as zero. Large offsets leave their rounding errors behind.
  double zero_residual() const;
  /// Of a walk over b().
  RankWalkOptions walk_options() const;

  /// Entries of real rectangular matrices only.
  bool takes_offsets() const;
  const OffsetModel& offsets() const { return offsets_; }  ///< in the caller's units
  OffsetModel release_offsets() { return std::move(offsets_); }
  /// In the place of the present ones: the data are always those given less these.
  void take_offsets(OffsetModel model);

  /// Goes on with these measurements, scaled already.
  void keep_only(BasicProblem<Scalar> rest);
  void drop_scaled() { b_.resize(0); }  ///< makes room, until somebody asks for b()

  /// Processes that hold their own entries alone hold all of them from now on.
  void gather();

  bool holds_out() const { return held_out_.op != nullptr; }
  /// Squared error of a scaled fit on the data held out, scaled.
  double held_out_error(const StackedFactors<Scalar>& Z) const;
  /// The same as a root mean square in the caller's units.
  double held_out_rmse(const StackedFactors<Scalar>& Z) const;
  /// Nothing is held out any more.
  void use_all();

 private:
  void subtract_offsets();
  double chosen_scale() const;
  bool entries_are_away() const;
  double data_norm() const;
  void own_data();
  void data_changed();
  void move_to_device();

  const RecoverOptions& options_;
  const Reals<Scalar>* given_ = nullptr;        // data() where nothing has changed them
  BasicProblem<Scalar> used_, held_out_, all_;  // all_: where some are held out from a walk
  OffsetModel offsets_;
  double offset_norm_ = 0;  // |A(offsets)|, scaled
  double scale_ = 1;
  mutable Reals<Scalar> b_;
  mutable double data_norm_ = -1;  // of data(), where it is known
  Index num_measurements_ = 0;
};

}  // namespace udv
