// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/commands.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/core/random.hpp"
#include "udv/io/images.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/phase.hpp"
#include "udv/report/picture.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

struct PlantedFlags {
  CommonFlags common;
  RecoveryFlags recovery;
  std::string problem;
  Index rows = 100, cols = 0, rank = 3, measurements = 900;
  double perturb = 0, condition = 1, trace = 0;
  bool rectangular = false;
  std::uint64_t problem_seed = 0;
  std::string image;
  Index number = 0;
};

void describe(const PlantedFlags& flags, RecoveryJob& job) {
  auto& config = job.info.config;
  config["problem"] = flags.problem;
  config["problem-seed"] = static_cast<std::int64_t>(flags.problem_seed);
  config["measurements"] = static_cast<std::int64_t>(flags.measurements);
  config["perturb"] = flags.perturb;
}

ExitCode run_completion(const PlantedFlags& flags) {
  PlantedOptions options;
  options.rows = flags.rows;
  options.cols = flags.cols > 0 ? flags.cols : flags.rows;
  options.symmetric = !flags.rectangular;
  if (options.symmetric && options.cols != options.rows)
    throw CLI::ValidationError("--cols", "another number than --rows needs --rectangular");
  options.rank = flags.rank;
  options.measurements = flags.measurements;
  options.condition = flags.condition;
  options.noise = flags.perturb;
  options.seed = flags.problem_seed;
  const auto planted = std::make_shared<Planted>(planted_completion(options));
  RecoveryJob job;
  job.command = "planted";
  job.problem = completion(planted->entries);
  describe(flags, job);
  job.info.config["planted-rank"] = static_cast<std::int64_t>(flags.rank);
  job.finish = [planted](Recovery& found, RecoveryJob& running, const std::filesystem::path&) {
    running.info.relative_error =
        planted->relative_error(found.U, found.d, found.symmetric ? found.U : found.V);
    running.summary.emplace_back("relative error", report::number(*running.info.relative_error));
  };
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

// Image number `number` of an IDX file, in [0, 1]; Gaussian numbers where there is no file.
Vector<double> signal(const PlantedFlags& flags) {
  if (flags.image.empty()) {
    Vector<double> x(flags.rows);
    Random(flags.problem_seed, kStreamProblem).fill_normal(x);
    return x;
  }
  const io::LabelledImages images = io::read_idx_images(flags.image);
  require<IoError>(flags.number < images.count, flags.image, ": image ", flags.number,
                   " asked for, ", images.count, " images found");
  Vector<double> x(images.pixels);
  for (Index i = 0; i < x.size(); ++i)
    x(i) = static_cast<unsigned char>(
               images.bytes[static_cast<size_t>(flags.number * images.pixels + i)]) /
           255.0;
  require<IoError>(x.norm() > 0, flags.image, ": image ", flags.number, " is black all over");
  return x;
}

// The largest eigenvalue of A A^*, whose entries are <w_i, w_j>^2: 1/L is the step of the paper.
double smoothness(const RowMatrix<double>& W) {
  const RowMatrix<double> G = (W * W.transpose()).cwiseAbs2();
  Vector<double> y = Vector<double>::Ones(W.rows());
  double largest = 0;
  for (int step = 0; step < 50; ++step) {
    y = G * y.normalized();
    largest = y.norm();
  }
  return largest;
}

// A square signal is a picture.
void draw(const std::filesystem::path& path, const Vector<double>& x) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(x.size()))));
  if (side * side == x.size())
    io::write_png(path,
                  report::gray_picture(Eigen::Map<const RowMatrix<double>>(x.data(), side, side)));
}

ExitCode run_phase(PlantedFlags flags) {
  const Vector<double> truth = signal(flags);
  RowMatrix<double> W(flags.measurements, truth.size());
  Random random(flags.problem_seed, kStreamProbe);
  random.fill_normal(W);
  Vector<double> b = (W * truth).cwiseAbs2();
  const double size = flags.perturb * b.norm() / std::sqrt(static_cast<double>(b.size()));
  for (double& value : b) value = std::max(0.0, value + size * random.normal());
  if (flags.recovery.step == "1/L") flags.recovery.step = fmt::format("{:.17g}", 1 / smoothness(W));
  if (flags.trace > 0)
    flags.recovery.scale = fmt::format("{:.17g}", flags.trace / truth.squaredNorm());
  RecoveryJob job;
  job.command = "planted";
  job.problem = quadratic_sensing<double>(std::move(W), std::move(b));
  describe(flags, job);
  if (!flags.image.empty()) job.info.config["image"] = flags.image;
  job.finish = [truth](Recovery& found, RecoveryJob& running, const std::filesystem::path& folder) {
    Vector<double> x = dominant_vector<double>(found.U, found.d);
    if (x.dot(truth) < 0) x = -x;
    io::write_npy(folder / "x.npy", x);
    draw(folder / "picture.png", x);
    draw(folder / "truth.png", truth);
    running.info.relative_error = phase_error<double>(x, truth);
    running.summary.emplace_back("relative error", report::number(*running.info.relative_error));
  };
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

}  // namespace

Run setup_planted(CLI::App& program) {
  auto flags = std::make_shared<PlantedFlags>();
  CLI::App& command = *program.add_subcommand(
      "planted", "A made-up problem whose answer is known: recovers it and tells the error");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str();
  };
  const CLI::Range whole(Index{1}, Index{1} << 31);
  command
      .add_option("problem", flags->problem,
                  "completion, or phase (Gaussian intensities; --step 1/L is the paper's)")
      ->required()
      ->check(CLI::IsMember({"completion", "phase"}));
  add("--rows", flags->rows, "Rows of X, or unknowns")->check(whole);
  command.add_option("--cols", flags->cols, "Columns of X (default: as many as rows)")
      ->check(whole);
  command.add_flag("--rectangular", flags->rectangular, "X = U V^T instead of U U^T");
  add("--rank", flags->rank, "Rank of X")->check(whole);
  add("--measurements", flags->measurements, "Entries known, or intensities")->check(whole);
  add("--condition", flags->condition, "Largest weight of a column of X over the smallest")
      ->check(positive());
  add("--perturb", flags->perturb, "Noise: standard deviation over root mean square measurement")
      ->check(CLI::Range(0.0, 1e6));
  add("--problem-seed", flags->problem_seed, "Seed of the problem; --seed is the start's")
      ->check(seed_number());
  command.add_option("--image", flags->image, "phase: the unknowns are an image of this IDX file");
  add("--number", flags->number, "phase: which one, from 0")
      ->check(CLI::Range(Index{0}, Index{1} << 31));
  command.add_option("--trace", flags->trace, "phase: scale b so that tr X is this")
      ->check(positive());
  flags->common.add_to(command);
  flags->recovery.add_to(command);
  return [flags] {
    return flags->problem == "completion" ? run_completion(*flags) : run_phase(*flags);
  };
}

}  // namespace udv::cli
