// SPDX-License-Identifier: MIT
// Images on a device: the laws of operators, and the same pictures as on the host.
#include <gtest/gtest.h>

#include "core/require.hpp"
#include "recover/device/imaging_device.hpp"
#include "recover/solver/amplitude_fit.hpp"
#include "recover/solver/pupil_fit.hpp"
#include "support/linearization_laws.hpp"
#include "support/microscope.hpp"
#include "support/operator_laws.hpp"
#include "support/operator_registry.hpp"
#include "udv/core/options.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/recover.hpp"

namespace udv::testing {
namespace {

template <typename Scalar>
class ImagesOnADevice : public ::testing::Test {
 protected:
  // The operators of images of the registry, and one with supports: on the host and on the device.
  template <typename Use>
  static void for_each_operator(const Use& use) {
    for_every_operator<Scalar>([&](const OperatorCase<Scalar>& item) {
      if (item.by_images) for_each_width(*item.make(kSmallOperator), use);
    });
    const std::vector<Window> windows{{0, 0}, {3, 1}, {2, 4}};
    std::vector<RowMatrix<float>> supports;
    for (const std::uint64_t l : {0, 1, 2})
      supports.push_back(random_rows<double>(5, 6, 40 + l).cwiseAbs().cast<float>());
    const auto pupil = random_rows<std::complex<double>>(5, 6, 39);
    for (const auto& shifts :
         {std::vector<SampleShift>(), std::vector<SampleShift>{{0.3, -0.4}, {-0.7, 0}, {0.2, 0.5}}})
      for_each_width(PtychographyOperator<Scalar>(9, 11, windows, pupil, {supports, shifts}), use);
  }

