// SPDX-License-Identifier: MIT
// Entries on a device: the laws of operators, the same answers as on the host, and what is said
// where it cannot be used. The module is that of UDV_CUDA_MODULE: the stand-in in host memory, or
// the one for CUDA where there is a device.
#include "recover/device/device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "core/require.hpp"
#include "recover/solver/bayes_answer.hpp"
#include "recover/solver/bias_fit.hpp"
#include "recover/solver/offsets.hpp"
#include "support/linearization_laws.hpp"
#include "support/operator_laws.hpp"
#include "support/operator_registry.hpp"
#include "udv/core/options.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv::testing {
namespace {

template <typename Scalar>
class EntriesOnADevice : public ::testing::Test {
 protected:
  // Each kind of pattern, on the host and on the device.
  template <typename Use>
  static void for_each_pattern(const Use& use) {
    for (const bool symmetric : {false, true})
      for (const bool weighted : {false, true}) {
        const Index cols = symmetric ? 23 : 17;
        const EntriesOperator<Scalar> host(weighted ? random_weighted_pattern(23, cols, symmetric)
                                                    : random_pattern(23, cols, symmetric, true));
        const auto on_device = host.on_device();
        for (const Index width : {1, 3, 10, 40}) {
          SCOPED_TRACE(message(symmetric ? "symmetric" : "rectangular",
                               weighted ? ", weighted, " : ", ", width, " columns"));
          use(host, *on_device, width);
        }
      }
  }
};
using RealScalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EntriesOnADevice, RealScalars);

TYPED_TEST(EntriesOnADevice, KeepTheLawsOfOperators) {
  this->for_each_pattern([](const auto&, const auto& op, Index width) {
    expect_adjoint_identity(op, width);
    expect_that_only_the_product_counts(op, width);
    expect_linear_in_weights(op, width);
    expect_joint_products(op, width);
    expect_zero_of_no_columns(op);
    expect_transposed_adjoint(op);
  });
}

TYPED_TEST(EntriesOnADevice, KeepTheLawsOfGaussNewtonModels) {
  this->for_each_pattern([](const auto&, const auto& op, Index width) {
    expect_pull_back_is_adjoint(op, width);
    expect_normal_product(op, width);
    expect_normal_product_symmetric_semidefinite(op, width);
    expect_preconditioner_definite(op, width);
  });
}

TYPED_TEST(EntriesOnADevice, MeasureWhatTheyMeasureOnTheHost) {
  this->for_each_pattern([](const auto& host, const auto& op, Index width) {
    const OperatorInput<TypeParam> in(op, width);
    const double size = 10 * kEpsilon<TypeParam> * in.magnitude(op);
    EXPECT_NEAR(
        (measured(op, in.U, in.d, in.V) - measured<TypeParam>(host, in.U, in.d, in.V)).norm(), 0,
        size);
    const double products = 10 * kEpsilon<TypeParam> * op.norm_bound() * in.z.norm();
    EXPECT_NEAR((adjoint_times(op, in.z, in.V) - adjoint_times<TypeParam>(host, in.z, in.V)).norm(),
                0, products * in.V.norm());
    const std::vector<Index> some{0, 2, 5, 6, 11};
    EXPECT_NE(dynamic_cast<const EntriesOperator<TypeParam>&>(*op.subset(some)).device(), nullptr);
  });
}

// The same steps, but for rounding.
TYPED_TEST(EntriesOnADevice, AreFittedAsOnTheHost) {
  this->for_each_pattern([](const auto& host, const auto& op, Index width) {
    if (width > 3) return;  // determined by the entries
    const StackedFactors<TypeParam> truth = random_stack<TypeParam>(host, width, 5);
    Reals<TypeParam> b;
    apply_stack<TypeParam>(host, truth, b);
    FitOptions options;
    options.ridge = 1e-2;
    options.small_gain = 1e-6;
    StackedFactors<TypeParam> here = random_stack<TypeParam>(host, width, 6), there = here;
    const FitSummary on_host = fit_factors<TypeParam>(host, b, here, options);
    const FitSummary on_device = fit_factors<TypeParam>(op, b, there, options);
    // What is minimised: the data term alone moves with the last digits of Z.
    const auto minimised = [&](const FitSummary& fit, const StackedFactors<TypeParam>& stack) {
      return fit.objective + 0.5 * options.ridge * stack.Z.squaredNorm();
    };
    const double expected = minimised(on_host, here);
    EXPECT_NEAR(minimised(on_device, there), expected, 1e-4 * expected);
    EXPECT_LE((here.Z - there.Z).norm(), 0.05 * here.Z.norm());
  });
}

