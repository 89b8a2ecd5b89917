// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/phase_constrained.hpp"
#include "recover/phase_messages.hpp"
#include "recover/solver/fingerprint.hpp"
#include "recover/solver/recorder.hpp"
#include "recover/solver/saver.hpp"
#include "recover/solver/state_archive.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {
namespace {

constexpr Index kRealColumns = 20, kComplexColumns = 8;
constexpr Index kFirstCut = 32;
constexpr double kInitNorm = 0.1;
constexpr double kDeadShare = 1e-12;
constexpr double kSameObjective = 1e-3;  // two cuts with the same answer
constexpr double kNoiseResidual = 0.1;   // a repeated answer below this is taken for one with noise
constexpr double kSameAnswer = 0.01;     // |x - x'| / |x| of two starts with the same answer

constexpr double kFirstStep = 1e-3;

// Where a retrieval stands. A polish that was cut off is repeated: its gradient run has ended.
template <typename Scalar>
struct PhaseState {
  std::uint64_t fingerprint = 0;
  RecorderState recorder;
  int starts = 0;        // that are done: by messages and by projections
  bool done = false;     // no more starts
  bool refined = false;  // the best answer to noisy data
  int restart = 0;
  bool careful = false;  // second try of this restart, as the first one diverged
  bool has_gradient = false;
  BasicGradientState<Scalar> gradient;
  Index next_cut = kFirstCut;
  int same = 0;    // cuts in a row with the best answer
  int agreed = 0;  // starts by messages that led to the best answer, beside the first one
  // The best cut so far, in scaled units.
  Vector<Scalar> x;
  double residual = 1;
  int best_restart = 0;
  Index best_iteration = 0;
  bool solved = false;
};

template <typename Archive, typename Scalar>
void fields(Archive& archive, PhaseState<Scalar>& s) {
  archive(s.fingerprint, s.recorder, s.starts, s.done, s.refined, s.restart, s.careful,
          s.has_gradient, s.gradient);
  archive(s.next_cut, s.same, s.agreed, s.x, s.residual, s.best_restart, s.best_iteration,
          s.solved);
}

template <typename Scalar>
std::string state_kind() {
  std::string kind = "phase ";
  return kind += scalar_name<Scalar>();
}

std::string option_bytes(PhaseOptions options) {
  ArchiveWriter archive;
  archive(options.method, options.columns, options.size, options.max_iterations, options.restarts,
          options.tolerance, options.seed, options.prior.nonnegative, options.prior.sparse);
  return archive.take();
}

// One retrieval: restarts of the dynamics, cuts, polishes; the best x so far.
template <typename Scalar>
class PhaseSolver {
 public:
  PhaseSolver(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
              const PhaseOptions& options, const Hooks& hooks, bool in_turns)
      : op_(op),
        options_(options),
        in_turns_(in_turns),
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
    const bool limited = options_.prior.nonnegative || options_.prior.sparse;
    const int starts = options_.method == "auto" ? options_.restarts * (in_turns_ ? 2 : 1) : 0;
    while (!state_.done && !saver_.stopped() && state_.starts < starts) start_directly();
    while (!limited && !state_.done && !saver_.stopped() && state_.restart < options_.restarts)
      run_to_next_cut();
    if (!limited) refine();
    PhaseRetrieval<Scalar> found;
    found.x = state_.x;
    found.x *= static_cast<RealOf<Scalar>>(1 / std::sqrt(scale_));
    found.restart = state_.best_restart;
    found.cut_iteration = state_.best_iteration;
    found.solved = state_.solved;
    found.repeated = state_.agreed > 0 || (state_.same > 0 && state_.residual < kNoiseResidual);
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

  std::uint64_t seed_of(int restart) const {
    const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(restart);
    return restart == 0 ? seed : Random(seed, kStreamRestarts).bits();
  }

