// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/solver/fingerprint.hpp"
#include "recover/solver/recorder.hpp"
#include "recover/solver/saver.hpp"
#include "recover/solver/state_archive.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {
namespace {

constexpr Index kRealColumns = 20, kComplexColumns = 8;
constexpr Index kFirstCut = 32;
constexpr double kInitNorm = 0.1;
constexpr double kDeadShare = 1e-12;
constexpr double kSameObjective = 1e-3;  // two cuts with the same answer
constexpr double kNoiseResidual = 0.1;   // a repeated answer below this is taken for one with noise

constexpr double kFirstStep = 1e-3;

// Where a retrieval stands. A polish that was cut off is repeated: its gradient run has ended.
template <typename Scalar>
struct PhaseState {
  std::uint64_t fingerprint = 0;
  RecorderState recorder;
  int restart = 0;
  bool careful = false;  // second try of this restart, as the first one diverged
  bool has_gradient = false;
  BasicGradientState<Scalar> gradient;
  Index next_cut = kFirstCut;
  int same = 0;  // cuts in a row with the best answer
  // The best cut so far, in scaled units.
  Vector<Scalar> x;
  double residual = 1;
  int best_restart = 0;
  Index best_iteration = 0;
  bool solved = false;
};

template <typename Archive, typename Scalar>
void fields(Archive& archive, PhaseState<Scalar>& s) {
  archive(s.fingerprint, s.recorder, s.restart, s.careful, s.has_gradient, s.gradient);
  archive(s.next_cut, s.same, s.x, s.residual, s.best_restart, s.best_iteration, s.solved);
}

template <typename Scalar>
std::string state_kind() {
  std::string kind = "phase ";
  return kind += scalar_name<Scalar>();
}

std::string option_bytes(PhaseOptions options) {
  ArchiveWriter archive;
  archive(options.method, options.columns, options.size, options.max_iterations, options.restarts,
          options.tolerance, options.seed);
  return archive.take();
}

// One retrieval: restarts of the dynamics, cuts, polishes; the best x so far.
template <typename Scalar>
class Retrieval {
 public:
  Retrieval(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
            const PhaseOptions& options, const Hooks& hooks)
      : op_(op),
        options_(options),
        recorder_(options.record, hooks.observer),
        saver_(hooks, recorder_, [this](const RecorderState& s) { return to_bytes(s); }) {
    const double trace = op.trace_estimate(b);
    require(trace > 0 && std::isfinite(trace), "phase: the measured intensities sum to ", trace,
            ", a positive number expected");
    scale_ = options.size / trace;
    b_ = static_cast<RealOf<Scalar>>(scale_) * b;
    tolerance_ = options.tolerance > 0 ? options.tolerance : std::max(1e-9, 40 * kEpsilon<Scalar>);
    state_.x = Vector<Scalar>::Zero(op.rows());
    if (hooks.save || !hooks.resume.empty())
      state_.fingerprint = solve_fingerprint<Scalar>(op, b, option_bytes(options));
    if (!hooks.resume.empty()) resume(hooks.resume);
  }

  // All but the figures of the answer.
  PhaseRetrieval<Scalar> run() {
    while (!done_ && !saver_.stopped() && state_.restart < options_.restarts) run_to_next_cut();
    PhaseRetrieval<Scalar> found;
    found.x = state_.x;
    found.x *= static_cast<RealOf<Scalar>>(1 / std::sqrt(scale_));
    found.restart = state_.best_restart;
    found.cut_iteration = state_.best_iteration;
    found.solved = state_.solved;
    found.iterations = recorder_.next_iteration() - 1;
    found.seconds = recorder_.seconds();
    recorder_.flush();
    found.history = recorder_.take_history();
    return found;
  }

  Verdict verdict() const { return saver_.verdict(); }

 private:
  std::string to_bytes(const RecorderState& recorder) {
    state_.recorder = recorder;
    return bytes_of_state(state_kind<Scalar>(), state_);
  }

  void resume(const std::string& bytes) {
    auto state = state_from_bytes<PhaseState<Scalar>>(state_kind<Scalar>(), bytes);
    require(state.fingerprint == state_.fingerprint,
            "the checkpoint belongs to another problem or to other options");
    require(state.x.size() == op_.rows() &&
                (!state.has_gradient || fits_symmetric(state.gradient, op_.rows())),
            "checkpoint: sizes that do not belong together");
    state_ = std::move(state);
    recorder_.restore(std::move(state_.recorder));
  }

  Factorization<Scalar> random_factors() const {
    const auto restart = static_cast<std::uint64_t>(state_.restart);
    const std::uint64_t seed =
        restart == 0 ? options_.seed : Random(options_.seed + restart, kStreamRestarts).bits();
    const Index wanted = options_.columns > 0 ? options_.columns
                         : kIsComplex<Scalar> ? kComplexColumns
                                              : kRealColumns;
    return Factorization<Scalar>(method_named(options_.method), op_.rows(), op_.rows(),
                                 std::min(wanted, op_.rows()), kInitNorm, seed);
  }

  // A share of |U| / |gradient|: small enough for maps whose rows are far from random.
  double careful_step(const Factorization<Scalar>& factors) const {
    Reals<Scalar> residual;
    FactorGradient<Scalar> gradient;
    factors.differentiate(op_, b_, residual, gradient);
    return kFirstStep * factors.norm_u() / static_cast<double>(gradient.Z.norm());
  }

