// SPDX-License-Identifier: MIT
#include "udv/recover/solver/options.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "support/random_data.hpp"

namespace udv {
namespace options_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct BadOption {
  std::string name;
  std::function<void(RecoverOptions&)> damage;
  std::string expected;
};

void PrintTo(const BadOption& bad, std::ostream* out) {
  *out << bad.name;
}

class BadOptions : public ::testing::TestWithParam<BadOption> {};

TEST_P(BadOptions, AreRefusedWithNameAndValue) {
  RecoverOptions options;
  GetParam().damage(options);
  EXPECT_EQ(testing::error_of([&] { options.validate(); }), GetParam().expected);
}

void with_scale(RecoverOptions& options, double value) {
  options.scale_rule = ScaleRule::kValue;
  options.scale_value = value;
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadOptions,
    ::testing::Values(
        BadOption{"method", [](auto& o) { o.method = "svd"; },
                  "method 'svd' found, one of bm, udu, uv, udv expected"},
        BadOption{"max_rank", [](auto& o) { o.max_rank = -2; },
                  "max_rank is -2, 0 or more expected"},
        BadOption{"zero_step", [](auto& o) { o.step = 0; },
                  "step is 0, a positive number expected"},
        BadOption{"infinite_step", [](auto& o) { o.step = kInfinity; },
                  "step is inf, a positive number expected"},
        BadOption{"alpha", [](auto& o) { o.alpha = -1; },
                  "alpha is -1, a positive number expected"},
        BadOption{"scale", [](auto& o) { with_scale(o, kNan); },
                  "scale is nan, a positive number expected"},
        BadOption{"init_norm", [](auto& o) { o.init_norm = 0; },
                  "init_norm is 0, a positive number expected"},
        BadOption{"max_iterations", [](auto& o) { o.max_iterations = -5; },
                  "max_iterations is -5, 0 or more expected"},
        BadOption{"tolerance", [](auto& o) { o.tolerance = -1e-3; },
                  "tolerance is -0.001, 0 or more expected"},
        BadOption{"noise", [](auto& o) { o.noise_sigma = kNan; },
                  "noise is nan, 0 or more expected"},
        BadOption{"negative_holdout", [](auto& o) { o.holdout = -0.1; },
                  "holdout is -0.1, a share in [0, 1) expected"},
        BadOption{"whole_holdout", [](auto& o) { o.holdout = 1; },
                  "holdout is 1, a share in [0, 1) expected"},
        BadOption{"two_rules", [](auto& o) { o.holdout = 0.1, o.noise_sigma = 1; },
                  "noise and holdout are two ways to choose the rank, one of them expected"}),
    [](const auto& info) { return info.param.name; });

TEST(RecoverOptions, AreValidByDefault) {
  EXPECT_NO_THROW(RecoverOptions{}.validate());
}

TEST(RecoverOptions, IgnoreTheScaleValueUnlessItIsUsed) {
  RecoverOptions options;
  options.scale_value = -1;
  EXPECT_NO_THROW(options.validate());
}

}  // namespace options_test
}  // namespace udv
