// SPDX-License-Identifier: MIT
#include "udv/jobs/ptychography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "jobs/ptychography_field.hpp"
#include "jobs/ptychography_geometry.hpp"
#include "jobs/ptychography_pictures.hpp"
#include "jobs/recovery.hpp"
#include "udv/core/error.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/phase.hpp"

namespace udv::jobs {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr double kPaperNorm = 2;  // |b| of the paper's setting
constexpr double kBadFit = 0.25;  // relative amplitude residual that no noise explains
constexpr Index kPaperColumns = 20, kPaperIterations = 10'000;

// The paper's algorithm, as soon as a setting of it is given.
bool wants_gradient(const RecoverOptions& method) {
  return method.wants_gradient() || method.method != "auto";
}

void check_settings(const PtychographyJobOptions& options) {
  check_options(options.method);
  if (wants_gradient(options.method)) return;
  check_for_intensities(options.method, true);
  if (!options.snapshots.empty())
    throw OptionError("snapshots", "only with the gradient method: give a step");
}

void set_paper_defaults(RecoverOptions& method, double norm) {
  method.rank_walk = false;
  if (method.method == "auto") method.method = "udu";
  if (method.scale_rule == ScaleRule::kAuto) {
    method.scale_rule = ScaleRule::kValue;
    method.scale_value = kPaperNorm / norm;
  }
  if (method.max_rank == 0) method.max_rank = kPaperColumns;
  if (method.max_iterations == 0) method.max_iterations = kPaperIterations;
}

}  // namespace

PtychographyOptions image_options(const PtychographyJobOptions& options) {
  PtychographyOptions image;
  image.refine_pupil = options.refine_pupil;
  image.dark_gain = options.dark_gain;
  image.noise = options.noise;
  image.dynamics = options.all_candidates;
  if (options.method.max_rank > 0) image.columns = options.method.max_rank;
  image.record = options.method.record;
  image.seed = options.method.seed;
  image.device = options.method.device;
  return image;
}

namespace {

// The image of the LED nearest to the axis, of those that are used.
Index central_image(const PtychographyData& data, const PtychographyImages& used) {
  const auto& windows = used.op->windows();
  const Index rows = data.pupil.rows(), cols = data.pupil.cols();
  const auto distance = [&](const Window& w) {
    return std::hypot(static_cast<double>(2 * w.row + rows - data.rows),
                      static_cast<double>(2 * w.col + cols - data.cols));
  };
  return std::min_element(
             windows.begin(), windows.end(),
             [&](const Window& a, const Window& b) { return distance(a) < distance(b); }) -
         windows.begin();
}

/// One job: images, split and settings, from the solve to the files.
class PtychographyJob {
 public:
  PtychographyJob(const PtychographyInput& input, PtychographyData data,
                  const PtychographyJobOptions& options, Session& session,
                  std::string geometry = "")
      : input_(input),
        data_(std::move(data)),
        options_(options),
        session_(session),
        geometry_(std::move(geometry)) {
    options_.method.seed = session.seed();
    split_ = split_images(data_, options_.held_out, session.seed());
    problem_.op = split_.used.op;
    problem_.b = split_.used.amplitudes.cwiseAbs2();
    if (!automatic()) set_paper_defaults(options_.method, problem_.b.norm());
    RecoverOptions checked = options_.method;
    if (automatic_) checked.max_rank = image_options(options_).columns;  // never more
    check_problem(problem_, checked);
  }

  PtychographyJobResult run() {
    OptionTable table;
    describe(table, input_);
    describe(table, options_);
    for (const std::string& warning : data_.warnings) session_.listener().warning(warning);
    session_.notice(size_text());
    Run run(session_, "ptycho", table.config(), table.fingerprint());
    note_data(run.info());
    PtychographyJobResult result;
    BasicRecovery<Complex> recovery = automatic_ ? solve_image(run, result) : solve_gradient(run);
    warn_about(run, recovery);
    if (recovery.stop_reason != StopReason::kInterrupted)
      use_answer(run, recovery, result);
    else if (automatic_ && run.has_folder())
      write_image_so_far(run.folder(), sample_image(*operator_of(split_.used, found_), found_.x));
    static_cast<RecoveryResult<Complex>&>(result) = finish(run, std::move(recovery));
    return result;
  }