  // The first start needs no work beforehand; the others know the spectrum of W.
  MessageOptions message_options() const {
    const int number = in_turns_ ? state_.starts / 2 : state_.starts;
    const bool limited = options_.prior.nonnegative || options_.prior.sparse;
    const bool vector = !limited && (op_.has_diagonal_gram() || number > 0);
    return {vector && has_vector_messages(op_) ? Messages::kVector : Messages::kScalar,
            options_.prior, seed_of(number)};
  }

  // By messages or, every second time, by projections; polished. Random starts that agree on the
  // best answer have found what the noise leaves of x.
  void start_directly() {
    saver_.begin_part();
    const FitMonitor monitor = [&](const FitStep& step) {
      return !saver_.stopped() && saver_.should_continue(recorder_.observe(step, unit()));
    };
    const bool turns = in_turns_ && state_.starts % 2 == 1;
    Vector<Scalar> x =
        turns ? project_in_turns(op_, b_, options_.prior, seed_of(state_.starts / 2), monitor)
              : pass_messages(op_, b_, message_options(), monitor);
    if (saver_.stopped()) return;
    polish_constrained<Scalar>(op_, b_, options_.prior, x, monitor);
    const bool same = is_best(x);
    const bool better = keep(std::move(x), state_.starts, 0);
    if (saver_.stopped()) return;
    ++state_.starts;
    state_.agreed = same ? state_.agreed + 1 : better ? 0 : state_.agreed;
    state_.done = state_.solved || state_.agreed > 0;
    saver_.end_part();
  }

  // The best answer so far, or a copy of it that is shifted or inverted.
  bool is_best(const Vector<Scalar>& x) const {
    if (!(state_.residual < 1)) return false;
    const double residual = intensity_residual(op_, b_, x);
    return phase_error<Scalar>(x, state_.x) <= kSameAnswer ||
           (in_turns_ && std::abs(residual - state_.residual) <= kSameObjective * residual);
  }

  // The polish stops where little is gained: noisy data are fitted until the gradient is small.
  void refine() {
    if (state_.refined || state_.solved || saver_.stopped() || !(state_.residual < 1)) return;
    saver_.begin_part();
    StackedFactors<Scalar> Z(op_.rows(), op_.rows(), true, 1);
    Z.Z.col(0) = state_.x;
    FitOptions options;
    options.small_gain = 1e-7;
    fit_factors(op_, b_, Z, options, [&](const FitStep& step) {
      return saver_.should_continue(recorder_.observe(step, unit()));
    });
    keep(Z.Z.col(0), state_.best_restart, state_.best_iteration);
    if (saver_.stopped()) return;
    state_.refined = true;
    saver_.end_part();
  }

  Factorization<Scalar> random_factors() const {
    const std::uint64_t seed = seed_of(state_.restart);
    const Index wanted = options_.columns > 0 ? options_.columns
                         : kIsComplex<Scalar> ? kComplexColumns
                                              : kRealColumns;
    const std::string method = options_.method == "auto" ? "udu" : options_.method;
    return Factorization<Scalar>(method_named(method), op_.rows(), op_.rows(),
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
    state_.done = state_.solved || (state_.same > 0 && state_.residual < kNoiseResidual);
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
            return saver_.should_continue(recorder_.observe(s, unit()));
          });
    recorder_.finish(state_.gradient, unit());
  }

  // Rank 1, polished; kept where it is the best.
  void take_cut() {
    const BasicGradientState<Scalar>& gradient = state_.gradient;
    Vector<Scalar> x = dominant_vector<Scalar>(gradient.factors.stack().U(), gradient.factors.d());
    saver_.begin_part();
    polish_phase<Scalar>(op_, b_, x, [&](const FitStep& step) {
      return saver_.should_continue(recorder_.observe(step, unit()));
    });
    saver_.end_part();
    recorder_.next_run(gradient.iteration);
    const double before = state_.residual, residual = intensity_residual(op_, b_, x);
    keep(std::move(x), state_.restart, gradient.iteration);
    const bool repeated = std::abs(residual - state_.residual) <= kSameObjective * residual &&
                          std::abs(before - residual) <= kSameObjective * residual;
    state_.same = repeated ? state_.same + 1 : 0;
  }