// Rows of residue r have columns of residue r: three blocks, in the first of which one row has a
// single entry.
Entries three_blocks() {
  Entries entries{30, 24, false, {}, {}, {}};
  for (std::int32_t i = 0; i < 30; ++i)
    for (std::int32_t j = i % 3; j < 24; j += 3)
      if (i != 6 || j == 0) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(1 + 0.1 * i - 0.2 * j);
      }
  return entries;
}

TEST(EntriesOnADeviceToo, FallIntoTheSameBlocks) {
  const EntriesOperator<double> host(three_blocks());
  const auto device = host.on_device();
  for (const Index rank : {1, 2}) {  // 2: a row is peeled off
    const Undetermined here = host.undetermined(rank), there = device->undetermined(rank);
    EXPECT_EQ(here.blocks.size(), 2u);
    EXPECT_EQ(there.blocks, here.blocks);
    EXPECT_EQ(there.rows, here.rows);
    EXPECT_EQ(there.free_parameters, here.free_parameters);
  }
  const EntriesOperator<double> one(random_pattern(23, 17, false, true));
  EXPECT_EQ(one.on_device()->undetermined(1).blocks, one.undetermined(1).blocks);
}

TEST(EntriesOnADeviceToo, HaveTheSameOffsets) {
  for (const bool weighted : {false, true}) {
    Entries entries = three_blocks();
    for (size_t t = 0; weighted && t < entries.value.size(); ++t)
      entries.weight.push_back(t % 7 == 3 ? 0 : 0.5 + t % 3);
    const EntriesOperator<double> host(entries);
    const auto device = host.on_device();
    Biases biases;
    biases.global = 500;
    biases.row = Vector<double>::LinSpaced(30, -40, 60);
    biases.col = Vector<double>::LinSpaced(24, 3, -8);
    const Vector<double> b = measured(host, biases);
    EXPECT_LE((measured(*device, biases) - b).norm(), 1e-14 * b.norm());
    const OffsetModel here = dominant_offsets(host, b, Centering::kAuto);
    const OffsetModel there = dominant_offsets(*device, b, Centering::kAuto);
    EXPECT_EQ(there.center, here.center);
    EXPECT_LE((measured(host, there.biases) - measured(host, here.biases)).norm(), 1e-9 * b.norm());
  }
}

TEST(FactorsOnADevice, HaveTheSameSingularValues) {
  const EntriesOperator<double> host(random_pattern(23, 17, false, true));
  const auto device = host.on_device();
  const Vector<double> b = Vector<double>::Random(host.num_measurements());
  for (const char* const method : {"udv", "uv"}) {
    Vector<double> d = Vector<double>::Ones(4);
    if (method_named(method).diagonal) d << 3, 0.5, 7, 2;
    const Factorization<double> here(method_named(method), random_stack<double>(host, 4, 3), d);
    const Factorization<double> there = here;
    const double on_host = here.squared_residual(host, 0.3 * b);
    EXPECT_NEAR(there.squared_residual(*device, b, 0.3), on_host, 1e-12 * on_host);
    const Vector<double> s = here.singular_values();
    EXPECT_LE((there.singular_values() - s).norm(), 1e-12 * s.norm());
  }
}

TEST(PosteriorsOnADevice, GiveTheirVariancesAlone) {
  BayesSide<double> side(5, 2, true);
  side.prior << 1, 1;
  std::vector<double> records(static_cast<size_t>(side.away.size()));
  for (size_t n = 0; n < records.size(); ++n) records[n] = 0.5 * static_cast<double>(n);
  side.away.upload(records.data());
  std::vector<float> found(20);
  side.get_variances(found.data());
  side.bring_to_host();
  for (size_t i = 0; i < 5; ++i) {
    const double* const record = side.record(static_cast<Index>(i));  // m, C_00, C_10, C_11
    EXPECT_EQ(found[4 * i], static_cast<float>(record[0]));
    EXPECT_EQ(found[4 * i + 1], static_cast<float>(record[1]));
    EXPECT_EQ(found[4 * i + 2], static_cast<float>(record[2]));
    EXPECT_EQ(found[4 * i + 3], static_cast<float>(record[4]));
  }
}

