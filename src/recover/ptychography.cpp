// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/median.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/solver/amplitude_fit.hpp"
#include "recover/solver/fingerprint.hpp"
#include "recover/solver/image_light.hpp"
#include "recover/solver/image_noise.hpp"
#include "recover/solver/pupil_fit.hpp"
#include "recover/solver/recorder.hpp"
#include "recover/solver/saver.hpp"
#include "recover/solver/state_archive.hpp"
#include "recover/wave_phase.hpp"
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
constexpr int kStartOuter = 20;        // image steps from a start, bright images alone
constexpr int kAllOuter = 20;          // image steps when dark images join
constexpr int kRoundOuter = 5;         // image steps per round with the pupil
constexpr double kSettledGain = 0.03;  // change of the dark gain that ends the rounds
constexpr int kBrightRounds = 2;       // of pupil and image with bright images alone
constexpr double kUnequal = 0.07;      // spread of bright means that speaks of unequal LEDs
constexpr double kRoundedShare = 0.8;  // of the residual: LEDs stand on samples
constexpr double kShrinkage = 0.1;     // of the gain of an LED towards the common one
constexpr int kShrinkOuter = 8;        // image steps with a shrunk spectrum
constexpr double kSlowest = 0.2;       // frequency of slow phases, as a share of the pupil's radius
// Strength of what holds slow phases, as a share of the light in a sample of the spectrum: times
// what is left over of the squared amplitudes, and at most (phases that change an image by less
// than its root per radian stay flat).
constexpr double kSlowShare = 10, kMostSlow = 3e-3;

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
enum class Part {
  kFlat,
  kDynamics,
  kLifted,
  kModulus,
  kAll,
  kPupil,
  kImage,
  kDenoise,
  kGains,
  kShrink,
  kEnd
};

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
  bool exact = false;  // positions of LEDs
  RowMatrix<std::complex<double>> pupil;
  double dark_gain = 1;
  double gain_change = 0;                      // of its logarithm, in the last round
  Vector<float> gains;                         // of amplitudes, one per image
  Vector<float> backgrounds;                   // of intensities, with the offset
  double noise_slope = 0, noise_constant = 0;  // as ImageNoise has them
  double offset = 0;                           // c
  double slow_strength = kMostSlow;
};

template <typename Archive>
void fields(Archive& archive, ImagingState& s) {
  archive(s.fingerprint, s.recorder, s.part, s.has_gradient, s.gradient, s.lifted, s.best);
  archive(s.best_objective, s.candidates, s.winner, s.round, s.has_pupil, s.pupil, s.dark_gain);
  archive(s.exact, s.gain_change, s.gains, s.backgrounds, s.noise_slope, s.noise_constant, s.offset,
          s.slow_strength);
}

std::string option_bytes(PtychographyOptions options, const PtychographyImages& images,
                         PtychographyStart start) {
  ArchiveWriter archive;
  std::string dark_images;
  for (const bool is_dark : images.dark) dark_images += is_dark ? '1' : '0';
  Vector<float> weights = images.weights;
  archive(options.refine_pupil, options.pupil_rounds, options.gain_rounds, options.dark_gain,
          options.background, options.led_gains, options.hold_slow_phases, options.dynamics,
          options.columns, options.dynamics_steps, options.seed, options.noise, dark_images,
          weights);
  archive(start.pupil, start.exact, start.dark_gain, start.curvature);
  return archive.take();
}

// Images l with dark[l] == wanted.
std::vector<Index> images_that_are(const std::vector<bool>& dark, bool wanted) {
  std::vector<Index> images;
  for (size_t l = 0; l < dark.size(); ++l)
    if (dark[l] == wanted) images.push_back(static_cast<Index>(l));
  return images;
}

