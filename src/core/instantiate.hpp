// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

/// The scalar types that every template of the library is compiled for.
#define UDV_FOR_EACH_SCALAR(INSTANTIATE) \
  INSTANTIATE(float)                     \
  INSTANTIATE(double)                    \
  INSTANTIATE(std::complex<float>)       \
  INSTANTIATE(std::complex<double>)
