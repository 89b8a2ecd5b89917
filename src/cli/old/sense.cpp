// SPDX-License-Identifier: MIT
#include <memory>

#include "cli/commands.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/io/npy.hpp"

namespace udv::cli {
namespace {

struct SenseFlags {
  CommonFlags common;
  RecoveryFlags recovery;
  std::string measurements, values, kind = "dense";
  ShapeFlag shape;
  bool symmetric = false;
};

void check_finite(const std::string& path, const io::Array& array) {
  for (Index i = 0; i < array.size(); ++i)
    require<IoError>(std::isfinite(array.values[static_cast<size_t>(i)]), path, ": value ", i,
                     " (in row-major order) is ", array.values[static_cast<size_t>(i)],
                     ", a finite number expected");
}

void check_size(const std::string& path, const io::Array& array) {
  double largest = 0;
  for (const double value : array.values) largest = std::max(largest, std::abs(value));
  require<IoError>(largest > 0, path, ": all ", array.size(),
                   " values are zero, at least one other expected");
  check_magnitude(path, largest);
}

RowMatrix<double> as_rows(const io::Array& array) {
  const Index n = array.shape[0];
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), n, array.size() / n);
}

// Rows and columns of X, from the file's shape or from --shape.
std::pair<Index, Index> matrix_shape(const SenseFlags& flags, const io::Array& A) {
  const std::string found = flags.measurements + ": shape " + io::shape_text(A.shape) + " found, ";
  const auto given = flags.shape.value();
  if (A.shape.size() == 3) {
    require<IoError>(!given || *given == std::pair(A.shape[1], A.shape[2]), found,
                     "--shape disagrees");
    return {A.shape[1], A.shape[2]};
  }
  require<IoError>(A.shape.size() == 2, found, "n x p x q or n x (p q) expected");
  require<IoError>(given.has_value(), found, "n x p x q expected; for n x (p q) give --shape p,q");
  require<IoError>(given->first * given->second == A.shape[1], found, "n x ", given->first, "*",
                   given->second, " expected");
  return *given;
}

Vector<double> read_values(const SenseFlags& flags, const io::Array& A) {
  const io::Array b = io::read_npy(flags.values);
  const bool is_column = b.shape.size() == 2 && b.shape[1] == 1;
  require<IoError>(b.shape.size() == 1 || is_column, flags.values, ": shape ",
                   io::shape_text(b.shape), " found, a vector expected");
  require<IoError>(b.size() > 0, flags.values, ": no values, at least one expected");
  require<IoError>(b.shape[0] == A.shape[0], flags.values, ": ", b.shape[0], " values found, ",
                   A.shape[0], " expected: ", flags.measurements, " has shape ",
                   io::shape_text(A.shape));
  check_finite(flags.values, b);
  check_size(flags.values, b);
  return Eigen::Map<const Vector<double>>(b.values.data(), b.size());
}

Problem read_problem(const SenseFlags& flags) {
  const io::Array A = io::read_npy(flags.measurements);
  require<IoError>(!A.shape.empty() && A.size() > 0, flags.measurements, ": shape ",
                   io::shape_text(A.shape), " found, at least one measurement expected");
  require<IoError>(A.shape.size() == 2 || A.shape.size() == 3, flags.measurements, ": shape ",
                   io::shape_text(A.shape), " found, n x p x q or n x (p q) expected");
  check_finite(flags.measurements, A);
  check_size(flags.measurements, A);
  Vector<double> b = read_values(flags, A);
  if (flags.kind == "rank-one") {
    require<IoError>(A.shape.size() == 2, flags.measurements, ": shape ", io::shape_text(A.shape),
                     " found, n x p expected for rank-one measurements");
    const auto given = flags.shape.value();
    require<IoError>(!given || *given == std::pair(A.shape[1], A.shape[1]), flags.measurements,
                     ": shape ", io::shape_text(A.shape), " found, --shape disagrees");
    return quadratic_sensing(as_rows(A), std::move(b));
  }
  const auto [rows, cols] = matrix_shape(flags, A);
  require<IoError>(rows > 1 && cols > 1, flags.measurements, ": X is ", rows, " x ", cols,
                   ", at least 2 x 2 expected");
  require<IoError>(!flags.symmetric || rows == cols, flags.measurements, ": X is ", rows, " x ",
                   cols, ", square expected with --symmetric");
  return sensing(as_rows(A), std::move(b), rows, cols, flags.symmetric);
}

ExitCode run_sense(const SenseFlags& flags) {
  flags.recovery.options(flags.common.seed);
  flags.shape.value();
  RecoveryJob job;
  job.command = "sense";
  job.problem = read_problem(flags);
  job.info.config["measurements"] = flags.measurements;
  job.info.config["values"] = flags.values;
  job.info.config["operator"] = flags.kind;
  job.info.config["symmetric"] = job.problem.op->symmetric();
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

}  // namespace

Run setup_sense(CLI::App& program) {
  auto flags = std::make_shared<SenseFlags>();
  CLI::App& command =
      *program.add_subcommand("sense", "Recover a matrix from linear measurements <A_i, X> = b_i");
  command.add_option("A", flags->measurements, "A_i as .npy: n x p x q, or n x (p q) and --shape")
      ->required();
  command.add_option("b", flags->values, "The n measured values as .npy")->required();
  flags->shape.add_to(command, "Of X");
  command
      .add_option("--operator", flags->kind,
                  "dense: A_i are matrices; rank-one: rows a_i of an n x p array, a_i^T X a_i")
      ->check(CLI::IsMember({"dense", "rank-one"}))
      ->capture_default_str();
  command.add_flag("--symmetric", flags->symmetric, "X is symmetric, positive semidefinite");
  flags->common.add_to(command);
  flags->recovery.add_to(command);
  return [flags] { return run_sense(*flags); };
}

}  // namespace udv::cli