// One recovery: starts, fits, pupil.
class Imaging {
 public:
  Imaging(const PtychographyImages& images, const PtychographyOptions& options, const Hooks& hooks,
          const PtychographyStart& start)
      : op_(*images.op),
        exact_(images.exact.get()),
        amplitudes_(images.amplitudes),
        dark_(images.dark),
        options_(options),
        curvature_(start.curvature),
        recorder_(options.record, hooks.observer),
        saver_(hooks, recorder_, [this](const RecorderState& s) { return to_bytes(s); }),
        weights_(images.weights) {
    if (weights_.size() == 0) weights_ = Vector<float>::Ones(amplitudes_.size());
    for (Index l = 0; l < op_.images(); ++l) all_.push_back(l);
    bright_ = images_that_are(dark_, false);
    if (bright_.empty()) bright_ = all_;
    state_.pupil = op_.pupil();
    state_.backgrounds = Vector<float>::Zero(op_.images());
    state_.gains = equal_brightness();
    if (start.pupil.size() > 0) begin_from(start);
    if (hooks.save || !hooks.resume.empty())
      state_.fingerprint =
          solve_fingerprint<Complex>(op_, amplitudes_, option_bytes(options, images, start));
    if (!hooks.resume.empty()) resume(hooks.resume);
  }

  // All but the figures of the answer.
  PtychographyResult run() {
    while (state_.part != Part::kEnd && !saver_.stopped()) run_part();
    PtychographyResult found;
    found.x = std::move(state_.best);
    found.pupil = std::move(state_.pupil);
    found.exact = state_.exact;
    found.dark_gain = state_.dark_gain;
    found.gains = std::move(state_.gains);
    found.backgrounds = (state_.backgrounds.array() - static_cast<float>(state_.offset)).max(0);
    found.noise_per_intensity = state_.noise_slope;
    found.noise_constant = state_.noise_constant;
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
  // A neighbour knows the pupil and whether LEDs stand on samples.
  void begin_from(const PtychographyStart& start) {
    require(start.pupil.rows() == op_.pupil().rows() && start.pupil.cols() == op_.pupil().cols(),
            "ptychography: a pupil of ", start.pupil.rows(), " x ", start.pupil.cols(),
            " to start from, ", op_.pupil().rows(), " x ", op_.pupil().cols(), " expected");
    known_ = true;
    state_.exact = start.exact && exact_ != nullptr;
    state_.pupil = start.pupil;
    state_.has_pupil = true;
    state_.dark_gain = start.dark_gain;
    for (const Index l : images_that_are(dark_, true))
      state_.gains(l) = static_cast<float>(start.dark_gain);
  }

  std::string to_bytes(const RecorderState& recorder) {
    ImagingState& state = repeated_ ? *repeated_ : state_;
    state.recorder = recorder;
    return bytes_of_state(kStateKind, state);
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
                state.pupil.cols() == op_.pupil().cols() && state.gains.size() == op_.images() &&
                state.backgrounds.size() == op_.images() && (!state.exact || exact_),
            "checkpoint: sizes that do not belong together");
    state_ = std::move(state);
    recorder_.restore(std::move(state_.recorder));
    lift_amplitudes();
  }

  void run_part() {
    if (state_.part != Part::kDynamics) {
      saver_.begin_part();
      repeated_ = state_;
    }
    switch (state_.part) {
      case Part::kFlat:
        try_flat();
        state_.part = options_.dynamics ? Part::kDynamics : Part::kAll;
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
        state_.part = Part::kAll;
        break;
      case Part::kAll:
        model_noise();
        if (bright_.size() < all_.size()) fit_image(all_, state_.best, kAllOuter);
        state_.part = Part::kDenoise;
        break;
      case Part::kPupil:
        refine_pupil();
        break;
      case Part::kDenoise:
        shrink_spectrum();
        state_.part = Part::kPupil;
        break;
      case Part::kGains:
        update_led_gains();
        fit_image(all_, state_.best, kRoundOuter);
        state_.part = Part::kShrink;
        break;
      case Part::kShrink:
        shrink_spectrum();
        state_.part = Part::kEnd;
        break;
      default:
        fit_image(all_, state_.best, kRoundOuter);
        ++state_.round;
        state_.part = Part::kDenoise;
    }
    repeated_.reset();
    saver_.end_part();
  }

