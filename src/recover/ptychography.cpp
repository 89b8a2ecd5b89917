// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/solver/amplitude_fit.hpp"
#include "recover/solver/fingerprint.hpp"
#include "recover/solver/pupil_fit.hpp"
#include "recover/solver/recorder.hpp"
#include "recover/solver/saver.hpp"
#include "recover/solver/state_archive.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, ImageCandidate& candidate) {
  archive(candidate.name, candidate.residual);
}

namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr double kDynamicsSize = 10;   // tr X against the ball
constexpr double kDynamicsInit = 0.1;  // |U_0|_F
constexpr int kStartOuter = 60;        // image steps from a start
constexpr int kRoundOuter = 5;         // image steps per round with the pupil

constexpr const char* kStateKind = "ptychography complex64";

FitOptions image_options(int max_outer) {
  FitOptions options;
  options.max_outer = max_outer;
  options.small_gain = 1e-3;
  options.patience = 3;
  options.max_cg = 60;
  options.min_cg_tolerance = 1e-3;
  return options;
}

// What a recovery does next. Each part but the dynamics is repeated where it was cut off.
enum class Part { kFlat, kDynamics, kLifted, kModulus, kPupil, kImage, kEnd };

struct ImagingState {
  std::uint64_t fingerprint = 0;
  RecorderState recorder;
  Part part = Part::kFlat;
  bool has_gradient = false;
  BasicGradientState<Complex> gradient;
  Vector<Complex> lifted;  // the start that the dynamics supplied
  Vector<Complex> best;
  double best_objective = 0;
  std::vector<ImageCandidate> candidates;
  std::string winner;
  int round = 0;  // of pupil and image
  bool has_pupil = false;
  RowMatrix<std::complex<double>> pupil;
  double dark_gain = 1;
};

template <typename Archive>
void fields(Archive& archive, ImagingState& s) {
  archive(s.fingerprint, s.recorder, s.part, s.has_gradient, s.gradient, s.lifted, s.best);
  archive(s.best_objective, s.candidates, s.winner, s.round, s.has_pupil, s.pupil, s.dark_gain);
}

std::string option_bytes(PtychographyOptions options, const std::vector<bool>& dark) {
  ArchiveWriter archive;
  std::string dark_images;
  for (const bool is_dark : dark) dark_images += is_dark ? '1' : '0';
  archive(options.refine_pupil, options.pupil_rounds, options.dark_gain, options.dynamics,
          options.columns, options.dynamics_steps, options.seed, dark_images);
  return archive.take();
}

// One recovery: starts, fits, pupil.
class Imaging {
 public:
  Imaging(const Operator& op, const Vector<float>& amplitudes, const std::vector<bool>& dark,
          const PtychographyOptions& options, const Hooks& hooks)
      : op_(op),
        amplitudes_(amplitudes),
        dark_(dark),
        options_(options),
        recorder_(options.record, hooks.observer),
        saver_(hooks, recorder_, [this](const RecorderState& s) { return to_bytes(s); }),
        weights_(Vector<float>::Ones(amplitudes.size())),
        targets_(amplitudes) {
    state_.pupil = op.pupil();
    if (hooks.save || !hooks.resume.empty())
      state_.fingerprint = solve_fingerprint<Complex>(op, amplitudes, option_bytes(options, dark));
    if (!hooks.resume.empty()) resume(hooks.resume);
  }

  // All but the figures of the answer.
  PtychographyResult run() {
    while (state_.part != Part::kEnd && !saver_.stopped()) run_part();
    PtychographyResult found;
    found.x = std::move(state_.best);
    found.pupil = std::move(state_.pupil);
    found.dark_gain = state_.dark_gain;
    found.amplitude_residual =
        amplitude_residual(*current_, amplitudes_, dark_, found.dark_gain, found.x);
    found.candidates = std::move(state_.candidates);
    found.winner = state_.winner;
    found.iterations = recorder_.next_iteration() - 1;
    found.seconds = recorder_.seconds();
    recorder_.flush();
    found.history = recorder_.take_history();
    return found;
  }

  Verdict verdict() const { return saver_.verdict(); }

 private:
  std::string to_bytes(const RecorderState& recorder) {
    state_.recorder = recorder;
    return bytes_of_state(kStateKind, state_);
  }