  void start_dynamics() {
    const Factorization<Scalar> factors = random_factors();
    const double first_step = state_.careful ? careful_step(factors) : kFirstStep;
    state_.gradient =
        ProjectedGradient<Scalar>::start(factors, BasicStepRule<Scalar>(std::nullopt, first_step));
    state_.has_gradient = true;
    state_.next_cut = kFirstCut;
    state_.same = 0;
    recorder_.next_run();
  }

  void end_dynamics(bool try_carefully) {
    if (!try_carefully) ++state_.restart;
    state_.careful = try_carefully;
    state_.has_gradient = false;
    state_.gradient = BasicGradientState<Scalar>();
  }

  // From a random U_0, cut at doubling iterations.
  void run_to_next_cut() {
    if (!state_.has_gradient) start_dynamics();
    run_dynamics();
    if (state_.gradient.stop == GradientStop::kDiverged) return end_dynamics(!state_.careful);
    if (saver_.stopped()) return;
    take_cut();
    state_.next_cut *= 2;
    state_.gradient.stop = GradientStop::kRunning;
    if (!state_.solved && state_.next_cut <= options_.max_iterations) return;
    // The last cuts agree on the best answer and little is left: that is noise.
    done_ = state_.solved || (state_.same > 0 && state_.residual < kNoiseResidual);
    end_dynamics(false);
  }

  void run_dynamics() {
    GradientOptions options;
    options.max_iterations = state_.next_cut;
    options.dead_share = kDeadShare;
    const GradientStop stop = state_.gradient.stop;
    if (stop == GradientStop::kRunning || stop == GradientStop::kObserver)
      ProjectedGradient<Scalar>(op_, b_, options)
          .run(state_.gradient, [&](const BasicGradientState<Scalar>& s) {
            return saver_.go_on(recorder_.observe(s, unit()));
          });
    recorder_.finish(state_.gradient, unit());
  }

  // Rank 1, polished; kept where it is the best.
  void take_cut() {
    const BasicGradientState<Scalar>& gradient = state_.gradient;
    Vector<Scalar> x = dominant_vector<Scalar>(gradient.factors.stack().U(), gradient.factors.d());
    saver_.begin_part();
    polish_phase<Scalar>(op_, b_, x, [&](const FitStep& step) {
      return saver_.go_on(recorder_.observe(step, unit()));
    });
    saver_.end_part();
    recorder_.next_run(gradient.iteration);
    const double before = state_.residual, residual = intensity_residual(op_, b_, x);
    if (residual < before) {
      state_.x = std::move(x);
      state_.residual = residual;
      state_.best_restart = state_.restart;
      state_.best_iteration = gradient.iteration;
      state_.solved = residual <= tolerance_;
    }
    const bool repeated = std::abs(residual - state_.residual) <= kSameObjective * residual &&
                          std::abs(before - residual) <= kSameObjective * residual;
    state_.same = repeated ? state_.same + 1 : 0;
  }

  double unit() const { return 1 / (scale_ * scale_); }

  const IntensityOperator<Scalar>& op_;
  const PhaseOptions& options_;
  Recorder recorder_;
  Saver saver_;
  Reals<Scalar> b_;
  double scale_ = 1, tolerance_ = 0;
  bool done_ = false;
  PhaseState<Scalar> state_;
};

}  // namespace

void PhaseOptions::validate() const {
  require(method == "udu" || method == "bm", "method '", method, "' found, udu or bm expected");
  require(columns >= 0, "columns = ", columns, ", 0 or more expected");
  require(size > 0 && std::isfinite(size), "size = ", size, ", a positive number expected");
  require(max_iterations >= kFirstCut, "max_iterations = ", max_iterations, ", at least ",
          kFirstCut, " expected");
  require(restarts >= 1, "restarts = ", restarts, ", at least 1 expected");
  require(tolerance >= 0, "tolerance = ", tolerance, ", 0 or more expected");
}

template <typename Scalar>
PhaseRetrieval<Scalar> retrieve_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                      const PhaseOptions& options, const Hooks& hooks) {
  options.validate();
  require(b.size() == op.num_measurements(), "b has ", b.size(), " values, ", op.num_measurements(),
          " expected");
  PhaseRetrieval<Scalar> found;
  Verdict verdict = Verdict::kContinue;
  {
    const FlushToZero flush;
    Retrieval<Scalar> retrieval(op, b, options, hooks);
    found = retrieval.run();
    verdict = retrieval.verdict();
  }
  BasicRecovery<Scalar> answer = rank_one_recovery<Scalar>(op, b, found.x);
  answer.method = options.method;
  answer.iterations = found.iterations;
  answer.seconds = found.seconds;
  answer.history = std::move(found.history);
  // Nothing is a stationary point too, but no answer.
  answer.converged =
      found.solved || (answer.rank > 0 && answer.certificate.verdict != Optimality::kNotConverged);
  answer.stop_reason = stop_reason(verdict, answer.converged);
  static_cast<BasicRecovery<Scalar>&>(found) = std::move(answer);
  return found;
}

#define UDV_INSTANTIATE(Scalar)                   \
  template PhaseRetrieval<Scalar> retrieve_phase( \
      const IntensityOperator<Scalar>&, const Reals<Scalar>&, const PhaseOptions&, const Hooks&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