  // Bright images are equally bright but for their LEDs: g_l^2 = mean intensity / typical one,
  // where the means differ by more than samples make them.
  Vector<float> equal_brightness() const {
    Vector<float> gains = Vector<float>::Ones(op_.images());
    if (!options_.led_gains) return gains;
    std::vector<double> means, distances;
    for (const Index l : bright_) means.push_back(mean_intensity(amplitudes_, op_.pixels(), l));
    const double typical = median_of(means);
    for (const double mean : means) distances.push_back(std::abs(mean / typical - 1));
    if (median_of(distances) < kUnequal) return gains;
    for (size_t i = 0; i < bright_.size(); ++i)
      if (means[i] > 0) gains(bright_[i]) = static_cast<float>(std::sqrt(means[i] / typical));
    return gains;
  }

  // The phase of the light.
  void bend(Vector<Complex>& image) const {
    if (curvature_ != 0)
      detail::bend_wave(image.data(), op_.image_rows(), op_.image_cols(), curvature_);
  }

  // A clear sample, as bright as the brightest image: light at frequency 0 alone, where the light
  // is a plane wave.
  Vector<Complex> flat() const {
    double brightest = 0;
    for (Index l = 0; l < op_.images(); ++l)
      brightest = std::max(brightest, mean_intensity(amplitudes_, op_.pixels(), l));
    Vector<Complex> x = Vector<Complex>::Zero(op_.rows());
    const Index middle = op_.image_rows() / 2 * op_.image_cols() + op_.image_cols() / 2;
    x(middle) = static_cast<float>(std::sqrt(brightest * static_cast<double>(op_.pixels())));
    if (curvature_ == 0) return x;
    Vector<Complex> image = op_.to_image(x);
    bend(image);
    return op_.from_image(image);
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
            return saver_.should_continue(recorder_.observe(s, unit));
          });
    recorder_.finish(gradient, unit);
    state_.part = Part::kAll;
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
    Vector<Complex> image = op_.to_image(x).cwiseAbs().cast<Complex>();
    bend(image);
    return op_.from_image(image);
  }

  // LEDs stand between the samples of the spectrum, unless bright images say clearly that they
  // stand on them, as in many simulations.
  void try_flat() {
    try_start("flat", flat());
    if (!exact_ || known_ || saver_.stopped()) return;
    const ImagingState rounded = state_;
    state_.exact = true;
    state_.has_pupil = false;
    state_.pupil = exact_->pupil();
    state_.candidates.clear();
    state_.best.resize(0);
    try_start("flat", flat());
    if (rounded.best_objective < kRoundedShare * kRoundedShare * state_.best_objective)
      state_ = rounded;
  }

  // Bright images alone: what they agree on no dark image can spoil. The first start finds the
  // pupil, the others use it.
  void try_start(const char* name, Vector<Complex> x) {
    double objective = fit_image(bright_, x, kStartOuter);
    if (!state_.has_pupil && options_.refine_pupil != PupilRefinement::kOff &&
        options_.pupil_rounds > 0)
      for (int round = 0; round < kBrightRounds && !saver_.stopped(); ++round) {
        fit_pupil(bright_, x, noise(objective).per_intensity);
        objective = fit_image(bright_, x, kRoundOuter);
      }
    const ImageTargets targets = targets_of(bright_);
    state_.candidates.push_back({name, std::sqrt(2 * objective) / data_norm(targets)});
    if (state_.best.size() == 0 || objective < state_.best_objective) {
      state_.best = std::move(x);
      state_.best_objective = objective;
      state_.winner = name;
    }
  }

  // Fitted are a / g with weight g^2 and background b / g^2.
  ImageTargets targets_of(const std::vector<Index>& images) const {
    const Index pixels = op_.pixels(), count = static_cast<Index>(images.size());
    ImageTargets targets{Vector<float>(count * pixels),
                         Vector<float>(count * pixels),
                         Vector<float>(count),
                         {},
                         Vector<float>(count),
                         {},
                         {}};
    for (Index i = 0; i < count; ++i) {
      const Index l = images[static_cast<size_t>(i)];
      const float gain = state_.gains(l);
      targets.amplitudes.segment(i * pixels, pixels) = lifted().segment(l * pixels, pixels) / gain;
      targets.weights.segment(i * pixels, pixels) =
          gain * gain * weights_.segment(l * pixels, pixels);
      targets.backgrounds(i) = state_.backgrounds(l) / (gain * gain);
      targets.least(i) = static_cast<float>(state_.offset) / (gain * gain);
      targets.free.push_back(options_.background && dark_[static_cast<size_t>(l)]);
    }
    return targets;
  }

  const Operator& model() const { return state_.exact ? *exact_ : op_; }

  std::unique_ptr<Operator> operator_of(const std::vector<Index>& images) const {
    if (images.size() == all_.size()) return model().with_pupil(state_.pupil);
    return model().with_images(images)->with_pupil(state_.pupil);
  }

  // Image and free backgrounds. Returns the objective.
  double fit_image(const std::vector<Index>& images, Vector<Complex>& x, int max_outer,
                   const Vector<float>& shrinkage = {}) {
    const auto op = operator_of(images);
    ImageTargets targets = targets_of(images);
    targets.shrinkage = shrinkage;
    targets.slow = slow_phases(*op, targets, x);
    const auto summary = fit_amplitudes(
        *op, targets, x, image_options(max_outer),
        [&](const FitStep& step) { return saver_.should_continue(recorder_.observe(step, 1)); });
    const double left_over = 2 * summary.objective / std::pow(data_norm(targets), 2);
    state_.slow_strength = std::min(kMostSlow, kSlowShare * left_over);
    for (size_t i = 0; i < images.size(); ++i) {
      const float gain = state_.gains(images[i]);
      state_.backgrounds(images[i]) = gain * gain * targets.backgrounds(static_cast<Index>(i));
    }
    return summary.objective;
  }

  // Slow phases are held as much as misfits are large: what the model leaves over is not noise that
  // averages out, so that images which fit badly would make slow phases of it.
  SlowPhases slow_phases(const Operator& op, const ImageTargets& targets,
                         const Vector<Complex>& x) const {
    if (!options_.hold_slow_phases) return {};
    const double area = static_cast<double>((op_.pupil().cwiseAbs2().array() > 0).count());
    const double highest = kSlowest * std::sqrt(area / std::numbers::pi);
    const auto light = static_cast<double>(op.diagonal(targets.weights).maxCoeff());
    return {op, x, curvature_, highest, state_.slow_strength * light};
  }

  // Amplitudes of intensities with variance slope * intensity have the variance slope / 4.
  void fit_pupil(const std::vector<Index>& images, const Vector<Complex>& x, double slope) {
    state_.pupil = refined_pupil(*operator_of(images), x, targets_of(images),
                                 options_.refine_pupil == PupilRefinement::kPolynomial, slope / 4);
    state_.has_pupil = true;
  }

  // Pupil and gain; the image is fitted to them next.
  void refine_pupil() {
    const bool pupil = options_.refine_pupil != PupilRefinement::kOff;
    const int rounds = pupil || wants_gain() ? options_.pupil_rounds : 0;
    const int most = state_.gain_change > kSettledGain ? rounds + options_.gain_rounds : rounds;
    if (state_.round >= most) {
      state_.part = options_.led_gains ? Part::kGains : Part::kShrink;
      return;
    }
    if (pupil) fit_pupil(all_, state_.best, state_.noise_slope);
    if (wants_gain()) update_gain();
    state_.part = Part::kImage;
  }

  bool wants_gain() const {
    return options_.dark_gain && std::count(dark_.begin(), dark_.end(), true) > 0;
  }

  Vector<float> squares_of_best() const {
    RowMatrix<Complex> fields;
    model().with_pupil(state_.pupil)->project(RowMatrix<Complex>(state_.best), fields);
    return fields.col(0).cwiseAbs2();
  }

  ImagePixels pixels_of(const Vector<float>& squares, Index l) const {
    const Index first = l * op_.pixels();
    return {squares.data() + first, lifted().data() + first, weights_.data() + first, op_.pixels()};
  }

  // The common exposure g^2 of dark images and their backgrounds, by turns.
  void update_gain() {
    const Vector<float> squares = squares_of_best();
    std::vector<ImagePixels> dark;
    for (const Index l : images_that_are(dark_, true)) dark.push_back(pixels_of(squares, l));
    const double exposure = common_exposure(dark, options_.background, state_.offset);
    if (!(exposure > 0)) return;
    const auto change = static_cast<float>(std::sqrt(exposure) / state_.dark_gain);
    state_.dark_gain = std::sqrt(exposure);
    state_.gain_change = std::abs(std::log(static_cast<double>(change)));
    for (const Index l : images_that_are(dark_, true)) state_.gains(l) *= change;
  }

  // sqrt(a^2 + c)
  const Vector<float>& lifted() const { return lifted_.size() > 0 ? lifted_ : amplitudes_; }
  void lift_amplitudes() {
    if (state_.offset > 0)
      lifted_ = (amplitudes_.array().square() + static_cast<float>(state_.offset)).sqrt();
  }

  // Counting noise: what the highest frequencies show, but no more than bright images leave over,
  // 1/4 per_intensity in amplitudes.
  ImageNoise noise(double bright_objective) const {
    if (options_.noise == PhotonNoise::kGaussian) return {};
    if (options_.noise == PhotonNoise::kPoisson) return {1, 0};
    ImageNoise seen = noise_of_images(op_, amplitudes_, dark_);
    const auto measured = static_cast<double>(op_.pixels()) * static_cast<double>(bright_.size());
    const double left_over = 8 * bright_objective / measured;
    if (left_over < seen.per_intensity) seen = {left_over, 0};
    return seen;
  }

  // c is added to images and predictions alike; the least background is c.
  void model_noise() {
    const ImageNoise found = noise(state_.best_objective);
    state_.noise_slope = found.per_intensity;
    state_.noise_constant = found.constant;
    double brightest = 0;
    for (const Index l : bright_)
      brightest = std::max(brightest, mean_intensity(amplitudes_, op_.pixels(), l));
    const double offset = found.offset(brightest);
    // The part that calls this may be repeated.
    state_.backgrounds.array() += static_cast<float>(offset - state_.offset);
    state_.offset = offset;
    lift_amplitudes();
  }

  // Noise in the image would go into pupil and gains, so it is shrunk before they are fitted, too.
  void shrink_spectrum() {
    if (!(state_.noise_slope > 0)) return;
    const auto op = operator_of(all_);
    const Vector<float> shrinkage = shrinkage_of(*op, state_.best, targets_of(all_).weights,
                                                 state_.noise_slope / 4, curvature_ == 0);
    fit_image(all_, state_.best, kShrinkOuter, shrinkage);
  }

  // A factor per LED, shrunk towards 1 and never far from it: one that is free from the start
  // collapses. Its mean over bright images is 1, as the sample has a scale of its own.
  void update_led_gains() {
    const Vector<float> squares = squares_of_best();
    Vector<float> factors(op_.images());
    parallel_blocks(op_.images(), 1, [&](Index l, Index) {
      const bool dark = dark_[static_cast<size_t>(l)];
      const double common = dark ? state_.dark_gain : 1;
      const double gain = std::sqrt(best_exposure(pixels_of(squares, l), state_.backgrounds(l)));
      const double factor = (gain / common + kShrinkage) / (1 + kShrinkage);
      factors(l) = static_cast<float>(std::clamp(factor, 0.5, 2.0));
    });
    double mean = 0;
    for (const Index l : bright_) mean += factors(l) / static_cast<double>(bright_.size());
    for (Index l = 0; l < op_.images(); ++l)
      state_.gains(l) = factors(l) / static_cast<float>(mean) *
                        static_cast<float>(dark_[static_cast<size_t>(l)] ? state_.dark_gain : 1);
  }

  const Operator& op_;
  const Operator* exact_;
  const Vector<float>& amplitudes_;
  const std::vector<bool>& dark_;
  const PtychographyOptions& options_;
  double curvature_;
  Recorder recorder_;
  Saver saver_;
  Vector<float> weights_, lifted_;
  bool known_ = false;  // pupil and positions, from a neighbour
  std::vector<Index> all_, bright_;
  ImagingState state_;
  std::optional<ImagingState> repeated_;  // as the part began that would be repeated
};