  // x where it is the best so far.
  bool keep(Vector<Scalar> x, int restart, Index iteration) {
    const double residual = intensity_residual(op_, b_, x);
    if (!(residual < state_.residual)) return false;
    state_.x = std::move(x);
    state_.residual = residual;
    state_.best_restart = restart;
    state_.best_iteration = iteration;
    state_.solved = residual <= tolerance_ && confirms_entries(op_, options_.prior, state_.x);
    return true;
  }

  double unit() const { return 1 / (scale_ * scale_); }

  const IntensityOperator<Scalar>& op_;
  const PhaseOptions& options_;
  const bool in_turns_;  // projections are tried, too
  Recorder recorder_;
  Saver saver_;
  Reals<Scalar> b_;
  double scale_ = 1, tolerance_ = 0;
  PhaseState<Scalar> state_;
};

}  // namespace

void PhaseOptions::validate() const {
  require(method == "auto" || method == "udu" || method == "bm", "method '", method,
          "' found, auto, udu or bm expected");
  require(columns >= 0, "columns = ", columns, ", 0 or more expected");
  require(size > 0 && std::isfinite(size), "size = ", size, ", a positive number expected");
  require(max_iterations >= kFirstCut, "max_iterations = ", max_iterations, ", at least ",
          kFirstCut, " expected");
  require(restarts >= 1, "restarts = ", restarts, ", at least 1 expected");
  require(tolerance >= 0, "tolerance = ", tolerance, ", 0 or more expected");
}

namespace {

// sqrt(|r|^2 / (measurements - parameters)), where there are more of them.
template <typename Scalar>
double noise_of(const RecoveryFacts& answer, const Reals<Scalar>& b, Index unknowns) {
  const Index parameters = kIsComplex<Scalar> ? 2 * unknowns - 1 : unknowns;
  if (answer.exact || b.size() <= parameters) return 0;
  return answer.relative_residual *
         std::sqrt(squared_norm(b) / static_cast<double>(b.size() - parameters));
}

// An answer that only one start led to, and that does not fit, may be any stationary point.
template <typename Scalar>
bool has_converged(const PhaseRetrieval<Scalar>& found, const RecoveryFacts& answer) {
  constexpr double kStationary = 1e-3;
  if (answer.rank == 0 || !std::isfinite(answer.relative_residual)) return false;
  return found.solved || answer.certificate.verdict == Optimality::kGlobal ||
         (found.repeated && answer.certificate.stationarity <= kStationary);
}

template <typename Scalar>
PhaseRetrieval<Scalar> solve_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                   const PhaseOptions& options, const Hooks& hooks, bool in_turns) {
  PhaseRetrieval<Scalar> found;
  Verdict verdict = Verdict::kContinue;
  {
    const FlushToZero flush;
    PhaseSolver<Scalar> solver(op, b, options, hooks, in_turns);
    found = solver.run();
    verdict = solver.verdict();
  }
  BasicRecovery<Scalar> answer = constrained_recovery<Scalar>(op, b, options.prior, found.x);
  answer.method = options.method == "auto" ? "udu" : options.method;
  answer.iterations = found.iterations;
  answer.seconds = found.seconds;
  answer.history = std::move(found.history);
  answer.converged = has_converged(found, answer);
  if (answer.converged)
    answer.noise_sigma = noise_of<Scalar>(answer, b, (found.x.array() != Scalar(0)).count());
  answer.stop_reason = stop_reason(verdict, answer.converged);
  static_cast<BasicRecovery<Scalar>&>(found) = std::move(answer);
  return found;
}

