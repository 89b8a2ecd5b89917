// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography.hpp"

#include <algorithm>
#include <cmath>

#include "recover/solver/pupil_fit.hpp"
#include "recover/solver/recorder.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/solver/amplitude_fit.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr double kDynamicsSize = 10;   // tr X against the ball
constexpr double kDynamicsInit = 0.1;  // |U_0|_F
constexpr double kMinimumCoverage = 0.99;
constexpr double kDarkerThanBright = 0.7, kBrighterThanDark = 0.3;  // shares of a bright image
constexpr int kRoundOuter = 5;  // image steps per round with the pupil

FitOptions image_options(int max_outer) {
  FitOptions options;
  options.max_outer = max_outer;
  options.small_gain = 1e-3;
  options.patience = 3;
  options.max_cg = 60;
  options.min_cg_tolerance = 1e-3;
  return options;
}

// Mean of the squared amplitudes of image l.
double mean_intensity(const Vector<float>& amplitudes, Index pixels, Index l) {
  return amplitudes.segment(l * pixels, pixels).squaredNorm() / static_cast<double>(pixels);
}

// One recovery: starts, fits, pupil.
class Imaging {
 public:
  Imaging(const Operator& op, const Vector<float>& amplitudes, const std::vector<bool>& dark,
          const PtychographyOptions& options, const Observer& observer)
      : op_(op),
        amplitudes_(amplitudes),
        dark_(dark),
        options_(options),
        recorder_(options.record, observer),
        weights_(Vector<float>::Ones(amplitudes.size())),
        targets_(amplitudes) {}

  PtychographyResult run() {
    result_.pupil = op_.pupil();
    try_start("flat", flat());
    if (options_.dynamics && !result_.stopped) {
      const Vector<Complex> lifted = from_dynamics();
      const bool useful = lifted.allFinite() && lifted.norm() > 0;
      if (useful && !result_.stopped) try_start("dynamics", lifted);
      if (useful && !result_.stopped) try_start("modulus", without_phase(lifted));
    }
    refine();
    result_.spectrum = best_;
    result_.residual = amplitude_residual(*current_, amplitudes_, dark_, result_.dark_gain, best_);
    result_.iterations = recorder_.next_iteration() - 1;
    result_.seconds = recorder_.seconds();
    recorder_.flush();
    result_.history = recorder_.take_history();
    return std::move(result_);
  }

 private:
  // Light at frequency 0 alone, as bright as the brightest image.
  Vector<Complex> flat() const {
    double brightest = 0;
    for (Index l = 0; l < op_.images(); ++l)
      brightest = std::max(brightest, mean_intensity(amplitudes_, op_.pixels(), l));
    Vector<Complex> x = Vector<Complex>::Zero(op_.rows());
    const Index middle = op_.image_rows() / 2 * op_.image_cols() + op_.image_cols() / 2;
    x(middle) = static_cast<float>(std::sqrt(brightest * static_cast<double>(op_.pixels())));
    return x;
  }

  // The dominant part of X after a short run of the dynamics on intensities.
  Vector<Complex> from_dynamics() {
    const Vector<float> b = amplitudes_.cwiseAbs2();
    const double scale = kDynamicsSize / op_.trace_estimate(b);
    const Vector<float> scaled = static_cast<float>(scale) * b;
    auto state = ProjectedGradient<Complex>::start(
        Factorization<Complex>(method_named("udu"), op_.rows(), op_.rows(), options_.columns,
                               kDynamicsInit, options_.seed),
        BasicStepRule<Complex>());
    GradientOptions gradient;
    gradient.max_iterations = options_.dynamics_steps;
    gradient.dead_share = 1e-12;
    ProjectedGradient<Complex> solver(op_, scaled, gradient);
    recorder_.next_run();
    solver.run(state, [&](const BasicGradientState<Complex>& s) {
      return go_on(recorder_.observe(s, 1 / (scale * scale)));
    });
    if (state.stop == GradientStop::kDiverged) return Vector<Complex>::Zero(op_.rows());
    return static_cast<float>(1 / std::sqrt(scale)) *
           dominant_vector<Complex>(state.factors.stack().U(), state.factors.d());
  }

  // The modulus of the image, with phase zero: undoes the phase vortices of a random start.
  Vector<Complex> without_phase(const Vector<Complex>& x) const {
    return op_.from_image(op_.to_image(x).cwiseAbs().cast<Complex>());
  }

  void try_start(const char* name, Vector<Complex> x) {
    const double objective = fit_image(*current_, x, 60);
    const double residual = amplitude_residual(*current_, amplitudes_, dark_, 1, x);
    result_.candidates.push_back({name, residual});
    if (best_.size() == 0 || objective < best_objective_) {
      best_ = std::move(x);
      best_objective_ = objective;
      result_.winner = name;
    }
  }

  double fit_image(const Operator& op, Vector<Complex>& x, int max_outer) {
    const AmplitudeModel<Complex> model(op, targets_, weights_);
    RowMatrix<Complex> Z = x;
    const auto summary =
        minimise<Complex>(model, Z, image_options(max_outer),
                          [&](const FitStep& step) { return go_on(recorder_.observe(step, 1)); });
    x = Z.col(0);
    return summary.objective;
  }

  bool go_on(Verdict verdict) {
    result_.stopped = result_.stopped || verdict != Verdict::kContinue;
    return !result_.stopped;
  }

