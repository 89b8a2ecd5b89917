// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/operators/intensity.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What is known of x beforehand.
struct UDV_EXPORT PhasePrior {
  bool nonnegative = false;   ///< x is real, and no entry is negative
  bool sparse = false;        ///< many entries are zero, which ones is not known
  std::vector<bool> support;  ///< entries that may differ from zero; empty: all

  bool any() const { return nonnegative || sparse || !support.empty(); }
};

/// Settings of phase retrieval; the defaults need no tuning.
struct UDV_EXPORT PhaseOptions {
  /// auto: message passing, then the dynamics of udu; udu, bm: their dynamics alone.
  std::string method = "auto";
  Index columns = 0;            ///< of U; 0: 20 for real unknowns, 8 for complex ones
  double size = 3;              ///< tr X against the ball after scaling
  Index max_iterations = 1024;  ///< of the dynamics, per restart
  int restarts = 5;
  PhasePrior prior = {};
  double tolerance = 0;  ///< relative residual of the intensities that ends it; 0: by precision
  Recording record = Recording::kLog;
  std::uint64_t seed = 0;

  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// X = x x^* with |W x|^2 near b. x is known up to a factor of modulus 1.
template <typename Scalar>
struct PhaseRetrieval : BasicRecovery<Scalar> {
  Vector<Scalar> x;             ///< zero where no start led anywhere
  bool inversion_fits = false;  ///< one diffraction pattern: conj(x(s - r)) fits for some s
  Index shifts_that_fit = 0;    ///< one diffraction pattern: x(r - s) fits for so many s
  bool solved = false;          ///< to the tolerance
  bool repeated = false;        ///< two random starts led to x
  int restart = 0;              ///< that gave x, from 0
  Index cut_iteration = 0;      ///< of the dynamics, where x was cut off; 0: by message passing
};

/// Recovers x from intensities. Starts come from approximate message passing; where none leads to a
/// fit, from a short run of the lifted dynamics on X = U D U^*, cut to rank 1 at iterations 32, 64,
/// 128, ...; and, for one or few diffraction patterns of an x with a prior, from projections. Each
/// start is polished by reweighted amplitude flow (Wang, Giannakis, Saad, Chen, 2018) and
/// Levenberg-Marquardt. Noisy data are done where two starts agree: see docs/phase-retrieval.md.
/// Throws InvalidArgument where `hooks.resume` is not a state of the same problem and options.
template <typename Scalar>
UDV_EXPORT PhaseRetrieval<Scalar> retrieve_phase(const IntensityOperator<Scalar>& op,
                                                 const Reals<Scalar>& b,
                                                 const PhaseOptions& options = {},
                                                 const Hooks& hooks = {});

/// The polish alone, from a start x, until the monitor wants no more.
template <typename Scalar>
UDV_EXPORT void polish_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                             Vector<Scalar>& x, const FitMonitor& monitor = nullptr);

/// X = x x^* as an answer with its residual, spectrum and certificate. Entries of x that no
/// measurement sees count as open, or, where `dark_is_outside`, as no part of x.
template <typename Scalar>
UDV_EXPORT BasicRecovery<Scalar> rank_one_recovery(const IntensityOperator<Scalar>& op,
                                                   const Reals<Scalar>& b, const Vector<Scalar>& x,
                                                   bool dark_is_outside = false);

/// sqrt(s_1) times the first eigenvector of X = U diag(d) U^*: the x of its dominant part.
template <typename Scalar>
UDV_EXPORT Vector<Scalar> dominant_vector(const RowMatrix<Scalar>& U, const Reals<Scalar>& d);

/// | |W x|^2 - b | / |b|
template <typename Scalar>
UDV_EXPORT double intensity_residual(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                     const Vector<Scalar>& x);

/// min over |c| = 1 of |c x - truth| / |truth|.
template <typename Scalar>
UDV_EXPORT double phase_error(const Vector<Scalar>& x, const Vector<Scalar>& truth);

/// The same over all x that have the same diffraction pattern |fft2(x)|^2: copies of the
/// rows x cols image x that are moved (with wrap-around) or inverted.
template <typename Scalar>
UDV_EXPORT double pattern_error(const Vector<Scalar>& x, const Vector<Scalar>& truth, Index rows,
                                Index cols);

/// x times the factor of modulus 1 that makes its largest entry real and positive.
template <typename Scalar>
UDV_EXPORT Vector<Scalar> with_fixed_phase(const Vector<Scalar>& x);

}  // namespace udv
