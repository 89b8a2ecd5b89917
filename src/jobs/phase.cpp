// SPDX-License-Identifier: MIT
#include "udv/jobs/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "jobs/recovery.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/phase.hpp"

namespace udv::jobs {
namespace {

using Complex = std::complex<double>;

// Intensities are squares of A, and the gain of their map a fourth power.
constexpr double kLargestEntry = 1e70;
constexpr Index kFewestIterations = 32;

// ---- input

// A list of numbers has no shape to compare; an array has that of the masks.
void check_shape(const std::string& path, const std::vector<Index>& found,
                 const std::vector<Index>& expected) {
  require<IoError>(found.size() != expected.size() || found == expected, path, ": shape ",
                   io::shape_text(found), " found, ", io::shape_text(expected),
                   " as the masks have expected");
}

io::ComplexArray read_map(const std::string& path, PhaseMap map) {
  io::ComplexArray A = io::read_complex_npy(path);
  const bool masks = map == PhaseMap::kMasks;
  require<IoError>(A.shape.size() == (masks ? 3u : 2u) && A.size() > 0, path, ": shape ",
                   io::shape_text(A.shape), " found, ",
                   masks ? "masks x rows x columns" : "measurements x unknowns", " expected");
  check_finite(path, A);
  double largest = 0;
  for (const auto& value : A.values) largest = std::max(largest, std::abs(value));
  require<IoError>(largest > 0, path, ": all values are zero");
  check_magnitude(path, largest, kLargestEntry);
  return A;
}

// b as real numbers, none of them negative.
Vector<double> read_intensities(const std::string& path, const io::ComplexArray& A,
                                Index expected) {
  const io::ComplexArray b = io::read_complex_npy(path);
  require<IoError>(!b.is_complex, path,
                   ": complex numbers found, intensities (real numbers) expected");
  require<IoError>(b.size() == expected, path, ": shape ", io::shape_text(b.shape), " found, ",
                   expected, " intensities expected");
  if (A.shape.size() == 3) check_shape(path, b.shape, A.shape);
  check_finite(path, b);
  Vector<double> values(b.size());
  for (Index i = 0; i < b.size(); ++i) {
    values(i) = b.values[static_cast<size_t>(i)].real();
    require<IoError>(values(i) >= 0, path, ": value ", i, " is ", values(i),
                     ", an intensity is not negative");
  }
  require<IoError>(values.maxCoeff() > 0, path, ": all ", values.size(), " intensities are zero");
  check_magnitude(path, values.maxCoeff());
  return values;
}

// The pattern of one exposure, |fft2(x)|^2.
io::ComplexArray read_pattern(const std::string& path) {
  io::ComplexArray pattern = io::read_complex_npy(path);
  require<IoError>(pattern.shape.size() == 2 && pattern.shape[0] > 1 && pattern.shape[1] > 1, path,
                   ": shape ", io::shape_text(pattern.shape),
                   " found, rows x columns of one diffraction pattern expected");
  return pattern;
}

// Nonzero: x may differ from zero there.
std::vector<bool> read_support(const std::string& path, const std::vector<Index>& expected) {
  if (path.empty()) return {};
  const io::ComplexArray array = io::read_complex_npy(path);
  require<IoError>(array.shape == expected, path, ": shape ", io::shape_text(array.shape),
                   " found, ", io::shape_text(expected), " as x has expected");
  check_finite(path, array);
  std::vector<bool> support;
  for (const auto& value : array.values) support.push_back(value != 0.0);
  require<IoError>(std::find(support.begin(), support.end(), true) != support.end(), path,
                   ": all values are zero, at least one entry of x that may differ expected");
  return support;
}

// The first half of the rows and columns.
std::vector<bool> half_box(Index rows, Index cols) {
  std::vector<bool> support;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) support.push_back(2 * r < rows && 2 * c < cols);
  return support;
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

template <typename Scalar>
Vector<Scalar> read_truth(const std::string& path, const io::ComplexArray& A, Index expected) {
  if (path.empty()) return {};
  const io::ComplexArray truth = io::read_complex_npy(path);
  require<IoError>(truth.size() == expected, path, ": shape ", io::shape_text(truth.shape),
                   " found, ", expected, " values expected");
  if (A.shape.size() == 3) check_shape(path, truth.shape, {A.shape[1], A.shape[2]});
  require<IoError>(kIsComplex<Scalar> || !truth.is_complex, path,
                   ": complex numbers found, the rows are real: real numbers expected");
  check_finite(path, truth);
  const Vector<Scalar> values = numbers<Scalar>(truth);
  require<IoError>(values.norm() > 0, path, ": all values are zero");
  return values;
}

// b = |fft2(m_l x)|^2. NumPy's fft2 is not normalised, the operator's transform is unitary.
std::shared_ptr<const IntensityOperator<Complex>> mask_operator(const io::ComplexArray& A) {
  const Vector<Complex> values = numbers<Complex>(A);
  const Index rows = A.shape[1], cols = A.shape[2];
  const double unit = std::sqrt(static_cast<double>(rows * cols));
  std::vector<RowMatrix<Complex>> masks;
  for (Index l = 0; l < A.shape[0]; ++l)
    masks.push_back(
        unit * Eigen::Map<const RowMatrix<Complex>>(values.data() + l * rows * cols, rows, cols));
  return std::make_shared<CodedDiffractionOperator<Complex>>(std::move(masks));
}

std::shared_ptr<const IntensityOperator<Complex>> pattern_operator(Index rows, Index cols) {
  const double unit = std::sqrt(static_cast<double>(rows * cols));
  return std::make_shared<CodedDiffractionOperator<Complex>>(
      std::vector<RowMatrix<Complex>>{RowMatrix<Complex>::Constant(rows, cols, unit)});
}

template <typename Scalar>
std::shared_ptr<const IntensityOperator<Scalar>> row_operator(const io::ComplexArray& A) {
  const Vector<Scalar> values = numbers<Scalar>(A);
  return std::make_shared<RankOneOperator<Scalar>>(
      Eigen::Map<const RowMatrix<Scalar>>(values.data(), A.shape[0], A.shape[1]));
}

// ---- solving

PhaseJobOptions checked(PhaseJobOptions options, const Session& session) {
  RecoverOptions& method = options.method;
  method.seed = session.seed();
  check_options(method);
  if (method.wants_gradient()) {
    for (const auto& [name, given] :
         {std::pair("nonnegative", options.nonnegative), std::pair("sparse", options.sparse),
          std::pair("support", !options.support.empty())})
      if (given)
        throw OptionError(name, "has no meaning without polish or with a step of your own");
    method.rank_walk = false;
    return options;
  }
  check_for_intensities(method);
  if (method.max_iterations > 0 && method.max_iterations < kFewestIterations)
    throw OptionError("max-iterations", fmt::format("{} found, at least {} expected",
                                                    method.max_iterations, kFewestIterations));
  return options;
}

PhaseOptions phase_options(const PhaseJobOptions& options) {
  const RecoverOptions& method = options.method;
  PhaseOptions phase;
  if (method.method != "auto") phase.method = method.method;
  phase.columns = method.max_rank;
  phase.restarts = options.restarts;
  phase.prior = {options.nonnegative, options.sparse, options.support};
  phase.tolerance = method.tolerance.value_or(0);
  phase.record = method.record;
  phase.seed = method.seed;
  if (method.max_iterations > 0) phase.max_iterations = method.max_iterations;
  return phase;
}

// Copies of x that one diffraction pattern cannot distinguish from it.
template <typename Scalar>
void warn_about_copies(Run& run, const PhaseRetrieval<Scalar>& found) {
  if (found.inversion_fits)
    run.warn("one pattern cannot distinguish x from its inverted copy conj(x(-r))");
  if (found.shifts_that_fit > 0)
    run.warn(
        fmt::format("one pattern does not determine the position of x: {} shifted cop{} also "
                    "within the support",
                    found.shifts_that_fit, found.shifts_that_fit == 1 ? "y lies" : "ies lie"));
}

template <typename Scalar>
BasicRecovery<Scalar> solve_intensities(Run& run, const BasicProblem<Scalar>& problem,
                                        const IntensityOperator<Scalar>& op,
                                        const PhaseJobOptions& options) {
  if (!options.method.rank_walk) return solve(run, problem, options.method);
  const Hooks hooks = run.hooks(solve_total(options.method, run.session()));
  auto found = run.compute(
      hooks, [&] { return retrieve_phase<Scalar>(op, problem.b, phase_options(options), hooks); });
  if (found.converged) warn_about_copies(run, found);
  return found;
}

// Entries of x that no measurement sees.
template <typename Scalar>
void warn_about_dark(Run& run, const IntensityOperator<Scalar>& op) {
  const auto light = op.diagonal(Reals<Scalar>::Ones(op.num_measurements()));
  const Index dark = (light.array() == 0).count();
  if (dark > 0)
    run.warn(
        fmt::format("{} of {} entries of x are in no measurement: they are unknown and set to zero",
                    dark, op.rows()));
}

template <typename Scalar>
const ImagingOperator<Scalar>* as_imaging(const IntensityOperator<Scalar>& op) {
  if constexpr (kIsComplex<Scalar>) return dynamic_cast<const ImagingOperator<Scalar>*>(&op);
  return nullptr;
}

// How far each entry of x may move without any measurement changing; a picture where x is one.
template <typename Scalar>
void write_open_entries(Run& run, const IntensityOperator<Scalar>& op,
                        const OpenEntries<Scalar>& open) {
  const Vector<double> moved = free_direction_of_x(open).cwiseAbs();
  if (moved.size() == 0) return;
  io::write_npy(run.folder().file("undetermined.npy"), moved);
  std::vector<Index> which;
  for (Index i = 0; i < moved.size(); ++i)
    if (moved(i) > open.tolerance) which.push_back(i);
  run.warn(
      fmt::format("{} of {} entries of x can change without changing any measurement: "
                  "undetermined.npy says how far",
                  which.size(), moved.size()));
  if constexpr (kIsComplex<Scalar>) {
    const ImagingOperator<Scalar>* const imaging = as_imaging(op);
    if (!imaging) return;
    io::write_png(run.folder().file("undetermined.png"),
                  io::gray_picture(Eigen::Map<const RowMatrix<double>>(
                      moved.data(), imaging->image_rows(), imaging->image_cols())));
  }
}

// One pattern cannot distinguish x from shifted and inverted copies of it.
template <typename Scalar>
double error_of(const IntensityOperator<Scalar>& op, const Vector<Scalar>& x,
                const Vector<Scalar>& truth) {
  if constexpr (kIsComplex<Scalar>) {
    const ImagingOperator<Scalar>* const imaging = as_imaging(op);
    if (imaging && imaging->images() == 1)
      return pattern_error<Scalar>(x, truth, imaging->image_rows(), imaging->image_cols());
  }
  return phase_error<Scalar>(x, truth);
}

// x in the shape of the image that it is.
template <typename Scalar>
void write_unknowns(const std::filesystem::path& path, const IntensityOperator<Scalar>& op,
                    const Vector<Scalar>& x) {
  if constexpr (kIsComplex<Scalar>) {
    if (const ImagingOperator<Scalar>* const imaging = as_imaging(op))
      return io::write_npy(path, RowMatrix<Scalar>(Eigen::Map<const RowMatrix<Scalar>>(
                                     x.data(), imaging->image_rows(), imaging->image_cols())));
  }
  io::write_npy(path, x);
}

template <typename Scalar>
PhaseAnswer<Scalar> phase_problem(PhaseInput input,
                                  const std::shared_ptr<const IntensityOperator<Scalar>>& op,
                                  const Vector<double>& b, const Vector<Scalar>& truth,
                                  PhaseJobOptions options, Session& session) {
  BasicProblem<Scalar> problem;
  problem.op = op;
  problem.b = b;
  check_problem(problem, options.method);
  OptionTable table;
  describe(table, input);
  describe(table, options);
  Run run(session, "phase", table.config(), table.fingerprint());
  warn_about_dark(run, *op);
  BasicRecovery<Scalar> recovery = solve_intensities(run, problem, *op, options);
  warn_about(run, recovery);
  PhaseAnswer<Scalar> answer;
  answer.x = with_fixed_phase<Scalar>(dominant_vector<Scalar>(recovery.U, recovery.d));
  if (truth.size() > 0) run.info().relative_error = error_of(*op, answer.x, truth);
  if (is_written(run, recovery)) {
    write_unknowns(run.folder().file("x.npy"), *op, answer.x);
    write_open_entries(run, *op, recovery.open_entries);
  }
  static_cast<RecoveryResult<Scalar>&>(answer) = finish(run, std::move(recovery));
  return answer;
}

// The shape of x: its length, or that of an image.
std::vector<Index> shape_of_x(const io::ComplexArray& A) {
  return {A.shape.begin() + 1, A.shape.end()};
}

template <typename Scalar>
PhaseAnswer<Scalar> phase_from_files(const PhaseInput& input, const io::ComplexArray& A,
                                     const std::shared_ptr<const IntensityOperator<Scalar>>& op,
                                     PhaseJobOptions options, Session& session) {
  const Vector<double> b = read_intensities(input.values, A, op->num_measurements());
  options.support = read_support(input.support, shape_of_x(A));
  return phase_problem<Scalar>(input, op, b, read_truth<Scalar>(input.truth, A, op->rows()),
                               checked(options, session), session);
}

// Frequency 0 stands first, as fft2 has it. |sum x| is the largest of all |sum x exp(i ...)| for
// nonnegative x, and nearly always for others, so the largest value must not stand in the middle.
void check_origin(const std::string& path, const Vector<double>& b, Index rows, Index cols,
                  bool nonnegative, Session& session) {
  constexpr double kFarBelow = 0.1;
  Index largest = 0;
  b.maxCoeff(&largest);
  const Index row = largest / cols, col = largest % cols;
  const bool in_the_middle = std::abs(row - rows / 2) <= 1 && std::abs(col - cols / 2) <= 1;
  if (!in_the_middle || std::min(rows, cols) < 8 || b(0) >= kFarBelow * b(largest)) return;
  const std::string text =
      message(path, ": the largest value stands in the middle, at (", row, ", ", col,
              "), expected at (0, 0), where fft2 has frequency 0: use ifftshift");
  require<IoError>(!nonnegative, text);
  session.listener().warning(text + ", or x is found with alternating signs");
}

// One pattern: that of a mask of ones.
PhaseAnswer<Complex> phase_of_pattern(const PhaseInput& input, PhaseJobOptions options,
                                      Session& session) {
  const io::ComplexArray pattern = read_pattern(input.fourier);
  const Index rows = pattern.shape[0], cols = pattern.shape[1];
  io::ComplexArray one;
  one.shape = {1, rows, cols};
  const Vector<double> b = read_intensities(input.fourier, pattern, rows * cols);
  check_origin(input.fourier, b, rows, cols, options.nonnegative, session);
  options.support = read_support(input.support, {rows, cols});
  if (options.support.empty()) options.support = half_box(rows, cols);
  const auto truth = read_truth<Complex>(input.truth, one, rows * cols);
  return phase_problem<Complex>(input, pattern_operator(rows, cols), b, truth,
                                checked(options, session), session);
}

void check_inputs(const PhaseInput& input) {
  const bool both = !input.measurements.empty() && !input.values.empty();
  const bool none = input.measurements.empty() && input.values.empty();
  if (input.fourier.empty() && !both) throw OptionError("", "A and b are required, or fourier");
  if (!input.fourier.empty() && !none)
    throw OptionError("fourier", "replaces A and b; give one or the other");
}

}  // namespace

void describe(OptionTable& table, PhaseInput& input) {
  table.add("A", input.measurements, "The n x p array A as .npy, real or complex; or masks")
      .is_input(false)
      .called("FILE");
  table.add("b", input.values, "The n intensities as .npy").is_input(false).called("FILE");
  table
      .add("fourier", input.fourier,
           "Instead of A and b: one diffraction pattern |fft2(x)|^2 as .npy, rows x columns")
      .called("FILE");
  table
      .add("support", input.support,
           "Mask of the entries that may be nonzero, as .npy in the shape of x; default for "
           "fourier: the first half of the rows and columns")
      .called("FILE");
  table.add("truth", input.truth, "The true x as .npy: its error is reported")
      .called("FILE")
      .keeps_numbers();
}

void describe(OptionTable& table, PhaseJobOptions& o) {
  table.add("map", o.map, {{"rows", PhaseMap::kRows}, {"masks", PhaseMap::kMasks}},
            "What A holds: rows a_i, or masks m_l with b = |fft2(m_l x)|^2");
  table.add("restarts", o.restarts, "Largest number of random starts").between(1, 1000);
  table.add("nonnegative", o.nonnegative, "x is real, and no entry is negative");
  table.add("sparse", o.sparse, "Many entries of x are zero; which ones need not be known");
  describe(table, o.method);
}

PhaseResult phase(const PhaseInput& input, const PhaseJobOptions& given, Session& session) {
  check_inputs(input);
  const PhaseJobOptions options = checked(given, session);
  const EarlyFolder early(session);
  if (!input.fourier.empty()) return phase_of_pattern(input, options, session);
  const io::ComplexArray A = read_map(input.measurements, options.map);
  if (options.map == PhaseMap::kMasks)
    return phase_from_files<Complex>(input, A, mask_operator(A), options, session);
  if (A.is_complex)
    return phase_from_files<Complex>(input, A, row_operator<Complex>(A), options, session);
  return phase_from_files<double>(input, A, row_operator<double>(A), options, session);
}

template <typename Scalar>
PhaseAnswer<Scalar> phase(std::shared_ptr<const IntensityOperator<Scalar>> op,
                          const Vector<double>& b, const Vector<Scalar>& truth,
                          const PhaseJobOptions& options, Session& session) {
  return phase_problem<Scalar>({}, op, b, truth, checked(options, session), session);
}

template PhaseAnswer<double> phase(std::shared_ptr<const IntensityOperator<double>>,
                                   const Vector<double>&, const Vector<double>&,
                                   const PhaseJobOptions&, Session&);
template PhaseAnswer<Complex> phase(std::shared_ptr<const IntensityOperator<Complex>>,
                                    const Vector<double>&, const Vector<Complex>&,
                                    const PhaseJobOptions&, Session&);

}  // namespace udv::jobs