  // Pupil, gain and image in turn.
  void refine() {
    const bool pupil = options_.refine_pupil != PupilRefinement::kOff;
    const int rounds = pupil || use_gain() ? options_.pupil_rounds : 0;
    for (int round = 0; round < rounds && !result_.stopped; ++round) {
      if (pupil) {
        result_.pupil = refined_pupil(*current_, best_, targets_, weights_,
                                      options_.refine_pupil == PupilRefinement::kPolynomial);
        replaced_ = op_.with_pupil(result_.pupil);
        current_ = replaced_.get();
      }
      if (use_gain()) update_gain();
      fit_image(*current_, best_, kRoundOuter);
    }
  }

  bool use_gain() const {
    return options_.dark_gain && std::count(dark_.begin(), dark_.end(), true) > 0;
  }

  // g = sum |psi| a / sum |psi|^2 over the dark images; fitted are a / g with weight g^2.
  void update_gain() {
    RowMatrix<Complex> fields;
    current_->project(RowMatrix<Complex>(best_), fields);
    const Vector<float> sizes = fields.col(0).cwiseAbs();
    double product = 0, square = 0;
    for_dark([&](Index first, Index count) {
      product += sizes.segment(first, count).dot(amplitudes_.segment(first, count));
      square += sizes.segment(first, count).squaredNorm();
    });
    if (!(product > 0) || !(square > 0)) return;
    result_.dark_gain = product / square;
    const auto gain = static_cast<float>(result_.dark_gain);
    for_dark([&](Index first, Index count) {
      targets_.segment(first, count) = amplitudes_.segment(first, count) / gain;
      weights_.segment(first, count).setConstant(gain * gain);
    });
  }

  template <typename Body>
  void for_dark(const Body& body) const {
    for (Index l = 0; l < op_.images(); ++l)
      if (dark_[static_cast<size_t>(l)]) body(l * op_.pixels(), op_.pixels());
  }

  const Operator& op_;
  const Vector<float>& amplitudes_;
  const std::vector<bool>& dark_;
  const PtychographyOptions& options_;
  Recorder recorder_;
  Vector<float> weights_, targets_;
  const Operator* current_ = &op_;
  std::unique_ptr<Operator> replaced_;
  Vector<Complex> best_;
  double best_objective_ = 0;
  PtychographyResult result_;
};

}  // namespace

PtychographyResult recover_image(const Operator& op, const Vector<float>& amplitudes,
                                 const std::vector<bool>& dark, const PtychographyOptions& options,
                                 const Observer& observer) {
  require(amplitudes.size() == op.num_measurements(), "ptychography: ", amplitudes.size(),
          " amplitudes, ", op.num_measurements(), " expected");
  require(static_cast<Index>(dark.size()) == op.images(), "ptychography: ", dark.size(),
          " images described, ", op.images(), " expected");
  require(amplitudes.allFinite() && amplitudes.norm() > 0,
          "ptychography: amplitudes are all zero or not finite");
  const FlushToZero flush;
  return Imaging(op, amplitudes, dark, options, observer).run();
}

double amplitude_residual(const Operator& op, const Vector<float>& amplitudes,
                          const std::vector<bool>& dark, double dark_gain,
                          const Vector<Complex>& spectrum) {
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(spectrum), fields);
  Vector<float> sizes = fields.col(0).cwiseAbs();
  for (Index l = 0; l < op.images(); ++l)
    if (dark[static_cast<size_t>(l)])
      sizes.segment(l * op.pixels(), op.pixels()) *= static_cast<float>(dark_gain);
  return static_cast<double>((sizes - amplitudes).norm()) / static_cast<double>(amplitudes.norm());
}

std::vector<Index> contradicting_images(const Vector<float>& amplitudes, Index pixels,
                                        const std::vector<bool>& dark) {
  std::vector<double> bright;
  const auto count = static_cast<Index>(dark.size());
  for (Index l = 0; l < count; ++l)
    if (!dark[static_cast<size_t>(l)]) bright.push_back(mean_intensity(amplitudes, pixels, l));
  std::vector<Index> bad;
  if (bright.empty()) return bad;
  std::nth_element(bright.begin(), bright.begin() + static_cast<std::ptrdiff_t>(bright.size() / 2),
                   bright.end());
  const double typical = bright[bright.size() / 2];
  for (Index l = 0; l < count; ++l) {
    const double share = mean_intensity(amplitudes, pixels, l) / typical;
    if (dark[static_cast<size_t>(l)] ? share > kBrighterThanDark : share < kDarkerThanBright)
      bad.push_back(l);
  }
  return bad;
}

std::vector<Index> choose_held_out(const Operator& op, Index count, std::uint64_t seed) {
  const std::vector<Index> order = Random(seed, kStreamHoldout).permutation(op.images());
  std::vector<Index> held;
  const auto used_without = [&](Index candidate) {
    std::vector<Index> used;
    for (Index l = 0; l < op.images(); ++l)
      if (l != candidate && std::find(held.begin(), held.end(), l) == held.end()) used.push_back(l);
    return used;
  };
  for (const Index candidate : order) {
    if (static_cast<Index>(held.size()) == count) break;
    const auto used = used_without(candidate);
    bool covered = coverage(op.pupil(), op.windows(), candidate, used) >= kMinimumCoverage;
    // Those chosen before must stay covered.
    for (const Index l : held)
      covered = covered && coverage(op.pupil(), op.windows(), l, used) >= kMinimumCoverage;
    if (covered) held.push_back(candidate);
  }
  require(static_cast<Index>(held.size()) == count, "holdout: only ", held.size(), " of ",
          op.images(), " images are covered by the others, ", count, " wanted");
  std::sort(held.begin(), held.end());
  return held;
}

}  // namespace udv
