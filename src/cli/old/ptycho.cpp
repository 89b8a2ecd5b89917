// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/ptycho_data.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/picture.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;
using Job = BasicJob<Complex>;

constexpr double kPaperNorm = 2;  // |b| of the paper's setting
constexpr Index kPaperColumns = 20, kPaperIterations = 10'000;

struct PtychoFlags {
  CommonFlags common;
  RecoveryFlags recovery;
  std::string data, setup, refine_pupil = "phase", dark_gain = "on", candidates = "all", snapshots;
  Index held_out = 0;
  bool drop_bad = false;
};

// Images that are used and images that are predicted.
struct Split {
  std::shared_ptr<const Operator> used, held_out;
  Vector<float> used_amplitudes, held_out_amplitudes;
  std::vector<bool> used_dark, held_out_dark;
};

std::vector<Index> snapshot_list(const std::string& text) {
  std::vector<Index> list;
  std::istringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    size_t used = 0;
    Index value = -1;
    try {
      value = std::stoll(item, &used);
    } catch (const std::logic_error&) {
      used = 0;
    }
    if (used == 0 || used != item.size() || value < 0)
      throw CLI::ValidationError("--snapshots",
                                 "'" + item + "' found, iterations from 0, with commas, expected");
    list.push_back(value);
  }
  return list;
}

// The paper's algorithm, as soon as a flag of it is given.
bool wants_gradient(const RecoveryFlags& flags) {
  return flags.wants_gradient() || flags.method != "auto";
}

Vector<float> images_of(const Vector<float>& all, Index pixels, const std::vector<Index>& which) {
  Vector<float> part(pixels * static_cast<Index>(which.size()));
  for (size_t i = 0; i < which.size(); ++i)
    part.segment(static_cast<Index>(i) * pixels, pixels) = all.segment(which[i] * pixels, pixels);
  return part;
}

Split split_images(const PtychoData& data, Index held_out, std::uint64_t seed) {
  const Operator all(data.rows, data.cols, data.windows, data.pupil);
  const auto held = held_out > 0 ? choose_held_out(all, held_out, seed) : std::vector<Index>();
  std::vector<Index> used;
  for (Index l = 0; l < all.images(); ++l)
    if (!std::binary_search(held.begin(), held.end(), l)) used.push_back(l);
  const auto dark_of = [&](const std::vector<Index>& which) {
    std::vector<bool> dark;
    for (const Index l : which) dark.push_back(data.dark[static_cast<size_t>(l)]);
    return dark;
  };
  Split split;
  split.used = all.with_images(used);
  split.used_amplitudes = images_of(data.amplitudes, all.pixels(), used);
  split.used_dark = dark_of(used);
  if (!held.empty()) {
    split.held_out = all.with_images(held);
    split.held_out_amplitudes = images_of(data.amplitudes, all.pixels(), held);
    split.held_out_dark = dark_of(held);
  }
  return split;
}

// Upper left corners of the windows, one row per image used.
RowMatrix<double> corners(const Operator& op) {
  RowMatrix<double> list(op.images(), 2);
  for (Index l = 0; l < op.images(); ++l) {
    const Window& window = op.windows()[static_cast<size_t>(l)];
    list.row(l) << static_cast<double>(window.row), static_cast<double>(window.col);
  }
  return list;
}

RowMatrix<Complex> as_image(const Operator& op, const Vector<Complex>& spectrum) {
  const Vector<Complex> image = with_fixed_phase<Complex>(op.to_image(spectrum));
  return Eigen::Map<const RowMatrix<Complex>>(image.data(), op.image_rows(), op.image_cols());
}

void write_pictures(const std::filesystem::path& folder, const std::string& suffix,
                    const RowMatrix<Complex>& image) {
  io::write_png(folder / ("amplitude" + suffix + ".png"), report::amplitude_picture(image));
  io::write_png(folder / ("phase" + suffix + ".png"), report::phase_picture(image));
}

double in_mib(double bytes) {
  return bytes / (1024.0 * 1024.0);
}