// Entries that may differ from zero: in the support, and seen by some measurement.
template <typename Scalar>
std::vector<bool> allowed_entries(const IntensityOperator<Scalar>& op, const PhasePrior& prior) {
  const Reals<Scalar> light = op.diagonal(Reals<Scalar>::Ones(op.num_measurements()));
  std::vector<bool> allowed(static_cast<size_t>(op.rows()));
  for (size_t j = 0; j < allowed.size(); ++j)
    allowed[j] = light(static_cast<Index>(j)) > 0 && (prior.support.empty() || prior.support[j]);
  return allowed;
}

// The operator as one diffraction pattern; nullptr where it has more, or is none.
template <typename Scalar>
const ImagingOperator<Scalar>* one_pattern(const IntensityOperator<Scalar>& op) {
  if constexpr (kIsComplex<Scalar>) {
    const auto* const imaging = dynamic_cast<const ImagingOperator<Scalar>*>(&op);
    if (imaging && imaging->images() == 1) return imaging;
  }
  return nullptr;
}

// One pattern is that of moved and inverted copies of x, too.
template <typename Scalar>
void look_for_copies(const IntensityOperator<Scalar>& op, const PhasePrior& prior,
                     PhaseRetrieval<Scalar>& found) {
  constexpr double kPresent = 1e-6;
  if constexpr (kIsComplex<Scalar>) {
    const ImagingOperator<Scalar>* const pattern = one_pattern(op);
    if (!pattern || found.rank == 0) return;
    std::vector<bool> present(static_cast<size_t>(op.rows()));
    const auto least = kPresent * static_cast<double>(found.x.cwiseAbs().maxCoeff());
    for (size_t j = 0; j < present.size(); ++j)
      present[j] = std::abs(found.x(static_cast<Index>(j))) > least;
    const Ambiguity copies = pattern_ambiguity(allowed_entries(op, prior), present,
                                               pattern->image_rows(), pattern->image_cols());
    found.inversion_fits = copies.inversion;
    found.shifts_that_fit = copies.shifts;
    if (copies.inversion || copies.shifts > 0) found.determinacy.unique = false;
  }
}

template <typename Scalar>
PhaseRetrieval<Scalar> solve_within_support(const IntensityOperator<Scalar>& op,
                                            const Reals<Scalar>& b, const PhaseOptions& options,
                                            const Hooks& hooks, bool in_turns) {
  std::vector<Index> entries;
  for (size_t j = 0; j < options.prior.support.size(); ++j)
    if (options.prior.support[j]) entries.push_back(static_cast<Index>(j));
  const RestrictedOperator<Scalar> part(op, entries);
  PhaseRetrieval<Scalar> found = solve_phase<Scalar>(part, b, options, hooks, in_turns);
  found.x = part.spread(RowMatrix<Scalar>(found.x)).col(0);
  static_cast<BasicRecovery<Scalar>&>(found) = spread_over<Scalar>(part, op.rows(), found);
  return found;
}

}  // namespace

template <typename Scalar>
PhaseRetrieval<Scalar> retrieve_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                      const PhaseOptions& options, const Hooks& hooks) {
  options.validate();
  require(b.size() == op.num_measurements(), "b has ", b.size(), " values, ", op.num_measurements(),
          " expected");
  const std::vector<bool>& support = options.prior.support;
  require(support.empty() || static_cast<Index>(support.size()) == op.rows(), "support has ",
          support.size(), " entries, ", op.rows(), " expected");
  require(support.empty() || std::find(support.begin(), support.end(), true) != support.end(),
          "support: no entry may differ from zero");
  const bool in_turns =
      op.has_diagonal_gram() && (!support.empty() || options.prior.nonnegative || one_pattern(op));
  PhaseRetrieval<Scalar> found =
      support.empty() ? solve_phase<Scalar>(op, b, options, hooks, in_turns)
                      : solve_within_support<Scalar>(op, b, options, hooks, in_turns);
  look_for_copies(op, options.prior, found);
  return found;
}

#define UDV_INSTANTIATE(Scalar)                   \
  template PhaseRetrieval<Scalar> retrieve_phase( \
      const IntensityOperator<Scalar>&, const Reals<Scalar>&, const PhaseOptions&, const Hooks&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
