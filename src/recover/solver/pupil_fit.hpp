// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/operators/imaging.hpp"

namespace udv {

/// The pupil P exp(i theta) whose images of a known sample x come nearest to the amplitudes:
/// a few Levenberg-Marquardt steps on theta, one phase per sample of the pupil or, where
/// `polynomial`, the coefficients of the monomials f^j g^k, 1 <= j + k <= 4, in its two
/// frequencies.
RowMatrix<std::complex<double>> refined_pupil(const PtychographyOperator<std::complex<float>>& op,
                                              const Vector<std::complex<float>>& x,
                                              const Vector<float>& amplitudes,
                                              const Vector<float>& weights, bool polynomial);

}  // namespace udv