// Measurements and residuals; all columns as factors, gradient, spectra and sums. A run of the
// gradient method alone has all of them in its result as well, where the auto mode keeps one.
double memory_estimate(const Operator& op, Index columns, bool automatic) {
  const auto n = static_cast<double>(op.num_measurements()), p = static_cast<double>(op.rows());
  return 8 * 6 * n + 8 * p * static_cast<double>(columns) * (automatic ? 10 : 20);
}

PtychographyOptions image_options(const PtychoFlags& flags) {
  PtychographyOptions options;
  options.refine_pupil = flags.refine_pupil == "off"     ? PupilRefinement::kOff
                         : flags.refine_pupil == "phase" ? PupilRefinement::kPhase
                                                         : PupilRefinement::kPolynomial;
  options.dark_gain = flags.dark_gain == "on";
  options.dynamics = flags.candidates == "all";
  if (flags.recovery.max_rank > 0) options.columns = flags.recovery.max_rank;
  options.record = flags.recovery.options(flags.common.seed).record;
  options.seed = flags.common.seed;
  return options;
}

// The auto mode; figures of it go into the job.
BasicRecovery<Complex> solve(const Split& split, const PtychoFlags& flags,
                             const BasicHooks<Complex>& hooks, PtychographyResult& found) {
  Verdict verdict = Verdict::kContinue;
  found = recover_image(*split.used, split.used_amplitudes, split.used_dark, image_options(flags),
                        [&](const IterationRecord& r) { return verdict = hooks.observer(r); });
  const auto op = split.used->with_pupil(found.pupil);
  const Vector<float> b = split.used_amplitudes.cwiseAbs2();
  auto result = rank_one_recovery<Complex>(*op, b, found.spectrum);
  result.seconds = found.seconds;
  result.iterations = found.iterations;
  result.history = found.history;
  result.converged = !found.stopped;
  result.stop_reason = stop_reason(verdict, result.converged);
  return result;
}

void add_figure(Job& job, const char* name, const char* shown, double value) {
  job.info.figures[name] = value;
  job.summary.emplace_back(shown, report::number(value));
}

void finish(const Split& split, const PtychographyResult& found, bool automatic,
            BasicRecovery<Complex>& recovery, Job& job, const std::filesystem::path& folder) {
  const Vector<Complex> x =
      automatic ? found.spectrum : dominant_vector<Complex>(recovery.U, recovery.d);
  const auto pupil = automatic ? found.pupil : split.used->pupil();
  const double gain = automatic ? found.dark_gain : 1;
  const auto used = split.used->with_pupil(pupil);
  const RowMatrix<Complex> image = as_image(*used, x);
  io::write_npy(folder / "x.npy", image);
  io::write_npy(folder / "pupil.npy", pupil);
  io::write_npy(folder / "windows.npy", corners(*used));
  write_pictures(folder, "", image);
  if (automatic) {
    for (const ImageCandidate& candidate : found.candidates) {
      job.info.lists["candidates"].push_back(candidate.name);
      job.info.lists["candidate_residuals"].push_back(candidate.residual);
    }
    job.info.figures["winner"] = found.winner;
    job.info.figures["dark_gain"] = gain;
    job.summary.emplace_back("start that won", found.winner);
    if (gain != 1) job.summary.emplace_back("dark-field gain", report::number(gain));
  }
  add_figure(job, "amplitude_residual", "amplitude residual",
             amplitude_residual(*used, split.used_amplitudes, split.used_dark, gain, x));
  if (!split.held_out) return;
  const auto held = split.held_out->with_pupil(pupil);
  add_figure(job, "held_out_residual", "held-out residual",
             amplitude_residual(*held, split.held_out_amplitudes, split.held_out_dark, gain, x));
}

void set_paper_defaults(RecoveryFlags& flags, double norm) {
  flags.polish = "off";
  if (flags.method == "auto") flags.method = "udu";
  if (flags.scale == "auto") flags.scale = fmt::format("{:.17g}", kPaperNorm / norm);
  if (flags.max_rank == 0) flags.max_rank = kPaperColumns;
  if (flags.max_iterations == 0) flags.max_iterations = kPaperIterations;
}