// The images as the model would have them without gains and backgrounds; where a pixel says
// nothing, the model's own.
Vector<float> cleaned_intensities(const PtychographyImages& images, const PtychographyResult& found,
                                  const Vector<float>& squares) {
  Vector<float> b = images.amplitudes.cwiseAbs2();
  const Index pixels = images.op->pixels();
  for (Index i = 0; i < b.size(); ++i) {
    const Index l = i / pixels;
    if (images.weights.size() > 0 && images.weights(i) == 0)
      b(i) = squares(i);
    else
      b(i) = std::max(0.0f, b(i) - found.backgrounds(l)) / (found.gains(l) * found.gains(l));
  }
  return b;
}

Vector<float> squares_of(const Operator& op, const Vector<Complex>& x) {
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(x), fields);
  return fields.col(0).cwiseAbs2();
}

// | sqrt(g^2 s + b) - a | / | a | with g^2 and b of each image.
double residual_with(const PtychographyImages& images, const Vector<float>& squares,
                     const std::vector<ImageLight>& lights) {
  double square = 0, norm = 0;
  const Index pixels = images.op->pixels();
  for (Index i = 0; i < squares.size(); ++i) {
    const ImageLight& light = lights[static_cast<size_t>(i / pixels)];
    const double weight = images.weights.size() > 0 ? images.weights(i) : 1;
    const auto a = static_cast<double>(images.amplitudes(i));
    const double q = std::sqrt(light.exposure * static_cast<double>(squares(i)) + light.background);
    square += weight * (q - a) * (q - a);
    norm += weight * a * a;
  }
  return std::sqrt(square / norm);
}

