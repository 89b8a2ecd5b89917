// SPDX-License-Identifier: MIT
#include "udv/jobs/ptychography.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jobs/recovery.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/io/tiff.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/phase_unwrapping.hpp"

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
  check_for_intensities(options.method);
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

PtychographyOptions image_options(const PtychographyJobOptions& options) {
  PtychographyOptions image;
  image.refine_pupil = options.refine_pupil;
  image.dark_gain = options.dark_gain;
  image.dynamics = options.all_candidates;
  if (options.method.max_rank > 0) image.columns = options.method.max_rank;
  image.record = options.method.record;
  image.seed = options.method.seed;
  return image;
}

void write_pictures(const std::filesystem::path& amplitude, const std::filesystem::path& phase,
                    const RowMatrix<Complex>& image) {
  io::write_png(amplitude, io::gray_picture(image.cwiseAbs().cast<double>()));
  io::write_png(phase, io::gray_picture(relative_phase(image)));
}

// Light at the camera where the LED nearest to the axis shines, at the scale of the result.
RowMatrix<double> raw_centre(const PtychographyData& data, const PtychographyImages& used) {
  size_t nearest = 0;
  const auto& windows = used.op->windows();
  const Index rows = data.pupil.rows(), cols = data.pupil.cols();
  const auto distance = [&](const Window& w) {
    return std::hypot(static_cast<double>(2 * w.row + rows - data.rows),
                      static_cast<double>(2 * w.col + cols - data.cols));
  };
  for (size_t l = 1; l < windows.size(); ++l)
    if (distance(windows[l]) < distance(windows[nearest])) nearest = l;
  RowMatrix<double> picture(data.rows, data.cols);
  const Index first = static_cast<Index>(nearest) * rows * cols;
  for (Index r = 0; r < data.rows; ++r)
    for (Index c = 0; c < data.cols; ++c)
      picture(r, c) = used.amplitudes(first + r * rows / data.rows * cols + c * cols / data.cols);
  return picture;
}

// Pupil phases, with frequency 0 in the middle.
RowMatrix<double> pupil_phase(const RowMatrix<std::complex<double>>& pupil) {
  RowMatrix<double> phase(pupil.rows(), pupil.cols());
  for (Index i = 0; i < pupil.size(); ++i) phase.data()[i] = std::arg(pupil.data()[i]);
  return phase;
}

// A square per LED at its direction: white bright field, grey dark field, red left out.
io::RgbImage led_map(const PtychographyData& data) {
  constexpr Index kSide = 240, kHalf = 3;
  double reach = data.optics.numerical_aperture;
  for (const LedNote& led : data.leds) reach = std::max(reach, led.light.na);
  io::RgbImage map{kSide, kSide, std::vector<std::uint8_t>(3 * kSide * kSide, 20)};
  const auto place = [&](double cosine) {
    return static_cast<Index>(std::lround((0.5 - 0.46 * cosine / reach) * (kSide - 1)));
  };
  for (const LedNote& led : data.leds)
    for (Index y = -kHalf; y <= kHalf; ++y)
      for (Index x = -kHalf; x <= kHalf; ++x) {
        const Index at = 3 * ((place(led.light.ky) + y) * kSide + place(led.light.kx) + x);
        const bool used = led.left_out.empty();
        const int level = led.dark ? 110 : 240;
        map.pixels[static_cast<size_t>(at)] = static_cast<std::uint8_t>(used ? level : 220);
        for (const Index other : {1, 2})
          map.pixels[static_cast<size_t>(at + other)] =
              static_cast<std::uint8_t>(used ? level : 40);
      }
  return map;
}

// image,x,y,na,field,level,used,gain,background: one line per image of the data set.
std::string led_table(const PtychographyData& data, const PtychographyResult& found,
                      const std::vector<Index>& fitted) {
  std::string text = "image,x,y,na,field,level,gain,background,left_out\n";
  for (const LedNote& led : data.leds) {
    std::string gain, background;
    for (size_t i = 0; i < fitted.size(); ++i)
      if (data.used[static_cast<size_t>(fitted[i])] == led.image) {
        gain = fmt::format("{:.6g}", found.gains(static_cast<Index>(i)));
        background = fmt::format("{:.6g}", found.backgrounds(static_cast<Index>(i)));
      }
    text += fmt::format("{},{},{},{:.6g},{},{:.4g},{},{},{}\n", led.image + 1, led.light.led.x,
                        led.light.led.y, led.light.na, led.dark ? "dark" : "bright", led.level,
                        gain, background, led.left_out);
  }
  return text;
}

void write_more_pictures(RunFolder& folder, const PtychographyData& data,
                         const PtychographyImages& used, const PtychographyResult& found) {
  io::write_png(folder.file("raw.png"), io::gray_picture(raw_centre(data, used)));
  io::write_png(folder.file("pupil.png"), io::gray_picture(pupil_phase(found.pupil)));
  io::write_png(folder.file("leds.png"), led_map(data));
}

/// One job: images, split and settings, from the solve to the files.
class PtychographyJob {
 public:
  PtychographyJob(const PtychographyInput& input, const PtychographyData& data,
                  const PtychographyJobOptions& options, Session& session)
      : input_(input), data_(data), options_(options), session_(session) {
    options_.method.seed = session.seed();
    split_ = split_images(data, options_.held_out, session.seed());
    problem_.op = split_.used.op;
    problem_.b = split_.used.amplitudes.cwiseAbs2();
    if (!automatic()) set_paper_defaults(options_.method, problem_.b.norm());
    check_problem(problem_, options_.method);
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
    if (recovery.stop_reason != StopReason::kInterrupted) use_answer(run, recovery, result);
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
    for (const Index led : data_.used) info.lists["leds"].push_back(std::int64_t{led + 1});
    for (const Index led : data_.contradicting)
      info.lists["contradicting_leds"].push_back(std::int64_t{led + 1});
    for (const LedNote& led : data_.leds) {
      if (led.left_out.empty()) continue;
      info.lists["left_out_leds"].push_back(std::int64_t{led.image + 1});
      info.lists["left_out_reasons"].push_back(led.left_out);
    }
    info.figures["geometry"] = geometry_text(data_.optics);
    info.figures["bad_pixels"] = static_cast<std::int64_t>(data_.bad_pixels.size());
    info.figures["saturated_samples"] = std::int64_t{data_.saturated};
  }

