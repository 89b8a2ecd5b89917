// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using Complex = std::complex<double>;

struct PhaseFlags {
  CommonFlags common;
  RecoveryFlags recovery;
  std::string map, values, truth, kind = "rows";
  int restarts = 5;
};

// Intensities are squares of A, and the gain of their map a fourth power.
constexpr double kLargestEntry = 1e70;
constexpr Index kFewestIterations = 32;

// A list of numbers has no shape to compare; an array has that of the masks.
void check_shape(const std::string& path, const std::vector<Index>& found,
                 const std::vector<Index>& expected) {
  require<IoError>(found.size() != expected.size() || found == expected, path, ": shape ",
                   io::shape_text(found), " found, ", io::shape_text(expected),
                   " as the masks have expected");
}

// b as real numbers, none of them negative.
Vector<double> read_intensities(const PhaseFlags& flags, const io::ComplexArray& A,
                                Index expected) {
  const io::ComplexArray b = io::read_complex_npy(flags.values);
  require<IoError>(!b.is_complex, flags.values,
                   ": complex numbers found, intensities (real numbers) expected");
  require<IoError>(b.size() == expected, flags.values, ": shape ", io::shape_text(b.shape),
                   " found, ", expected, " intensities expected");
  if (A.shape.size() == 3) check_shape(flags.values, b.shape, A.shape);
  check_finite(flags.values, b);
  Vector<double> values(b.size());
  for (Index i = 0; i < b.size(); ++i) {
    values(i) = b.values[static_cast<size_t>(i)].real();
    require<IoError>(values(i) >= 0, flags.values, ": value ", i, " is ", values(i),
                     ", an intensity is not negative");
  }
  require<IoError>(values.maxCoeff() > 0, flags.values, ": all ", values.size(),
                   " intensities are zero");
  check_magnitude(flags.values, values.maxCoeff());
  return values;
}

// The numbers of an array, as real ones where all of them are.
template <typename Scalar>
Vector<Scalar> numbers(const io::ComplexArray& array) {
  Vector<Scalar> result(array.size());
  for (Index i = 0; i < array.size(); ++i)
    if constexpr (kIsComplex<Scalar>)
      result(i) = array.values[static_cast<size_t>(i)];
    else
      result(i) = array.values[static_cast<size_t>(i)].real();
  return result;
}

io::ComplexArray read_map(const PhaseFlags& flags) {
  const io::ComplexArray A = io::read_complex_npy(flags.map);
  const bool masks = flags.kind == "masks";
  require<IoError>(A.shape.size() == (masks ? 3u : 2u) && A.size() > 0, flags.map, ": shape ",
                   io::shape_text(A.shape), " found, ",
                   masks ? "masks x rows x columns" : "measurements x unknowns", " expected");
  check_finite(flags.map, A);
  double largest = 0;
  for (const auto& value : A.values) largest = std::max(largest, std::abs(value));
  require<IoError>(largest > 0, flags.map, ": all values are zero");
  check_magnitude(flags.map, largest, kLargestEntry);
  return A;
}

template <typename Scalar>
std::shared_ptr<const IntensityOperator<Scalar>> make_operator(const PhaseFlags& flags,
                                                               const io::ComplexArray& A) {
  const Vector<Scalar> values = numbers<Scalar>(A);
  if constexpr (kIsComplex<Scalar>) {
    if (flags.kind == "masks") {
      const Index rows = A.shape[1], cols = A.shape[2];
      std::vector<RowMatrix<Complex>> masks;
      // NumPy's fft2 is not normalised, the operator's transform is unitary.
      const double unit = std::sqrt(static_cast<double>(rows * cols));
      for (Index l = 0; l < A.shape[0]; ++l)
        masks.push_back(unit * Eigen::Map<const RowMatrix<Scalar>>(values.data() + l * rows * cols,
                                                                   rows, cols));
      return std::make_shared<CodedDiffractionOperator<Scalar>>(std::move(masks));
    }
  }
  return std::make_shared<RankOneOperator<Scalar>>(
      Eigen::Map<const RowMatrix<Scalar>>(values.data(), A.shape[0], A.shape[1]));
}

template <typename Scalar>
Vector<Scalar> read_truth(const PhaseFlags& flags, const io::ComplexArray& A, Index expected) {
  const io::ComplexArray truth = io::read_complex_npy(flags.truth);
  require<IoError>(truth.size() == expected, flags.truth, ": shape ", io::shape_text(truth.shape),
                   " found, ", expected, " values expected");
  if (A.shape.size() == 3) check_shape(flags.truth, truth.shape, {A.shape[1], A.shape[2]});
  require<IoError>(kIsComplex<Scalar> || !truth.is_complex, flags.truth,
                   ": complex numbers found, the rows are real: real numbers expected");
  check_finite(flags.truth, truth);
  const Vector<Scalar> values = numbers<Scalar>(truth);
  require<IoError>(values.norm() > 0, flags.truth, ": all values are zero");
  return values;
}

