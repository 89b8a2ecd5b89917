// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "jobs/line_names.hpp"
#include "udv/io/npy.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/symmetry.hpp"

/// What all jobs share that recover a matrix.
namespace udv::jobs {

/// The option `symmetric` of the jobs that have it.
void describe_symmetry(OptionTable& table, Symmetry& symmetric);

/// Throws OptionError where the settings make no sense by themselves.
void check_options(const RecoverOptions& options);

/// Throws OptionError naming a setting that has no meaning for intensities unless the gradient
/// method is asked for.
void check_for_intensities(const RecoverOptions& options, bool on_a_device = false);

/// Throws OptionError or InvalidArgument where they make none for this problem.
template <typename Scalar>
void check_problem(const BasicProblem<Scalar>& problem, const RecoverOptions& options);

/// Throws IoError unless the largest magnitude lies between 1 / limit and limit, where squares
/// neither overflow nor vanish.
void check_magnitude(const std::string& path, double largest, double limit = 1e150);

/// Throws IoError naming the first value that is not finite.
void check_finite(const std::string& path, const io::ComplexArray& array);

/// How far a solve goes, for progress bars.
ProgressTotal solve_total(const RecoverOptions& options, const Session& session);

/// recover() with the hooks of the run; `more` has its snapshots.
template <typename Scalar>
BasicRecovery<Scalar> solve(Run& run, const BasicProblem<Scalar>& problem,
                            const RecoverOptions& options, BasicHooks<Scalar> more = {});

/// What the data leave open and whether the run diverged, as warnings.
void warn_about(Run& run, const RecoveryFacts& recovery);
/// The same with names for rows and columns.
void warn_about(Run& run, const RecoveryFacts& recovery, const LineNames& names);

Outcome outcome_of(const RecoveryFacts& recovery);

/// Writes the run, unless it was interrupted or has no folder, and hands the answer on.
template <typename Scalar>
RecoveryResult<Scalar> finish(Run& run, BasicRecovery<Scalar> recovery);

/// The files of a run are to be written.
bool is_written(const Run& run, const RecoveryFacts& recovery);

}  // namespace udv::jobs