// Entries of a planted matrix, solved on the host and on the device.
class SolvedOnADevice : public ::testing::Test {
 protected:
  static Planted planted(double noise, Index measurements = 2400) {
    PlantedOptions options;
    options.rows = 80;
    options.cols = 60;
    options.symmetric = false;
    options.rank = 3;
    options.measurements = measurements;
    options.noise = noise;
    return planted_completion(options);
  }
  static RowMatrix<double> matrix(const Recovery& r) {
    RowMatrix<double> X = dense(r.U, r.d, r.V);
    X.array() += r.biases.global;
    if (r.biases.row.size() > 0) X.colwise() += r.biases.row;
    if (r.biases.col.size() > 0) X.rowwise() += r.biases.col.transpose();
    return X;
  }
  // Relative distance of the two answers.
  static double apart(const Entries& entries, RecoverOptions options,
                      Recovery* on_device = nullptr) {
    const Recovery host = recover(completion(entries), options);
    options.device = "cuda";
    Recovery device = recover(completion(entries), options);
    EXPECT_EQ(device.rank, host.rank);
    EXPECT_EQ(device.exact, host.exact);
    EXPECT_NEAR(device.noise_sigma, host.noise_sigma, 1e-3 * host.noise_sigma + 1e-12);
    EXPECT_EQ(device.noise_by, host.noise_by);
    const double distance = (matrix(device) - matrix(host)).norm() / matrix(host).norm();
    if (on_device) *on_device = std::move(device);
    return distance;
  }
};

TEST_F(SolvedOnADevice, ExactEntriesGiveTheSameMatrix) {
  EXPECT_LE(apart(planted(0).entries, {}), 1e-9);
}

TEST_F(SolvedOnADevice, NoisyEntriesGiveTheSameMatrix) {
  Recovery found;
  EXPECT_LE(apart(planted(0.1).entries, {}, &found), 1e-3);
  EXPECT_EQ(found.rank, 3);
  EXPECT_NE(found.posterior, nullptr);
}

TEST_F(SolvedOnADevice, AndInSinglePrecision) {
  RecoverOptions options;
  options.float32 = true;
  options.start = Start::kBayes;
  EXPECT_LE(apart(planted(0.1).entries, options), 1e-3);
}

TEST_F(SolvedOnADevice, OffsetsAndWeightsAreFoundThereToo) {
  Entries entries = planted(0.1).entries;
  for (size_t t = 0; t < entries.value.size(); ++t) {
    entries.value[t] += 40 + 3 * std::sin(entries.row[t]) + 2 * std::cos(entries.col[t]);
    entries.weight.push_back(t % 9 == 4 ? 0 : 0.5 + t % 3);
  }
  EXPECT_LE(apart(entries, {}), 1e-3);
}

TEST_F(SolvedOnADevice, NoiseByRowsAndCountsAreFoundThereToo) {
  Entries entries = planted(0).entries;
  Random random(3, kTestStream);
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] += (entries.row[t] % 2 == 0 ? 0.1 : 0.8) * random.normal();
  EXPECT_LE(apart(entries, {}), 2e-3);
  RecoverOptions poisson;
  poisson.noise_model = NoiseModel::kPoisson;
  poisson.start = Start::kBayes;
  for (double& value : entries.value) value = std::round(20 + 2 * value);
  EXPECT_LE(apart(entries, poisson), 2e-3);
}

TEST_F(SolvedOnADevice, ThePapersAlgorithmTakesTheSameSteps) {
  RecoverOptions options;
  options.rank_walk = false;
  options.max_rank = 10;
  options.step = 0.01;
  options.scale_rule = ScaleRule::kUnit;
  options.max_iterations = 200;
  EXPECT_LE(apart(planted(0).entries, options), 1e-9);
  options.step.reset();
  EXPECT_LE(apart(planted(0).entries, options), 1e-6);
}

TEST_F(SolvedOnADevice, HeldOutEntriesChooseTheRankThereToo) {
  RecoverOptions options;
  options.holdout = 0.1;
  EXPECT_LE(apart(planted(0.1).entries, options), 1e-2);
}

TEST_F(SolvedOnADevice, RunsAgainToTheSameBits) {
  RecoverOptions options;
  options.device = "cuda";
  const Entries entries = planted(0.1).entries;
  const Recovery first = recover(completion(entries), options);
  const Recovery second = recover(completion(entries), options);
  EXPECT_EQ(first.U, second.U);
  EXPECT_EQ(first.V, second.V);
  EXPECT_EQ(first.d, second.d);
}

