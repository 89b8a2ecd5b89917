// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "udv/core/types.hpp"

/// For TYPED_TEST_SUITE(Suite, EveryScalar, ScalarName): the scalars that the library is built for.
namespace udv::testing {

using EveryScalar = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

struct ScalarName {
  template <typename Scalar>
  static std::string GetName(int) {
    return scalar_name<Scalar>();
  }
};

}  // namespace udv::testing
