// SPDX-License-Identifier: MIT
#include "udv/jobs/planted.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/require.hpp"
#include "jobs/recovery.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/images.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/phase.hpp"

namespace udv::jobs {
namespace {

Run start(const PlantedInput& input, const PlantedJobOptions& options, Session& session) {
  PlantedInput named = input;
  PlantedJobOptions used = options;
  OptionTable table;
  describe(table, named);
  describe(table, used);
  return Run(session, "planted", table.config(), table.fingerprint());
}

PlantedOptions problem_options(const PlantedJobOptions& options) {
  PlantedOptions problem;
  problem.rows = options.rows;
  problem.cols = options.cols > 0 ? options.cols : options.rows;
  problem.symmetric = !options.rectangular;
  if (problem.symmetric && problem.cols != problem.rows)
    throw OptionError("cols", "another number than rows needs rectangular");
  if (options.rank > std::min(problem.rows, problem.cols))
    throw OptionError(
        "rank", fmt::format("{} found, at most {} expected for a {} x {} matrix", options.rank,
                            std::min(problem.rows, problem.cols), problem.rows, problem.cols));
  problem.rank = options.rank;
  problem.measurements = options.measurements;
  problem.condition = options.condition;
  problem.noise = options.perturb;
  problem.seed = options.problem_seed;
  return problem;
}

RecoveryResult<double> planted_matrix(const PlantedInput& input, const PlantedJobOptions& options,
                                      Session& session) {
  const Planted made = planted_completion(problem_options(options));
  const Problem problem = completion(made.entries);
  check_problem(problem, options.method);
  Run run = start(input, options, session);
  Recovery found = solve(run, problem, options.method);
  warn_about(run, found);
  if (found.stop_reason != StopReason::kInterrupted)
    run.info().relative_error =
        made.relative_error(found.U, found.d, found.symmetric ? found.U : found.V);
  return finish(run, std::move(found));
}

// An image of an IDX file, in [0, 1]; Gaussian numbers where there is no file.
Vector<double> signal(const PlantedJobOptions& options) {
  if (options.image.empty()) return planted_signal(options.rows, options.problem_seed);
  const io::LabelledImages images = io::read_idx_images(options.image);
  require<IoError>(options.number < images.count, options.image, ": image ", options.number,
                   " asked for, ", images.count, " images found");
  Vector<double> x(images.pixels);
  for (Index i = 0; i < x.size(); ++i)
    x(i) = static_cast<unsigned char>(
               images.bytes[static_cast<size_t>(options.number * images.pixels + i)]) /
           255.0;
  require<IoError>(x.norm() > 0, options.image, ": image ", options.number, " is black all over");
  return x;
}

// A square signal is a picture.
void draw(const std::filesystem::path& path, const Vector<double>& x) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(x.size()))));
  if (side * side == x.size())
    io::write_png(path,
                  io::gray_picture(Eigen::Map<const RowMatrix<double>>(x.data(), side, side)));
}

void use_vector(Run& run, const Recovery& found, const Vector<double>& truth) {
  if (found.stop_reason == StopReason::kInterrupted) return;
  Vector<double> x = dominant_vector<double>(found.U, found.d);
  if (x.dot(truth) < 0) x = -x;
  run.info().relative_error = phase_error<double>(x, truth);
  if (!run.has_folder()) return;
  io::write_npy(run.folder().file("x.npy"), x);
  draw(run.folder().file("picture.png"), x);
  draw(run.folder().file("truth.png"), truth);
}

RecoveryResult<double> planted_phase(const PlantedInput& input, PlantedJobOptions options,
                                     Session& session) {
  const Vector<double> truth = signal(options);
  PlantedIntensities made =
      planted_intensities(truth, options.measurements, options.perturb, options.problem_seed);
  if (options.smoothness_step) options.method.step = 1 / intensity_smoothness(made.W);
  if (options.trace > 0) {
    options.method.scale_rule = ScaleRule::kValue;
    options.method.scale_value = options.trace / truth.squaredNorm();
  }
  const Problem problem = quadratic_sensing<double>(std::move(made.W), std::move(made.b));
  check_problem(problem, options.method);
  Run run = start(input, options, session);
  Recovery found = solve(run, problem, options.method);
  warn_about(run, found);
  use_vector(run, found, truth);
  return finish(run, std::move(found));
}

// One more word for the gradient step: the paper's, which only made-up intensities tell.
void accept_smoothness_step(OptionTable& table, PlantedJobOptions& options) {
  Option& step = *table.find("step");
  step.value_name = "auto|1/L|REAL";
  step.help += "; phase: 1/L is the paper's";
  const auto plain = step.set;
  PlantedJobOptions* const at = &options;
  step.set = [at, plain](const std::string& text) {
    at->smoothness_step = text == "1/L";
    if (!at->smoothness_step) plain(text);
  };
}

}  // namespace

void describe(OptionTable& table, PlantedInput& input) {
  table
      .add("problem", input.problem,
           {{"completion", PlantedKind::kCompletion}, {"phase", PlantedKind::kPhase}},
           "Entries of a matrix, or Gaussian intensities")
      .is_input();
}

void describe(OptionTable& table, PlantedJobOptions& o) {
  constexpr double kMost = 2147483648.0;
  table.group("Problem");
  table.add("rows", o.rows, "Rows of X, or unknowns").between(1, kMost);
  table.add("cols", o.cols, "Columns of X").between(1, kMost).default_is("as many as rows");
  table.add("rectangular", o.rectangular, "X = U V^T instead of U U^T");
  table.add("rank", o.rank, "Rank of X").between(1, kMost);
  table.add("measurements", o.measurements, "Entries known, or intensities").between(1, kMost);
  table.add("condition", o.condition, "Largest weight of a column of X over the smallest")
      .positive();
  table.add("perturb", o.perturb, "Noise: standard deviation over root mean square measurement")
      .between(0, 1e6);
  table.add("problem-seed", o.problem_seed, "Seed of the problem; seed is that of the start");
  table.add("image", o.image, "phase: the unknowns are an image of this IDX file").called("FILE");
  table.add("number", o.number, "phase: which image, from 0").between(0, kMost);
  table.add("trace", o.trace, "phase: scale b so that tr X is this")
      .positive()
      .default_is("not scaled");
  describe(table, o.method);
  accept_smoothness_step(table, o);
}

RecoveryResult<double> planted(const PlantedInput& input, const PlantedJobOptions& given,
                               Session& session) {
  PlantedJobOptions options = given;
  options.method.seed = session.seed();
  check_options(options.method);
  const EarlyFolder early(session);
  return input.problem == PlantedKind::kCompletion ? planted_matrix(input, options, session)
                                                   : planted_phase(input, options, session);
}

}  // namespace udv::jobs