  void resume(const std::string& bytes) {
    auto state = state_from_bytes<ImagingState>(kStateKind, bytes);
    require(state.fingerprint == state_.fingerprint,
            "the checkpoint belongs to another problem or to other options");
    const Index size = op_.rows();
    const auto fits = [&](const Vector<Complex>& x, bool needed) {
      return needed ? x.size() == size : x.size() == 0 || x.size() == size;
    };
    require(state.part >= Part::kFlat && state.part <= Part::kEnd &&
                fits(state.best, state.part != Part::kFlat) &&
                fits(state.lifted, state.part == Part::kLifted || state.part == Part::kModulus) &&
                (!state.has_gradient || fits_symmetric(state.gradient, size)) &&
                state.pupil.rows() == op_.pupil().rows() &&
                state.pupil.cols() == op_.pupil().cols(),
            "checkpoint: sizes that do not belong together");
    state_ = std::move(state);
    recorder_.restore(std::move(state_.recorder));
    if (state_.has_pupil) use_pupil();
    use_gain();
  }

  void run_part() {
    if (state_.part != Part::kDynamics) saver_.begin_part();
    switch (state_.part) {
      case Part::kFlat:
        try_start("flat", flat());
        state_.part = options_.dynamics ? Part::kDynamics : Part::kPupil;
        break;
      case Part::kDynamics:
        run_dynamics();
        break;
      case Part::kLifted:
        try_start("dynamics", state_.lifted);
        state_.part = Part::kModulus;
        break;
      case Part::kModulus:
        try_start("modulus", without_phase(state_.lifted));
        state_.part = Part::kPupil;
        break;
      case Part::kPupil:
        refine_pupil();
        break;
      default:
        fit_image(*current_, state_.best, kRoundOuter);
        ++state_.round;
        state_.part = Part::kPupil;
    }
    saver_.end_part();
  }

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

  void start_dynamics() {
    state_.gradient = ProjectedGradient<Complex>::start(
        Factorization<Complex>(method_named("udu"), op_.rows(), op_.rows(), options_.columns,
                               kDynamicsInit, options_.seed),
        BasicStepRule<Complex>());
    state_.has_gradient = true;
    recorder_.next_run();
  }

  // A short run of the dynamics on intensities: the dominant part of X is a start.
  void run_dynamics() {
    const Vector<float> b = amplitudes_.cwiseAbs2();
    const double scale = kDynamicsSize / op_.trace_estimate(b), unit = 1 / (scale * scale);
    const Vector<float> scaled = static_cast<float>(scale) * b;
    if (!state_.has_gradient) start_dynamics();
    BasicGradientState<Complex>& gradient = state_.gradient;
    GradientOptions options;
    options.max_iterations = options_.dynamics_steps;
    options.dead_share = 1e-12;
    if (gradient.stop == GradientStop::kRunning || gradient.stop == GradientStop::kObserver)
      ProjectedGradient<Complex>(op_, scaled, options)
          .run(gradient, [&](const BasicGradientState<Complex>& s) {
            return saver_.go_on(recorder_.observe(s, unit));
          });
    recorder_.finish(gradient, unit);
    state_.part = Part::kPupil;
    if (gradient.stop != GradientStop::kDiverged) {
      state_.lifted = static_cast<float>(1 / std::sqrt(scale)) *
                      dominant_vector<Complex>(gradient.factors.stack().U(), gradient.factors.d());
      if (state_.lifted.allFinite() && state_.lifted.norm() > 0) state_.part = Part::kLifted;
    }
    gradient = BasicGradientState<Complex>();
    state_.has_gradient = false;
  }

  // The modulus of the image, with phase zero: undoes the phase vortices of a random start.
  Vector<Complex> without_phase(const Vector<Complex>& x) const {
    return op_.from_image(op_.to_image(x).cwiseAbs().cast<Complex>());
  }

  void try_start(const char* name, Vector<Complex> x) {
    const double objective = fit_image(*current_, x, kStartOuter);
    const double residual = amplitude_residual(*current_, amplitudes_, dark_, 1, x);
    state_.candidates.push_back({name, residual});
    if (state_.best.size() == 0 || objective < state_.best_objective) {
      state_.best = std::move(x);
      state_.best_objective = objective;
      state_.winner = name;
    }
  }

  double fit_image(const Operator& op, Vector<Complex>& x, int max_outer) {
    const AmplitudeModel<Complex> model(op, targets_, weights_);
    RowMatrix<Complex> Z = x;
    const auto summary = minimise<Complex>(
        model, Z, image_options(max_outer),
        [&](const FitStep& step) { return saver_.go_on(recorder_.observe(step, 1)); });
    x = Z.col(0);
    return summary.objective;
  }