double residual_of_used(const PtychographyImages& images, const PtychographyResult& found,
                        const Vector<float>& squares) {
  std::vector<ImageLight> lights;
  for (Index l = 0; l < images.op->images(); ++l)
    lights.push_back({static_cast<double>(found.gains(l)) * found.gains(l),
                      static_cast<double>(found.backgrounds(l))});
  return residual_with(images, squares, lights);
}

void check_images(const PtychographyImages& images) {
  const Operator& op = *images.op;
  require(images.amplitudes.size() == op.num_measurements(),
          "ptychography: ", images.amplitudes.size(), " amplitudes, ", op.num_measurements(),
          " expected");
  require(static_cast<Index>(images.dark.size()) == op.images(),
          "ptychography: ", images.dark.size(), " images described, ", op.images(), " expected");
  require(images.weights.size() == 0 || images.weights.size() == op.num_measurements(),
          "ptychography: ", images.weights.size(), " weights, none or ", op.num_measurements(),
          " expected");
  require(!images.exact || images.exact->num_measurements() == op.num_measurements(),
          "ptychography: the two operators have other sizes");
  require(images.amplitudes.allFinite() && images.amplitudes.norm() > 0,
          "ptychography: amplitudes are all zero or not finite");
}

// The same images with their operators on the device.
PtychographyImages on_device(PtychographyImages images, Index columns) {
  const auto moved = [columns](const std::shared_ptr<const Operator>& op) {
    return op ? std::dynamic_pointer_cast<const Operator>(op->on_device(columns)) : nullptr;
  };
  images.op = moved(images.op);
  images.exact = moved(images.exact);
  return images;
}

}  // namespace

