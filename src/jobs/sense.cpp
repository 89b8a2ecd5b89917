// SPDX-License-Identifier: MIT
#include "udv/jobs/sense.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "jobs/recovery.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

void check_values(const std::string& path, const io::Array& array) {
  double largest = 0;
  for (Index i = 0; i < array.size(); ++i) {
    const double value = array.values[static_cast<size_t>(i)];
    require<IoError>(std::isfinite(value), path, ": value ", i, " (in row-major order) is ", value,
                     ", a finite number expected");
    largest = std::max(largest, std::abs(value));
  }
  require<IoError>(largest > 0, path, ": all ", array.size(),
                   " values are zero, at least one other expected");
  check_magnitude(path, largest);
}

RowMatrix<double> as_rows(const io::Array& array) {
  const Index n = array.shape[0];
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), n, array.size() / n);
}

// Rows and columns of X, from the file's shape or from the option.
std::pair<Index, Index> matrix_shape(const std::string& path, const SenseOptions& options,
                                     const io::Array& A) {
  const std::string found = path + ": shape " + io::shape_text(A.shape) + " found, ";
  const auto& given = options.shape;
  if (A.shape.size() == 3) {
    require<IoError>(!given || *given == std::pair(A.shape[1], A.shape[2]), found,
                     "the option shape disagrees");
    return {A.shape[1], A.shape[2]};
  }
  require<IoError>(given.has_value(), found,
                   "n x p x q expected; for n x (p q) give the option shape as p,q");
  require<IoError>(given->first * given->second == A.shape[1], found, "n x ", given->first, "*",
                   given->second, " expected");
  return *given;
}

Vector<double> read_values(const SenseInput& input, const io::Array& A) {
  const io::Array b = io::read_npy(input.values);
  const bool is_column = b.shape.size() == 2 && b.shape[1] == 1;
  require<IoError>(b.shape.size() == 1 || is_column, input.values, ": shape ",
                   io::shape_text(b.shape), " found, a vector expected");
  require<IoError>(b.size() > 0, input.values, ": no values, at least one expected");
  require<IoError>(b.shape[0] == A.shape[0], input.values, ": ", b.shape[0], " values found, ",
                   A.shape[0], " expected: ", input.measurements, " has shape ",
                   io::shape_text(A.shape));
  check_values(input.values, b);
  return Eigen::Map<const Vector<double>>(b.values.data(), b.size());
}

io::Array read_measurements(const std::string& path) {
  io::Array A = io::read_npy(path);
  require<IoError>(!A.shape.empty() && A.size() > 0, path, ": shape ", io::shape_text(A.shape),
                   " found, at least one measurement expected");
  require<IoError>(A.shape.size() == 2 || A.shape.size() == 3, path, ": shape ",
                   io::shape_text(A.shape), " found, n x p x q or n x (p q) expected");
  check_values(path, A);
  return A;
}

Problem rank_one_problem(const std::string& path, const SenseOptions& options, const io::Array& A,
                         Vector<double> b) {
  const std::string found = path + ": shape " + io::shape_text(A.shape) + " found, ";
  require<IoError>(A.shape.size() == 2, found, "n x p expected for rank-one measurements");
  require<IoError>(!options.shape || *options.shape == std::pair(A.shape[1], A.shape[1]), found,
                   "the option shape disagrees");
  return quadratic_sensing(as_rows(A), std::move(b));
}

// The A_i and their transposes, each with its value: what a rectangular X has to fulfil where the
// answer is symmetric.
Problem mirrored_problem(const RowMatrix<double>& A, const Vector<double>& b, Index size) {
  RowMatrix<double> both(2 * A.rows(), A.cols());
  both.topRows(A.rows()) = A;
  for (Index i = 0; i < A.rows(); ++i) {
    const Eigen::Map<const RowMatrix<double>> one(A.row(i).data(), size, size);
    Eigen::Map<RowMatrix<double>>(both.row(A.rows() + i).data(), size, size) = one.transpose();
  }
  Vector<double> values(2 * b.size());
  values << b, b;
  return sensing(std::move(both), std::move(values), size, size, false);
}

Problem read_problem(const SenseInput& input, const SenseOptions& options) {
  const std::string& path = input.measurements;
  const io::Array A = read_measurements(path);
  Vector<double> b = read_values(input, A);
  if (options.map == SenseMap::kRankOne) return rank_one_problem(path, options, A, std::move(b));
  const auto [rows, cols] = matrix_shape(path, options, A);
  require<IoError>(rows > 1 && cols > 1, path, ": X is ", rows, " x ", cols,
                   ", at least 2 x 2 expected");
  require<IoError>(options.symmetric == Symmetry::kOff || rows == cols, path, ": X is ", rows,
                   " x ", cols, ", square expected for a symmetric matrix");
  if (options.symmetric == Symmetry::kIndefinite) return mirrored_problem(as_rows(A), b, rows);
  return sensing(as_rows(A), std::move(b), rows, cols, options.symmetric == Symmetry::kPsd);
}

RecoveryResult<double> sense_problem(SenseInput input, const Problem& problem, SenseOptions options,
                                     Session& session) {
  options.method.seed = session.seed();
  const bool indefinite = options.symmetric == Symmetry::kIndefinite;
  if (indefinite && (problem.op->symmetric() || problem.op->rows() != problem.op->cols()))
    throw OptionError("symmetric", "indefinite goes with dense measurements of square matrices");
  if (!indefinite) options.symmetric = problem.op->symmetric() ? Symmetry::kPsd : Symmetry::kOff;
  check_problem(problem, options.method);
  OptionTable table;
  describe(table, input);
  describe(table, options);
  Run run(session, "sense", table.config(), table.fingerprint());
  Recovery recovery = solve(run, problem, options.method);
  if (indefinite) recovery = symmetrised(std::move(recovery));
  warn_about(run, recovery);
  return finish(run, std::move(recovery));
}

}  // namespace

void describe(OptionTable& table, SenseInput& input) {
  table.add("A", input.measurements, "The A_i as .npy: n x p x q, or n x (p q) and a shape")
      .is_input()
      .called("FILE");
  table.add("b", input.values, "The n measured values as .npy").is_input().called("FILE");
}

void describe(OptionTable& table, SenseOptions& o) {
  table.add("shape", o.shape, "Rows and columns of X");
  table.add("operator", o.map, {{"dense", SenseMap::kDense}, {"rank-one", SenseMap::kRankOne}},
            "What A holds: matrices A_i, or rows a_i of an n x p array for b_i = a_i^T X a_i");
  describe_symmetry(table, o.symmetric);
  describe(table, o.method);
}

RecoveryResult<double> sense(const SenseInput& input, const SenseOptions& options,
                             Session& session) {
  check_options(options.method);
  const EarlyFolder early(session);
  return sense_problem(input, read_problem(input, options), options, session);
}

RecoveryResult<double> sense(const Problem& problem, const SenseOptions& options,
                             Session& session) {
  check_options(options.method);
  return sense_problem({}, problem, options, session);
}

}  // namespace udv::jobs