  BasicRecovery<Complex> solve_image(Run& run, PtychographyJobResult& result) {
    const Hooks hooks = run.hooks(solve_total(options_.method, session_));
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
    result.amplitude_residual = amplitude_residual(split_.used, found_);
    if (split_.held_out.op) {
      const HeldOutResidual residual = held_out_residual(split_.held_out, found_);
      result.held_out_residual = residual.predicted;
      result.held_out_scaled = residual.scaled;
    }
    note_answer(run.info(), result);
    if (automatic_ && result.amplitude_residual > kBadFit) warn_of_bad_fit(run, result);
    if (!run.has_folder()) return;
    RunFolder& folder = run.folder();
    io::write_npy(folder.file("x.npy"), result.image);
    io::write_npy(folder.file("pupil.npy"), result.pupil);
    io::write_npy(folder.file("windows.npy"), window_corners(*used));
    write_pictures(folder.file("amplitude.png"), folder.file("phase.png"), result.image);
    write_more_pictures(folder, data_, split_.used, found_);
    const double pixel_m = data_.optics.pixel_m / data_.optics.upsampling;
    io::write_tiff(folder.file("amplitude.tif"), result.image.cwiseAbs(), pixel_m);
    io::write_tiff(folder.file("phase.tif"), relative_phase(result.image).cast<float>(), pixel_m);
    io::write_atomically(folder.file("leds.csv"), led_table(data_, found_, fitted_images()));
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

  // Places in data_.used of the images that are not held out.
  std::vector<Index> fitted_images() const {
    std::vector<Index> held;
    if (options_.held_out > 0)
      held = choose_held_out(Operator(data_.rows, data_.cols, data_.windows, data_.pupil),
                             options_.held_out, session_.seed());
    std::vector<Index> fitted;
    for (Index l = 0; l < static_cast<Index>(data_.used.size()); ++l)
      if (!std::binary_search(held.begin(), held.end(), l)) fitted.push_back(l);
    return fitted;
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
    }
    info.figures["amplitude_residual"] = result.amplitude_residual;
    if (result.held_out_residual) info.figures["held_out_residual"] = *result.held_out_residual;
    if (result.held_out_scaled) info.figures["held_out_scaled"] = *result.held_out_scaled;
  }

  PtychographyInput input_;
  const PtychographyData& data_;
  PtychographyJobOptions options_;
  Session& session_;
  PtychographySplit split_;
  BasicProblem<Complex> problem_;
  bool automatic_ = true;
  PtychographyResult found_;
};

}  // namespace

PtychographyJobOptions::PtychographyJobOptions() {
  method.init_norm = 1;
}

void describe(OptionTable& table, PtychographyInput& input) {
  table
      .add("data", input.data,
           "Images as .mat, .npz, .npy, .tif or HDF5, or a folder of TIFF or PNG files")
      .is_input()
      .called("DATA");
  table.add("setup", input.setup, "TOML file with optics, LEDs and data")
      .called("FILE")
      .must_be_given()
      .keeps_numbers();
}

void describe(OptionTable& table, PtychographyJobOptions& o) {
  table.add("refine-pupil", o.refine_pupil,
            {{"phase", PupilRefinement::kPhase},
             {"polynomial", PupilRefinement::kPolynomial},
             {"off", PupilRefinement::kOff}},
            "Correction of the pupil: free phases, or a polynomial of degree 4");
  table.add("dark-gain", o.dark_gain, "One common factor on all dark-field images, from the data")
      .as_switch_word();
  table.add("candidates", o.all_candidates, "Starts: all (flat, dynamics, modulus) or flat alone")
      .as_switch_word({"all", "flat"});
  table.add("holdout-leds", o.held_out, "Images that are predicted instead of used")
      .between(0, 2147483648.0);
  Option& drop_bad =
      table
          .add("drop-bad", o.drop_bad,
               "Leave out images that are empty, on the rim of the pupil or contradict the model")
          .as_switch_word();
  drop_bad.bare_word = "on";  // also a flag without a value
  drop_bad.set = [plain = drop_bad.set](const std::string& text) {
    plain(text == "true" ? "on" : text == "false" ? "off" : text);
  };
  table.add("calibrate", o.calibration,
            {{"auto", Calibration::kAuto}, {"on", Calibration::kOn}, {"off", Calibration::kOff}},
            "LED positions from the images: where they predict better, always, or never");
  table.add("snapshots", o.snapshots, "Iterations to draw, as 0,10,100 (gradient method)")
      .keeps_numbers();
  describe(table, o.method);
}

PtychographyJobResult ptychography(const PtychographyInput& input,
                                   const PtychographyJobOptions& options, Session& session) {
  check_settings(options);
  const PtychographyData data = read_ptychography(input.data, input.setup, options.drop_bad,
                                                  options.calibration, session.seed());
  return PtychographyJob(input, data, options, session).run();
}

PtychographyJobResult ptychography(const PtychographyData& data,
                                   const PtychographyJobOptions& options, Session& session) {
  check_settings(options);
  return PtychographyJob({}, data, options, session).run();
}

}  // namespace udv::jobs