ExitCode run_ptycho(PtychoFlags flags) {
  flags.recovery.options(flags.common.seed);
  const auto snapshots = snapshot_list(flags.snapshots);
  const bool automatic = !wants_gradient(flags.recovery);
  if (automatic) flags.recovery.check_for_intensities();
  if (automatic && !snapshots.empty())
    throw CLI::ValidationError("--snapshots", "only with the gradient method: give --step");
  const PtychoData data = read_ptycho_data(flags.data, flags.setup, flags.drop_bad);
  for (const std::string& warning : data.warnings) warn(warning);
  const Split split = split_images(data, flags.held_out, flags.common.seed);

  Job job;
  job.command = "ptycho";
  job.problem.op = split.used;
  job.problem.b = split.used_amplitudes.cwiseAbs2();
  if (!automatic) set_paper_defaults(flags.recovery, job.problem.b.norm());
  job.info.warnings = data.warnings;
  job.info.config["data"] = flags.data;
  job.info.config["setup"] = flags.setup;
  job.info.config["refine-pupil"] = flags.refine_pupil;
  job.info.config["dark-gain"] = flags.dark_gain;
  job.info.config["holdout-leds"] = static_cast<std::int64_t>(flags.held_out);
  job.info.config["drop-bad"] = flags.drop_bad;
  for (const Index led : data.used)
    job.info.lists["leds"].push_back(static_cast<std::int64_t>(led + 1));
  for (const Index led : data.contradicting)
    job.info.lists["contradicting_leds"].push_back(static_cast<std::int64_t>(led + 1));
  const Index columns = automatic ? image_options(flags).columns : flags.recovery.max_rank;
  if (!flags.common.quiet)
    fmt::print("  {} images of {} x {} -> {} x {}, about {:.0f} MiB\n", split.used->images(),
               data.pupil.rows(), data.pupil.cols(), data.rows, data.cols,
               in_mib(memory_estimate(*split.used, columns, automatic)));

  auto found = std::make_shared<PtychographyResult>();
  if (automatic)
    job.solve = [&split, &flags, found](const RecoverOptions&, const BasicHooks<Complex>& hooks) {
      return solve(split, flags, hooks, *found);
    };
  job.prepare = [&](const std::filesystem::path& folder, BasicHooks<Complex>& hooks) {
    hooks.snapshot_at = snapshots;
    hooks.snapshot = [&split, folder](const BasicGradientState<Complex>& state) {
      const auto x = dominant_vector<Complex>(state.factors.stack().U(), state.factors.d());
      write_pictures(folder, fmt::format("-{:06}", state.iteration), as_image(*split.used, x));
    };
  };
  job.finish = [&split, found, automatic](BasicRecovery<Complex>& recovery, Job& running,
                                          const std::filesystem::path& folder) {
    finish(split, *found, automatic, recovery, running, folder);
  };
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

}  // namespace

Run setup_ptycho(CLI::App& program) {
  auto flags = std::make_shared<PtychoFlags>();
  flags->recovery.init_norm = 1;
  CLI::App& command = *program.add_subcommand(
      "ptycho", "Recover a complex image from Fourier ptychographic intensities");
  command.add_option("DATA", flags->data, "Images as .mat, .npz or .h5")->required();
  command.add_option("--setup", flags->setup, "TOML file with optics, LEDs and data")->required();
  command
      .add_option("--refine-pupil", flags->refine_pupil,
                  "Correct the pupil: phase, polynomial (of degree 4) or off")
      ->check(CLI::IsMember({"phase", "polynomial", "off"}))
      ->capture_default_str();
  command
      .add_option("--dark-gain", flags->dark_gain,
                  "One common factor on all dark-field images, from the data: on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command
      .add_option("--candidates", flags->candidates,
                  "Starts: all (flat, dynamics, modulus) or flat alone")
      ->check(CLI::IsMember({"all", "flat"}))
      ->capture_default_str();
  command
      .add_option("--holdout-leds", flags->held_out,
                  "So many images are not used but predicted: held_out_residual")
      ->check(CLI::Range(Index{0}, Index{1} << 31));
  command.add_flag("--drop-bad", flags->drop_bad,
                   "Leave out images that are empty, saturated or contradict the model");
  command.add_option("--snapshots", flags->snapshots,
                     "Iterations to draw, as 0,10,100 (gradient method)");
  flags->common.add_to(command);
  flags->recovery.add_to(command);
  return [flags] { return run_ptycho(*flags); };
}

}  // namespace udv::cli