 private:
  bool automatic() { return automatic_ = !wants_gradient(options_.method); }

  // "68 images of 80 x 80 -> 160 x 160, about 12 MiB"
  std::string size_text() const {
    const Operator& op = *split_.used.op;
    const Index columns = automatic_ ? image_options(options_).columns : options_.method.max_rank;
    const double bytes = memory_estimate(op, columns, !automatic_);
    return fmt::format("{} images of {} x {} -> {} x {}, about {:.0f} MiB", op.images(),
                       data_.pupil.rows(), data_.pupil.cols(), data_.rows, data_.cols,
                       bytes / (1024.0 * 1024.0));
  }

  void note_data(io::RunInfo& info) const {
    info.warnings = data_.warnings;
    note_leds(info, data_);
  }

  BasicRecovery<Complex> solve_image(Run& run, PtychographyJobResult& result) {
    const Hooks hooks = with_geometry(run.hooks(solve_total(options_.method, session_)), geometry_);
    found_ = run.compute(
        hooks, [&] { return recover_image(split_.used, image_options(options_), hooks); });
    result.pupil = found_.pupil;
    result.dark_gain = found_.dark_gain;
    result.candidates = found_.candidates;
    result.winner = found_.winner;
    return std::move(found_);
  }

  BasicRecovery<Complex> solve_gradient(Run& run) {
    BasicHooks<Complex> hooks;
    hooks.snapshot_at = options_.snapshots;
    if (run.has_folder())
      hooks.snapshot = [&run, this](const BasicGradientState<Complex>& state) {
        const auto x = dominant_vector<Complex>(state.factors.stack().U(), state.factors.d());
        const std::string suffix = fmt::format("-{:06}.png", state.iteration);
        write_pictures(run.folder().growing_file("amplitude" + suffix),
                       run.folder().growing_file("phase" + suffix),
                       sample_image(*split_.used.op, x));
      };
    return solve(run, problem_, options_.method, hooks);
  }

  // Image, residuals, and their files.
  void use_answer(Run& run, const BasicRecovery<Complex>& recovery, PtychographyJobResult& result) {
    if (!automatic_) use_plain_images(recovery, result);
    const auto used = operator_of(split_.used, found_);
    result.image = sample_image(*used, found_.x);
    result.amplitude_residual =
        automatic_ ? found_.amplitude_residual : amplitude_residual(split_.used, found_);
    if (split_.held_out.op) {
      const HeldOutResidual residual = held_out_residual(split_.held_out, found_);
      result.held_out_residual = residual.predicted;
      result.held_out_scaled = residual.scaled;
    }
    judge_image(run.info(), result);
    note_answer(run.info(), result);
    if (automatic_ && result.amplitude_residual > kBadFit) warn_of_bad_fit(run, result);
    if (!run.has_folder()) return;
    RunFolder& folder = run.folder();
    write_image(folder, run.info(), result.image, data_.optics.pixel_m / data_.optics.upsampling);
    write_pupil(folder, result.pupil);
    io::write_npy(folder.file("windows.npy"), window_corners(*used));
    const Index rows = data_.pupil.rows(), cols = data_.pupil.cols();
    const Index first = central_image(data_, split_.used) * rows * cols;
    io::write_png(folder.file("raw.png"),
                  io::gray_picture(enlarged(split_.used.amplitudes.data() + first, rows, cols,
                                            data_.optics.upsampling)));
    write_leds(folder, data_.optics, data_.leds, led_lights());
    draw_open_pixels(folder, *used, recovery.open_entries);
  }

