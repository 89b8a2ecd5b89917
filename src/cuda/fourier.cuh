// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace udv::device {

/// Two-dimensional transforms of `batch` images in place, unnormalised, by cuFFT. That library is
/// looked for at the first call: what needs no images needs no cuFFT.
void transform(float* images, std::int64_t rows, std::int64_t cols, std::int64_t batch,
               bool forward);
void transform(double* images, std::int64_t rows, std::int64_t cols, std::int64_t batch,
               bool forward);

/// Nothing where cuFFT is there; else why not.
const char* no_fourier();

}  // namespace udv::device
