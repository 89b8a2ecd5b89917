// SPDX-License-Identifier: MIT
#pragma once

#include "recover/solver/amplitude_fit.hpp"

namespace udv {

/// The pupil P exp(i theta) whose images of a known sample x come nearest to the targets, with
/// their backgrounds as they are:
/// a few Levenberg-Marquardt steps on theta, one phase per sample of the pupil or, where
/// `polynomial`, the coefficients of the monomials f^j g^k, 1 <= j + k <= 4, in its two
/// frequencies. One phase per sample is held smooth by as much as noise of this variance in the
/// targets asks for (PupilSmoothness).
RowMatrix<std::complex<double>> refined_pupil(const PtychographyOperator<std::complex<float>>& op,
                                              const Vector<std::complex<float>>& x,
                                              const ImageTargets& targets, bool polynomial,
                                              double variance = 0);

}  // namespace udv
