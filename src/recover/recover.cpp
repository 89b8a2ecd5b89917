// SPDX-License-Identifier: MIT
#include "udv/recover/recover.hpp"

#include <algorithm>

#include "core/communicator.hpp"
#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/plan/answer.hpp"
#include "recover/plan/gradient_run.hpp"
#include "recover/plan/walk_plan.hpp"
#include "recover/solver/fingerprint.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace {

// Of problem and options; 0 where no state is written or read.
template <typename Scalar>
std::uint64_t fingerprint(const BasicProblem<Scalar>& problem, const RecoverOptions& options,
                          const Hooks& hooks) {
  // Processes that work together compute it together, whoever writes.
  if (communicator().is_alone() && !hooks.save && hooks.resume.empty()) return 0;
  RecoverOptions described = options;
  OptionTable table;
  describe(table, described);
  return solve_fingerprint(*problem.op, problem.b, message(options.seed, table.fingerprint()));
}

const Method& method_of(bool symmetric, const RecoverOptions& options) {
  const Method& method =
      method_named(options.method == "auto" ? (symmetric ? "udu" : "udv") : options.method);
  require(method.symmetric == symmetric, "method ", method.name, " is for ",
          method.symmetric ? "symmetric" : "rectangular", " problems, this one is ",
          symmetric ? "symmetric" : "rectangular");
  return method;
}

// One solve, from the problem to the answer.
template <typename Scalar>
class Solve {
 public:
  Solve(const BasicProblem<Scalar>& problem, const RecoverOptions& options,
        const BasicHooks<Scalar>& hooks)
      : options_(options),
        hooks_(hooks),
        method_(method_of(problem.op->symmetric(), options)),
        problem_(problem, options),
        progress_(fingerprint(problem, options, hooks), options, hooks) {}

  BasicRecovery<Scalar> run() {
    progress_.resume();
    if (!options_.rank_walk || options_.start == Start::kDynamics) problem_.gather();
    if (!options_.rank_walk || options_.start == Start::kDynamics)
      run_gradient(problem_, method_, options_, hooks_, progress_);
    WalkAnswer<Scalar> walk;
    if (walk_comes_now()) {
      walk = WalkPlan<Scalar>(problem_, options_, progress_, hooks_.earlier.get()).run(result_);
      factors_ = balanced_factors(method_, std::move(walk.Z), options_.device == "cuda");
      walk.Z = {};
      result_.alpha = method_.diagonal ? std::max(1.0, factors_.norm_u()) : 1.0;
    } else {
      factors_ = progress_.state().gradient.factors;
      take_gradient_facts(problem_, progress_.state().gradient, options_, result_);
    }
    finish(walk);
    return std::move(result_);
  }

 private:
  bool walk_comes_now() const {
    const BasicGradientState<Scalar>& gradient = progress_.state().gradient;
    const bool used_up =
        options_.max_iterations > 0 && gradient.iteration >= options_.max_iterations;
    return options_.rank_walk && !progress_.stopped() && !used_up &&
           gradient.stop != GradientStop::kDiverged;
  }

  void finish(const WalkAnswer<Scalar>& walk) {
    const bool stopped = progress_.stopped();
    if (stopped) result_.stop_reason = stop_reason(progress_.verdict(), false);
    Answer<Scalar>(problem_, options_, factors_, result_).finish(walk, stopped);
    if (stopped) progress_.save();
    Recorder& recorder = progress_.recorder();
    recorder.flush();
    result_.seconds = recorder.seconds();
    result_.history = recorder.take_history();
    result_.columns = recorder.take_columns();
  }

  const RecoverOptions& options_;
  const BasicHooks<Scalar>& hooks_;
  const Method& method_;
  PreparedProblem<Scalar> problem_;
  Progress<Scalar> progress_;
  Factorization<Scalar> factors_;
  BasicRecovery<Scalar> result_;
};

template <typename Scalar>
void require_whole(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  options.validate();
  require(problem.op != nullptr, "the problem has no measurement operator");
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(problem.op.get());
  const Index expected = entries ? entries->num_own() : problem.op->num_measurements();
  require(problem.b.size() == expected, "b has ", problem.b.size(), " values, ", expected,
          " expected");
}

}  // namespace

template <typename Scalar>
void check(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  require_whole(problem, options);
  const FlushToZero flush;
  Solve<Scalar>(problem, options, {});
}

template <typename Scalar>
BasicRecovery<Scalar> recover(const BasicProblem<Scalar>& problem, const RecoverOptions& options,
                              const BasicHooks<Scalar>& hooks) {
  require_whole(problem, options);
  const FlushToZero flush;
  return Solve<Scalar>(problem, options, hooks).run();
}

#define UDV_INSTANTIATE(Scalar)                                                              \
  template void check(const BasicProblem<Scalar>&, const RecoverOptions&);                   \
  template BasicRecovery<Scalar> recover(const BasicProblem<Scalar>&, const RecoverOptions&, \
                                         const BasicHooks<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