  // How far each pixel may move without any image changing.
  static void draw_open_pixels(RunFolder& folder, const Operator& op,
                               const OpenEntries<Complex>& open) {
    const Vector<Complex> direction = free_direction_of_x(open);
    if (direction.size() == 0) return;
    const Vector<double> moved = op.to_image(direction).cwiseAbs().cast<double>();
    const RowMatrix<double> image =
        Eigen::Map<const RowMatrix<double>>(moved.data(), op.image_rows(), op.image_cols());
    io::write_npy(folder.file("undetermined.npy"), image);
    io::write_png(folder.file("undetermined.png"), io::gray_picture(image));
  }

  void warn_of_bad_fit(Run& run, const PtychographyJobResult& result) {
    const std::string text = fmt::format(
        "the images do not fit the model, amplitude residual {:.2g}: is the geometry "
        "right? ({})",
        result.amplitude_residual, geometry_text(data_.optics));
    run.info().warnings.push_back(text);
    session_.listener().warning(text);
  }

  // Gains and backgrounds in the order of data_.leds.
  std::vector<LedLight> led_lights() const {
    std::vector<LedLight> lights(data_.leds.size());
    for (size_t i = 0; i < split_.fitted.size(); ++i) {
      const Index number = data_.used[static_cast<size_t>(split_.fitted[i])];
      for (size_t l = 0; l < lights.size(); ++l)
        if (data_.leds[l].image == number)
          lights[l] = {static_cast<double>(found_.gains(static_cast<Index>(i))),
                       static_cast<double>(found_.backgrounds(static_cast<Index>(i)))};
    }
    return lights;
  }

  // The gradient method knows neither gains nor backgrounds.
  void use_plain_images(const BasicRecovery<Complex>& recovery, PtychographyJobResult& result) {
    found_.x = dominant_vector<Complex>(recovery.U, recovery.d);
    found_.pupil = result.pupil = split_.used.op->pupil();
    found_.gains = Vector<float>::Ones(split_.used.op->images());
    found_.backgrounds = Vector<float>::Zero(split_.used.op->images());
  }

  void note_answer(io::RunInfo& info, const PtychographyJobResult& result) const {
    for (const ImageCandidate& candidate : result.candidates) {
      info.lists["candidates"].push_back(candidate.name);
      info.lists["candidate_residuals"].push_back(candidate.residual);
    }
    if (automatic_) {
      info.figures["winner"] = result.winner;
      info.figures["dark_gain"] = result.dark_gain;
      info.figures["noise_per_intensity"] = found_.noise_per_intensity;
      info.figures["noise_constant"] = found_.noise_constant;
    }
    info.figures["amplitude_residual"] = result.amplitude_residual;
    if (result.held_out_residual) info.figures["held_out_residual"] = *result.held_out_residual;
    if (result.held_out_scaled) info.figures["held_out_scaled"] = *result.held_out_scaled;
  }

  PtychographyInput input_;
  PtychographyData data_;
  PtychographyJobOptions options_;
  Session& session_;
  std::string geometry_;  // in front of the states that are saved
  PtychographySplit split_;
  BasicProblem<Complex> problem_;
  bool automatic_ = true;
  PtychographyResult found_;
};

}  // namespace

namespace {

// Interrupts and the time limit while the geometry is calibrated, which may take half of the time.
class CalibrationTime {
 public:
  explicit CalibrationTime(Session& session) : session_(session) {
    session.listener().begin({0, limit()}, {});
  }
  ~CalibrationTime() { session_.listener().end(); }
  CalibrationTime(const CalibrationTime&) = delete;
  CalibrationTime& operator=(const CalibrationTime&) = delete;

  bool is_over() const {
    const std::chrono::duration<double> spent = Clock::now() - started_;
    return session_.interrupted() || (limit() > 0 && spent.count() > limit());
  }