 private:
  template <typename Use>
  static void for_each_width(const MeasurementOperator<Scalar>& host, const Use& use) {
    const auto there = host.on_device();
    ASSERT_NE(dynamic_cast<const ImagingOperator<Scalar>&>(*there).device(), nullptr);
    for (const Index width : {1, 3, 17}) {
      SCOPED_TRACE(message(host.name(), ", ", width, " columns"));
      use(host, *there, width);
    }
  }
};
using ComplexScalars = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ImagesOnADevice, ComplexScalars);

TYPED_TEST(ImagesOnADevice, KeepTheLawsOfOperators) {
  this->for_each_operator([](const auto&, const auto& op, Index width) {
    expect_adjoint_identity(op, width);
    expect_that_only_the_product_counts(op, width);
    expect_linear_in_weights(op, width);
    expect_joint_products(op, width);
    expect_residual_products(op, width);
    expect_zero_of_no_columns(op);
    expect_transposed_adjoint(op);
    expect_norm_bound(op);
  });
}

TYPED_TEST(ImagesOnADevice, KeepTheLawsOfGaussNewtonModels) {
  this->for_each_operator([](const auto&, const auto& op, Index width) {
    expect_pull_back_is_adjoint(op, width);
    expect_normal_product(op, width);
    expect_normal_product_symmetric_semidefinite(op, width);
    expect_preconditioner_definite(op, width);
  });
}

TYPED_TEST(ImagesOnADevice, MeasureWhatTheyMeasureOnTheHost) {
  this->for_each_operator([](const auto& host, const auto& op, Index width) {
    using Real = RealOf<TypeParam>;
    const OperatorInput<TypeParam> in(op, width);
    const double size = 10 * kEpsilon<TypeParam> * in.magnitude(op);
    EXPECT_NEAR(
        (measured<TypeParam>(op, in.U, in.d, in.U) - measured<TypeParam>(host, in.U, in.d, in.U))
            .norm(),
        0, size);
    const double products = 10 * kEpsilon<TypeParam> * op.norm_bound() * in.z.norm();
    EXPECT_NEAR(
        (adjoint_times<TypeParam>(op, in.z, in.V) - adjoint_times<TypeParam>(host, in.z, in.V))
            .norm(),
        0, products * in.V.norm());
    const auto& there = dynamic_cast<const ImagingOperator<TypeParam>&>(op);
    const auto& here = dynamic_cast<const ImagingOperator<TypeParam>&>(host);
    const Vector<Real> w = in.z.cwiseAbs();
    EXPECT_NEAR((there.diagonal(w) - here.diagonal(w)).norm(), 0,
                10 * kEpsilon<TypeParam> * here.diagonal(w).norm());
    EXPECT_NEAR(there.mean_gain(), here.mean_gain(), 1e-12 * here.mean_gain());
    RowMatrix<TypeParam> fields, expected;
    there.project(in.U, fields);
    here.project(in.U, expected);
    EXPECT_NEAR((fields - expected).norm(), 0, 10 * kEpsilon<TypeParam> * expected.norm());
  });
}

// Amplitudes with weights, free backgrounds and shrinkage: the same steps, but for rounding.
TEST(AmplitudesOnADevice, AreFittedAsOnTheHost) {
  const Scene scene;
  const Index images = scene.op.images(), pixels = scene.op.pixels();
  ImageTargets targets{scene.amplitudes,
                       Vector<float>::Ones(scene.amplitudes.size()),
                       Vector<float>::Zero(images),
                       {},
                       Vector<float>::Zero(images),
                       {}};
  for (Index l = 0; l < images; ++l) {
    const bool dark = scene.dark[static_cast<size_t>(l)];
    targets.free.push_back(dark);
    auto own = targets.amplitudes.segment(l * pixels, pixels);
    if (dark) own = (own.array().square() + 1e-3f).sqrt();
    targets.weights(l * pixels + 7) = 0;
  }
  targets.shrinkage = Vector<float>::Constant(scene.op.rows(), 1e-3f);
  FitOptions options;
  options.max_outer = 4;
  const auto there = scene.op.on_device();
  Vector<std::complex<float>> x = 0.9f * scene.truth, y = x;
  x(40) += 0.5f, y(40) += 0.5f;
  ImageTargets on_host = targets, on_device = targets;
  const FitSummary here = fit_amplitudes(scene.op, on_host, x, options, nullptr);
  const FitSummary away =
      fit_amplitudes(dynamic_cast<const ImagingOperator<std::complex<float>>&>(*there), on_device,
                     y, options, nullptr);
  EXPECT_NEAR(away.objective, here.objective, 1e-2 * here.objective);
  EXPECT_LE((x - y).norm(), 1e-2 * x.norm());
  EXPECT_LE((on_host.backgrounds - on_device.backgrounds).norm(),
            1e-2 * on_host.backgrounds.norm());
}

// Also where LEDs stand between samples.
TEST(AmplitudesOnADevice, FindTheSamePupil) {
  const Scene scene;
  const PtychographyOperator<std::complex<float>> bent(kHigh, kHigh, grid(), disc(9, 0.8));
  const Index images = scene.op.images();
  ImagePupils own;
  for (Index l = 0; l < images; ++l)
    own.shifts.push_back({0.06 * static_cast<double>(l % 9) - 0.2, 0.3});
  const PtychographyOperator<std::complex<float>> moved(kHigh, kHigh, grid(), scene.op.pupil(),
                                                        own);
  const ImageTargets targets{amplitudes_of(bent, scene.truth),
                             Vector<float>::Ones(scene.amplitudes.size()),
                             Vector<float>::Zero(images),
                             std::vector<bool>(static_cast<size_t>(images), false),
                             {},
                             {}};
  for (const auto* op : {&scene.op, &moved}) {
    const auto there =
        std::dynamic_pointer_cast<const PtychographyOperator<std::complex<float>>>(op->on_device());
    for (const bool polynomial : {false, true}) {
      const auto here = refined_pupil(*op, scene.truth, targets, polynomial);
      const auto away = refined_pupil(*there, scene.truth, targets, polynomial);
      EXPECT_LE((here - away).norm(), 1e-3 * here.norm());
    }
  }
}

class PicturesOnADevice : public ::testing::Test {
 protected:
  static PtychographyResult recovered(const PtychographyImages& images, const char* device) {
    PtychographyOptions options;
    options.device = device;
    return recover_image(images, options);
  }
};

TEST_F(PicturesOnADevice, AreThoseOfTheHost) {
  const Scene scene(2);
  const PtychographyImages images = scene.images();
  const auto here = recovered(images, "cpu"), there = recovered(images, "cuda");
  EXPECT_EQ(there.winner, here.winner);
  EXPECT_NEAR(there.amplitude_residual, here.amplitude_residual,
              0.2 * here.amplitude_residual + 1e-4);
  EXPECT_NEAR(there.dark_gain, here.dark_gain, 1e-2);
  EXPECT_LE(phase_error<std::complex<float>>(there.x, here.x), 2e-2);
  EXPECT_EQ(there.certificate.verdict, here.certificate.verdict);
}

TEST_F(PicturesOnADevice, HaveTheSameBitsEachTime) {
  const Scene scene(2);
  const PtychographyImages images = scene.images();
  EXPECT_EQ(recovered(images, "cuda").x, recovered(images, "cuda").x);
}

TEST_F(PicturesOnADevice, ThePapersAlgorithmTakesTheSameSteps) {
  const Scene scene(2);
  const BasicProblem<std::complex<float>> problem{scene.images().op, scene.amplitudes.cwiseAbs2()};
  for (const char* const method : {"udu", "bm"}) {
    RecoverOptions options;
    options.method = method;
    options.rank_walk = false;
    options.max_rank = 5;
    options.step = 0.05;
    options.scale_rule = ScaleRule::kValue;
    options.scale_value = 2 / problem.b.norm();
    options.max_iterations = 40;
    const auto here = recover(problem, options);
    options.device = "cuda";
    const auto there = recover(problem, options);
    EXPECT_NEAR(there.relative_residual, here.relative_residual, 1e-4);
    EXPECT_LE((there.spectrum - here.spectrum).norm(), 1e-3 * here.spectrum.norm());
  }
}

TEST_F(PicturesOnADevice, TooLittleMemoryIsSaidBeforeWithTheNumber) {
  if (std::string(device::module().name()) != "stand-in") GTEST_SKIP() << "needs the stand-in";
  setenv("UDV_STANDIN_BYTES", "1000000", 1);
  try {
    recovered(Scene().images(), "cuda");
    ADD_FAILURE() << "nothing was said";
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find(" MB on the device"), std::string::npos)
        << error.what();
  }
  unsetenv("UDV_STANDIN_BYTES");
}

}  // namespace
}  // namespace udv::testing