  // Pupil and gain; the image is fitted to them next.
  void refine_pupil() {
    const bool pupil = options_.refine_pupil != PupilRefinement::kOff;
    const int rounds = pupil || wants_gain() ? options_.pupil_rounds : 0;
    if (state_.round >= rounds) {
      state_.part = Part::kEnd;
      return;
    }
    if (pupil) {
      state_.pupil = refined_pupil(*current_, state_.best, targets_, weights_,
                                   options_.refine_pupil == PupilRefinement::kPolynomial);
      state_.has_pupil = true;
      use_pupil();
    }
    if (wants_gain()) update_gain();
    state_.part = Part::kImage;
  }

  void use_pupil() {
    replaced_ = op_.with_pupil(state_.pupil);
    current_ = replaced_.get();
  }

  bool wants_gain() const {
    return options_.dark_gain && std::count(dark_.begin(), dark_.end(), true) > 0;
  }

  // g = sum |psi| a / sum |psi|^2 over the dark images.
  void update_gain() {
    RowMatrix<Complex> fields;
    current_->project(RowMatrix<Complex>(state_.best), fields);
    const Vector<float> sizes = fields.col(0).cwiseAbs();
    double product = 0, square = 0;
    for_dark([&](Index first, Index count) {
      product += sizes.segment(first, count).dot(amplitudes_.segment(first, count));
      square += sizes.segment(first, count).squaredNorm();
    });
    if (!(product > 0) || !(square > 0)) return;
    state_.dark_gain = product / square;
    use_gain();
  }

  // Fitted are a / g with weight g^2.
  void use_gain() {
    const auto gain = static_cast<float>(state_.dark_gain);
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
  Saver saver_;
  Vector<float> weights_, targets_;
  const Operator* current_ = &op_;
  std::unique_ptr<Operator> replaced_;
  ImagingState state_;
};

}  // namespace

void PtychographyOptions::validate() const {
  require(pupil_rounds >= 0, "pupil_rounds = ", pupil_rounds, ", 0 or more expected");
  require(columns >= 1, "columns = ", columns, ", at least 1 expected");
  require(dynamics_steps >= 1, "dynamics_steps = ", dynamics_steps, ", at least 1 expected");
}

PtychographyResult recover_image(const Operator& op, const Vector<float>& amplitudes,
                                 const std::vector<bool>& dark, const PtychographyOptions& options,
                                 const Hooks& hooks) {
  options.validate();
  require(amplitudes.size() == op.num_measurements(), "ptychography: ", amplitudes.size(),
          " amplitudes, ", op.num_measurements(), " expected");
  require(static_cast<Index>(dark.size()) == op.images(), "ptychography: ", dark.size(),
          " images described, ", op.images(), " expected");
  require(amplitudes.allFinite() && amplitudes.norm() > 0,
          "ptychography: amplitudes are all zero or not finite");
  PtychographyResult found;
  Verdict verdict = Verdict::kContinue;
  {
    const FlushToZero flush;
    Imaging imaging(op, amplitudes, dark, options, hooks);
    found = imaging.run();
    verdict = imaging.verdict();
  }
  const Vector<float> b = amplitudes.cwiseAbs2();
  auto answer = rank_one_recovery<Complex>(*op.with_pupil(found.pupil), b, found.x, true);
  answer.iterations = found.iterations;
  answer.seconds = found.seconds;
  answer.history = std::move(found.history);
  answer.converged = verdict == Verdict::kContinue;
  // The fit is of amplitudes, and it is over; the figures of the certificate are of intensities.
  if (answer.converged && answer.certificate.verdict == Optimality::kNotConverged)
    answer.certificate.verdict = Optimality::kStationary;
  answer.stop_reason = stop_reason(verdict, answer.converged);
  static_cast<BasicRecovery<Complex>&>(found) = std::move(answer);
  return found;
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

RowMatrix<Complex> sample_image(const Operator& op, const Vector<Complex>& spectrum) {
  const Vector<Complex> image = with_fixed_phase<Complex>(op.to_image(spectrum));
  return Eigen::Map<const RowMatrix<Complex>>(image.data(), op.image_rows(), op.image_cols());
}

double mean_intensity(const Vector<float>& amplitudes, Index pixels, Index image) {
  return amplitudes.segment(image * pixels, pixels).squaredNorm() / static_cast<double>(pixels);
}

}  // namespace udv