 private:
  using Clock = std::chrono::steady_clock;
  double limit() const { return session_.options().time_limit / 2; }

  Session& session_;
  Clock::time_point started_ = Clock::now();
};

// Nothing to resume from: the geometry is calibrated again.
PtychographyJobResult interrupted_before_start() {
  PtychographyJobResult result;
  result.outcome = Outcome::kInterrupted;
  return result;
}

}  // namespace

bool wants_tiles(const PtychographyJobOptions& options, Index rows, Index cols) {
  constexpr Index kLarge = 192;
  if (options.tile < 0 || wants_gradient(options.method)) return false;
  return std::max(rows, cols) > (options.tile > 0 ? options.tile : kLarge);
}

namespace {

// Whether the geometry was chosen to the end.
bool choose_geometry(PtychographyField& field, Calibration mode, Session& session) {
  session.notice(
      "checking the geometry of the LEDs (a minute or two where images and setup differ)");
  const CalibrationTime time(session);
  calibrate_field(field, mode, [&] { return time.is_over(); });
  return !time.is_over();
}

// The geometry of an earlier part of this run, or a new one. What checkpoints keep of it.
std::string geometry_of_run(PtychographyField& field, const PtychographyJobOptions& options,
                            Session& session, const std::string& earlier) {
  ChosenGeometry chosen{session.has_folder() ? capture_hash(field) : 0, {}, {}, true};
  const size_t said = field.warnings.size();
  if (!take_geometry(earlier, field))
    chosen.finished = choose_geometry(field, options.calibration, session);
  chosen.optics = field.optics;
  chosen.warnings.assign(field.warnings.begin() + static_cast<Index>(said), field.warnings.end());
  return session.has_folder() && !wants_gradient(options.method) ? to_bytes(chosen) : "";
}

// As the Run has it.
std::string fingerprint_of(PtychographyInput input, PtychographyJobOptions options,
                           const Session& session) {
  options.method.seed = session.seed();
  OptionTable table;
  describe(table, input);
  describe(table, options);
  return table.fingerprint();
}

PtychographyJobResult recover_calibrated(const PtychographyInput& input, PtychographyField field,
                                         const PtychographyJobOptions& options, Session& session,
                                         const EarlyFolder& early) {
  std::string geometry;
  if (options.calibration == Calibration::kOff) {
    calibrate_field(field, Calibration::kOff);
  } else {
    const std::string earlier =
        wants_gradient(options.method)
            ? ""
            : early.state("ptycho", fingerprint_of(input, options, session));
    geometry = geometry_of_run(field, options, session, earlier);
    if (session.interrupted()) return interrupted_before_start();
  }
  if (wants_tiles(options, field.images.rows, field.images.cols))
    return recover_in_tiles(input, std::move(field), options, session, std::move(geometry));
  PtychographyData data = data_of(field);
  field = {};
  return PtychographyJob(input, std::move(data), options, session, std::move(geometry)).run();
}

}  // namespace

PtychographyJobResult ptychography(const PtychographyInput& input,
                                   const PtychographyJobOptions& options, Session& session) {
  check_settings(options);
  if (input.setup.empty())
    throw OptionError("setup", "no file given; the option guess writes one from the data file");
  const EarlyFolder early(session);
  return recover_calibrated(
      input,
      read_ptychography_field(input.data, input.setup,
                              {.drop_bad = options.drop_bad, .mask = input.mask}),
      options, session, early);
}

PtychographyJobResult ptychography(PtychographyField field, const PtychographyJobOptions& options,
                                   Session& session) {
  check_settings(options);
  const EarlyFolder early(session);
  return recover_calibrated({}, std::move(field), options, session, early);
}

PtychographyJobResult ptychography(const PtychographyData& data,
                                   const PtychographyJobOptions& options, Session& session) {
  check_settings(options);
  return PtychographyJob({}, data, options, session).run();
}

}  // namespace udv::jobs