// The auto mode as an answer of its own.
template <typename Scalar>
BasicRecovery<Scalar> solve(const IntensityOperator<Scalar>& op, const Vector<double>& b,
                            const PhaseFlags& flags, const RecoverOptions& options,
                            const BasicHooks<Scalar>& hooks) {
  PhaseOptions phase;
  if (options.method != "auto") phase.method = options.method;
  phase.columns = options.max_rank;
  phase.restarts = flags.restarts;
  phase.tolerance = options.tolerance.value_or(0);
  phase.record = options.record;
  phase.seed = options.seed;
  if (options.max_iterations > 0) phase.max_iterations = options.max_iterations;
  Verdict verdict = Verdict::kContinue;
  const auto found = retrieve_phase<Scalar>(op, b, phase, [&](const IterationRecord& record) {
    return verdict = hooks.observer(record);
  });
  auto result = rank_one_recovery<Scalar>(op, b, found.x);
  result.method = phase.method;
  result.seconds = found.seconds;
  result.iterations = found.iterations;
  result.history = found.history;
  // Nothing is a stationary point too, but no answer.
  result.converged =
      found.solved || (result.rank > 0 && result.certificate.verdict != Optimality::kNotConverged);
  result.stop_reason = stop_reason(verdict, result.converged);
  return result;
}

template <typename Scalar>
ExitCode run_as(const PhaseFlags& flags, const io::ComplexArray& A) {
  BasicJob<Scalar> job;
  job.command = "phase";
  const auto op = make_operator<Scalar>(flags, A);
  job.problem.op = op;
  job.problem.b = read_intensities(flags, A, op->num_measurements());
  const auto light = op->diagonal(Reals<Scalar>::Ones(op->num_measurements()));
  const Index dark = (light.array() == 0).count();
  if (dark > 0) {
    job.info.warnings.push_back(
        fmt::format("{} of {} entries of x are in no measurement: they stay unknown, and zero",
                    dark, op->rows()));
    warn(job.info.warnings.back());
  }
  Vector<Scalar> truth;
  if (!flags.truth.empty()) truth = read_truth<Scalar>(flags, A, op->rows());
  job.info.config["measurements"] = flags.map;
  job.info.config["values"] = flags.values;
  job.info.config["map"] = flags.kind;
  job.info.config["restarts"] = static_cast<std::int64_t>(flags.restarts);
  if (!flags.truth.empty()) job.info.config["truth"] = flags.truth;
  if (!flags.recovery.wants_gradient())
    job.solve = [op, b = job.problem.b, &flags](const RecoverOptions& options,
                                                const BasicHooks<Scalar>& hooks) {
      return solve<Scalar>(*op, b, flags, options, hooks);
    };
  job.finish = [truth](BasicRecovery<Scalar>& recovery, BasicJob<Scalar>& running,
                       const std::filesystem::path& folder) {
    const Vector<Scalar> x =
        with_fixed_phase<Scalar>(dominant_vector<Scalar>(recovery.U, recovery.d));
    io::write_npy(folder / "x.npy", x);
    if (truth.size() == 0) return;
    running.info.relative_error = phase_error<Scalar>(x, truth);
    running.summary.emplace_back("relative error", report::number(*running.info.relative_error));
  };
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

void check_flags(const RecoveryFlags& flags) {
  flags.check_for_intensities();
  if (flags.max_iterations > 0 && flags.max_iterations < kFewestIterations)
    throw CLI::ValidationError(
        "--max-iterations",
        fmt::format("{} found, at least {} expected", flags.max_iterations, kFewestIterations));
}

ExitCode run_phase(PhaseFlags flags) {
  flags.recovery.options(flags.common.seed);
  if (flags.recovery.wants_gradient())
    flags.recovery.polish = "off";
  else
    check_flags(flags.recovery);
  const io::ComplexArray A = read_map(flags);
  return A.is_complex || flags.kind == "masks" ? run_as<Complex>(flags, A)
                                               : run_as<double>(flags, A);
}

}  // namespace

Run setup_phase(CLI::App& program) {
  auto flags = std::make_shared<PhaseFlags>();
  CLI::App& command = *program.add_subcommand(
      "phase", "Recover x from the intensities |A x|^2, up to a global phase");
  command.add_option("A", flags->map, "The n x p array A as .npy, real or complex")->required();
  command.add_option("b", flags->values, "The n intensities as .npy")->required();
  command.add_option("--truth", flags->truth, "The true x as .npy: its error is reported");
  command
      .add_option("--map", flags->kind,
                  "rows: A is an array; masks: A holds masks m_l, b = |fft2(m_l x)|^2")
      ->check(CLI::IsMember({"rows", "masks"}))
      ->capture_default_str();
  command.add_option("--restarts", flags->restarts, "Random starts at most")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  flags->common.add_to(command);
  flags->recovery.add_to(command);
  return [flags] { return run_phase(*flags); };
}

}  // namespace udv::cli
