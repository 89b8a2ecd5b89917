// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/operators/intensity.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv::jobs {

/// Files of intensities b_i = |<a_i, x>|^2.
struct PhaseInput {
  std::string measurements;  ///< A as .npy, real or complex
  std::string values;        ///< b as .npy
  std::string fourier;       ///< instead of both: |fft2(x)|^2 of one pattern as .npy
  std::string support;       ///< where x may differ from zero, as .npy; empty: see `phase`
  std::string truth;         ///< the true x as .npy, where known
};
UDV_EXPORT void describe(OptionTable& table, PhaseInput& input);

/// What A holds.
enum class PhaseMap {
  kRows,   ///< rows a_i
  kMasks,  ///< masks m_l: b = |fft2(m_l x)|^2
};

struct PhaseJobOptions {
  PhaseMap map = PhaseMap::kRows;
  int restarts = 5;           ///< random starts at most
  bool nonnegative = false;   ///< x is real, no entry is negative
  bool sparse = false;        ///< many entries of x are zero
  std::vector<bool> support;  ///< of an operator in memory; empty: all entries may differ from zero
  RecoverOptions method;
};
UDV_EXPORT void describe(OptionTable& table, PhaseJobOptions& options);

/// x up to a factor of modulus 1; its largest entry is real and positive.
template <typename Scalar>
struct PhaseAnswer : RecoveryResult<Scalar> {
  Vector<Scalar> x;
};

/// Real where A is, else complex.
using PhaseResult = std::variant<PhaseAnswer<double>, PhaseAnswer<std::complex<double>>>;

/// Recovers x from the intensities |A x|^2. One Fourier pattern without a support is that of an x
/// in the first half of its rows and columns (oversampled twice). Throws IoError naming file and
/// place, OptionError naming a setting.
UDV_EXPORT PhaseResult phase(const PhaseInput& input, const PhaseJobOptions& options,
                             Session& session);

/// The same for an operator in memory; `truth` may be empty.
template <typename Scalar>
UDV_EXPORT PhaseAnswer<Scalar> phase(std::shared_ptr<const IntensityOperator<Scalar>> op,
                                     const Vector<double>& b, const Vector<Scalar>& truth,
                                     const PhaseJobOptions& options, Session& session);

}  // namespace udv::jobs