void PtychographyOptions::validate() const {
  require(device == "cpu" || device == "cuda", "device is '", device, "', cpu or cuda expected");
  require(pupil_rounds >= 0, "pupil_rounds = ", pupil_rounds, ", 0 or more expected");
  require(gain_rounds >= 0, "gain_rounds = ", gain_rounds, ", 0 or more expected");
  require(columns >= 1, "columns = ", columns, ", at least 1 expected");
  require(dynamics_steps >= 1, "dynamics_steps = ", dynamics_steps, ", at least 1 expected");
}

PtychographyResult recover_image(const PtychographyImages& given,
                                 const PtychographyOptions& options, const Hooks& hooks,
                                 const PtychographyStart& start) {
  options.validate();
  check_images(given);
  const bool there = options.device == "cuda";
  const PtychographyImages moved =
      there ? on_device(given, options.dynamics ? options.columns : 1) : PtychographyImages();
  const PtychographyImages& images = there ? moved : given;
  PtychographyResult found;
  Verdict verdict = Verdict::kContinue;
  {
    const FlushToZero flush;
    Imaging imaging(images, options, hooks, start);
    found = imaging.run();
    verdict = imaging.verdict();
  }
  const auto op = operator_of(images, found);
  if (found.x.size() == 0) found.x = Vector<Complex>::Zero(op->rows());
  const Vector<float> squares = squares_of(*op, found.x);
  found.amplitude_residual = residual_of_used(images, found, squares);
  BasicRecovery<Complex> answer;
  if (options.examine)
    answer =
        rank_one_recovery<Complex>(*op, cleaned_intensities(images, found, squares), found.x, true);
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

std::unique_ptr<Operator> operator_of(const PtychographyImages& images,
                                      const PtychographyResult& found) {
  return (found.exact ? images.exact : images.op)->with_pupil(found.pupil);
}

double amplitude_residual(const PtychographyImages& images, const PtychographyResult& found) {
  return residual_of_used(images, found, squares_of(*operator_of(images, found), found.x));
}

HeldOutResidual held_out_residual(const PtychographyImages& images,
                                  const PtychographyResult& found) {
  const Vector<float> squares = squares_of(*operator_of(images, found), found.x);
  const Index pixels = images.op->pixels();
  const Vector<float> ones = Vector<float>::Ones(images.amplitudes.size());
  const Vector<float>& weights = images.weights.size() > 0 ? images.weights : ones;
  std::vector<float> dark;  // backgrounds that are not 0 by choice
  for (const float background : found.backgrounds)
    if (background > 0) dark.push_back(background);
  std::sort(dark.begin(), dark.end());
  const double typical = dark.empty() ? 0 : static_cast<double>(dark[dark.size() / 2]);
  std::vector<ImageLight> common, own;
  for (Index l = 0; l < images.op->images(); ++l) {
    const bool is_dark = images.dark[static_cast<size_t>(l)];
    common.push_back(is_dark ? ImageLight{found.dark_gain * found.dark_gain, typical}
                             : ImageLight{});
    const Index first = l * pixels;
    own.push_back(best_light({squares.data() + first, images.amplitudes.data() + first,
                              weights.data() + first, pixels}));
  }
  return {residual_with(images, squares, common), residual_with(images, squares, own)};
}

RowMatrix<Complex> sample_image(const Operator& op, const Vector<Complex>& spectrum) {
  const Vector<Complex> image = with_fixed_phase<Complex>(op.to_image(spectrum));
  return Eigen::Map<const RowMatrix<Complex>>(image.data(), op.image_rows(), op.image_cols());
}

double mean_intensity(const Vector<float>& amplitudes, Index pixels, Index image) {
  return amplitudes.segment(image * pixels, pixels).squaredNorm() / static_cast<double>(pixels);
}

}  // namespace udv