// From states after some of the sweeps.
TEST_F(SolvedOnADevice, ResumesToTheSameBits) {
  Entries entries = planted(0.1).entries;
  for (double& value : entries.value) value = std::round(20 + 2 * value);
  for (const NoiseModel noise : {NoiseModel::kGaussian, NoiseModel::kRows, NoiseModel::kPoisson}) {
    RecoverOptions options;
    options.device = "cuda";
    options.start = Start::kBayes;
    options.noise_model = noise;
    std::vector<std::string> states;
    RecoverHooks hooks;
    hooks.save_every_seconds = 0;
    hooks.save = [&](const std::string& bytes) { states.push_back(bytes); };
    const Recovery whole = recover(completion(entries), options, hooks);
    ASSERT_GE(states.size(), 10u);
    for (size_t k = 0; k < states.size(); k += 1 + states.size() / 8) {
      RecoverHooks again;
      again.resume = states[k];
      const Recovery resumed = recover(completion(entries), options, again);
      EXPECT_EQ(resumed.U, whole.U) << k;
      EXPECT_EQ(resumed.V, whole.V) << k;
      EXPECT_EQ(resumed.d, whole.d) << k;
      EXPECT_EQ(resumed.noise_sigma, whole.noise_sigma) << k;
    }
  }
}

TEST_F(SolvedOnADevice, TooLittleMemoryIsSaidBeforeWithTheNumber) {
  if (std::string(device::module().name()) != "stand-in") GTEST_SKIP() << "needs the stand-in";
  setenv("UDV_STANDIN_BYTES", "1000", 1);
  RecoverOptions options;
  options.device = "cuda";
  try {
    recover(completion(planted(0).entries), options);
    ADD_FAILURE() << "nothing was said";
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find("which has 1 KB free"), std::string::npos)
        << error.what();
  }
  unsetenv("UDV_STANDIN_BYTES");
}

// What a run with these variables of the stand-in is refused with; nothing where it runs.
std::string refusal(const Entries& entries, RecoverOptions options, const char* variable,
                    const char* value) {
  setenv(variable, value, 1);
  options.device = "cuda";
  std::string text;
  try {
    recover(completion(entries), options);
  } catch (const OptionError& error) {
    text = error.what();
  }
  unsetenv(variable);
  return text;
}

TEST_F(SolvedOnADevice, MoreColumnsNeedMoreMemory) {
  if (std::string(device::module().name()) != "stand-in") GTEST_SKIP() << "needs the stand-in";
  const Entries entries = planted(0).entries;
  const Index lines = entries.rows + entries.cols;
  // 4 KB a line and 48 bytes an entry are enough without a bound on the columns.
  const std::string bytes = std::to_string(4096 * lines + 48 * entries.size());
  EXPECT_EQ(refusal(entries, {}, "UDV_STANDIN_BYTES", bytes.c_str()), "");
  RecoverOptions options;
  options.max_rank = std::min(entries.rows, entries.cols);
  EXPECT_GT(options.max_rank, 30);
  EXPECT_NE(refusal(entries, options, "UDV_STANDIN_BYTES", bytes.c_str())
                .find(message("max-rank ", options.max_rank, " needs about")),
            std::string::npos);
  options.rank_walk = false;  // no model of second order, but 12 arrays of 8 bytes a column
  options.max_iterations = 3;
  const auto line = static_cast<size_t>(96 * ((options.max_rank + 1) / 2 * 2));
  const std::string arrays =
      std::to_string(std::max<size_t>(line, 4096) * static_cast<size_t>(lines) +
                     48 * static_cast<size_t>(entries.size()));
  EXPECT_EQ(refusal(entries, options, "UDV_STANDIN_BYTES", arrays.c_str()), "");
}

TEST_F(SolvedOnADevice, MemoryThatIsRefusedLaterIsSaidWithTheNumber) {
  if (std::string(device::module().name()) != "stand-in") GTEST_SKIP() << "needs the stand-in";
  const std::string said = refusal(planted(0.1).entries, {}, "UDV_STANDIN_LARGEST", "19000");
  EXPECT_NE(said.find("device: another "), std::string::npos) << said;
  EXPECT_NE(said.find("needed on the device stand-in, which has 17.2 GB free"), std::string::npos)
      << said;
}

TEST_F(SolvedOnADevice, OperatorsWithoutADeviceSayIt) {
  RecoverOptions options;
  options.device = "cuda";
  const auto op = make_dense<double>(6, 5, false);
  EXPECT_THROW(recover<double>({op, Vector<double>::Ones(op->num_measurements())}, options),
               OptionError);
}

}  // namespace
}  // namespace udv::testing

// 77 where the module finds no device: CTest skips.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    udv::device::module();
  } catch (const udv::OptionError& error) {
    std::cerr << error.what() << "\n";
    return 77;
  }
  return RUN_ALL_TESTS();
}
