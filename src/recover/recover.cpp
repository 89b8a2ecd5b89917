// SPDX-License-Identifier: MIT
#include "udv/recover/recover.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/bayes_answer.hpp"
#include "recover/solver/contradiction.hpp"
#include "recover/solver/equilibrate.hpp"
#include "recover/solver/fingerprint.hpp"
#include "recover/solver/offsets.hpp"
#include "recover/solver/recorder.hpp"
#include "recover/solver/robust.hpp"
#include "recover/split.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// A residual that counts as zero, and the share of a singular value that does not count.
template <typename Scalar>
constexpr double kDefaultTolerance = std::max(1e-10, 80 * kEpsilon<Scalar>);
template <typename Scalar>
constexpr double kRankTolerance = std::max(1e-10, 80 * kEpsilon<Scalar>);
constexpr double kSizeAgainstBall = 5;  // |X|_F after scaling, ball of radius 1
constexpr Index kDefaultGradientSteps = 100'000;
constexpr Index kStartIterations = 1024;  // longest gradient run before the walk
constexpr double kStartDeadShare = 1e-14;
constexpr double kWellConditioned = 1e-2;  // smallest over largest singular value
constexpr Index kLargeData = 50'000;       // entries that are not searched for gross errors twice
constexpr Index kHugeData = 2'000'000;     // entries for which the walk is not tried first
constexpr double kClearNoise = 0.02;       // share of the data that is noise for sure
constexpr double kGrossError = 10;         // standard deviations of the noise

// Steps of a walk that is worth a search for gross errors: 70 are many without them. Small problems
// have time for more.
Index long_walk(Index measurements) {
  return std::max<Index>(150, 1'000'000 / measurements);
}

template <typename Scalar>
std::uint64_t fingerprint(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  RecoverOptions described = options;
  OptionTable table;
  describe(table, described);
  return solve_fingerprint(*problem.op, problem.b, message(options.seed, table.fingerprint()));
}

template <typename Scalar>
double scale_of(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  const double norm = problem.b.stableNorm();
  switch (options.scale_rule) {
    case ScaleRule::kAuto:
      return kSizeAgainstBall * std::sqrt(problem.op->mean_gain()) / norm;
    case ScaleRule::kUnit:
      return 1 / norm;
    case ScaleRule::kNone:
      return 1;
    default:
      return options.scale_value;
  }
}

// Offsets are for entries of real rectangular matrices.
template <typename Scalar>
bool takes_offsets(const MeasurementOperator<Scalar>& op) {
  return std::is_same_v<Scalar, double> && op.name() == "entries" && !op.symmetric();
}

const Method& method_of(bool symmetric, const RecoverOptions& options) {
  const Method& method =
      method_named(options.method == "auto" ? (symmetric ? "udu" : "udv") : options.method);
  require(method.symmetric == symmetric, "method ", method.name, " is for ",
          method.symmetric ? "symmetric" : "rectangular", " problems, this one is ",
          symmetric ? "symmetric" : "rectangular");
  return method;
}

Centering joined(Centering a, Centering b) {
  const bool rows = has_rows(a) || has_rows(b), cols = has_cols(a) || has_cols(b);
  if (rows || cols)
    return rows && cols ? Centering::kBoth : rows ? Centering::kRows : Centering::kCols;
  return a == Centering::kGlobal || b == Centering::kGlobal ? Centering::kGlobal : Centering::kNone;
}

Biases sum_of(const Biases& a, Biases b) {
  const auto add = [](const Vector<double>& more, Vector<double>& sum) {
    if (sum.size() == 0)
      sum = more;
    else if (more.size() > 0)
      sum += more;
  };
  b.global += a.global;
  add(a.row, b.row);
  add(a.col, b.col);
  return b;
}

Biases scaled(Biases biases, double factor) {
  biases.global *= factor;
  biases.row *= factor;
  biases.col *= factor;
  return biases;
}

// One solve, from the scaled problem to the answer.
template <typename Scalar>
class Solve {
 public:
  Solve(const BasicProblem<Scalar>& problem, const RecoverOptions& options,
        const BasicHooks<Scalar>& hooks)
      : used_(problem),
        options_(options),
        hooks_(hooks),
        method_(method_of(problem.op->symmetric(), options)),
        recorder_(options.record, hooks.observer) {
    if (options.holdout > 0) {
      std::tie(used_, held_out_) = split(problem, options.holdout, options.seed);
      if (options.rank_walk) all_ = problem;
    }
    subtract_offsets();
    scale_ = scale_of(used_, options);
    offset_norm_ *= scale_;
    b_ = real(scale_) * used_.b;
    const double size = squared_norm(b_);
    require(std::isfinite(size), "scale ", scale_, " makes the measurements overflow");
    require(size > 1e-280, "scale ", scale_, " makes the measurements vanish");
    num_measurements_ = used_.op->num_measurements();
    state_.fingerprint = fingerprint(problem, options);
  }

  BasicRecovery<Scalar> run() {
    resume();
    if (!options_.rank_walk || options_.start == Start::kDynamics) run_gradient();
    const bool used_up =
        options_.max_iterations > 0 && state_.gradient.iteration >= options_.max_iterations;
    const bool walk_now = options_.rank_walk && stop_ == Verdict::kContinue && !used_up &&
                          state_.gradient.stop != GradientStop::kDiverged;
    if (walk_now)
      walk();
    else
      take_gradient_result();
    finish();
    return std::move(result_);
  }

 private:
  void resume() {
    if (hooks_.resume.empty()) return;
    auto state = solve_state_from_bytes<Scalar>(hooks_.resume);
    require(state.fingerprint == state_.fingerprint,
            "the checkpoint belongs to another problem or to other options");
    state_ = std::move(state);
    recorder_.restore(state_);
  }

  // Saves now and then, and when the observer wants to stop. False to stop.
  bool go_on(Verdict verdict) {
    const double now = recorder_.seconds();
    if (verdict != Verdict::kContinue) stop_ = verdict;
    if (!walking_ && now - last_save_ > hooks_.save_every_seconds) save();
    return stop_ == Verdict::kContinue;
  }

  void save() {
    last_save_ = recorder_.seconds();
    if (!hooks_.save) return;
    recorder_.store(state_);
    hooks_.save(to_bytes(state_));
  }

  Index columns() const {
    const Index smaller = std::min(used_.op->rows(), used_.op->cols());
    return options_.max_rank > 0 ? std::min(options_.max_rank, smaller) : smaller;
  }

  void run_gradient() {
    GradientOptions gradient;
    gradient.alpha = options_.alpha.value_or(1);
    if (options_.rank_walk) {
      gradient.max_iterations = options_.max_iterations > 0
                                    ? std::min(options_.max_iterations, kStartIterations)
                                    : kStartIterations;
      gradient.stop_when_settled = true;
      gradient.dead_share = kStartDeadShare;
    } else {
      gradient.max_iterations =
          options_.max_iterations > 0 ? options_.max_iterations : kDefaultGradientSteps;
      gradient.tolerance = options_.tolerance.value_or(0);
      gradient.dead_share = kEpsilon<Scalar> * kEpsilon<Scalar>;
    }
    if (!state_.has_gradient) {
      // With a walk to come, columns that the data could not determine are not even started.
      const Index start_columns =
          options_.rank_walk ? largest_determined_rank(*used_.op, columns()) : columns();
      state_.gradient = ProjectedGradient<Scalar>::start(
          Factorization<Scalar>(method_, used_.op->rows(), used_.op->cols(), start_columns,
                                options_.init_norm, options_.seed),
          BasicStepRule<Scalar>(options_.step));
      state_.has_gradient = true;
    }
    // A finished gradient run of an interrupted walk is not run again.
    const GradientStop before = state_.gradient.stop;
    if (before != GradientStop::kRunning && before != GradientStop::kObserver) return;
    ProjectedGradient<Scalar> solver(*used_.op, b_, gradient);
    take_snapshot(state_.gradient);
    solver.run(state_.gradient, [this](const BasicGradientState<Scalar>& state) {
      take_snapshot(state);
      return go_on(recorder_.observe(state, 1 / (scale_ * scale_)));
    });
    recorder_.finish(state_.gradient, 1 / (scale_ * scale_));
  }

  void take_snapshot(const BasicGradientState<Scalar>& state) const {
    const auto& wanted = hooks_.snapshot_at;
    if (hooks_.snapshot && std::find(wanted.begin(), wanted.end(), state.iteration) != wanted.end())
      hooks_.snapshot(state);
  }

  void take_gradient_result() {
    const BasicGradientState<Scalar>& state = state_.gradient;
    factors_ = state.factors;
    result_.alpha = options_.alpha.value_or(1);
    result_.step = state.step_rule.step();
    result_.iterations = state.iteration;
    result_.objective = state.objective;
    result_.relative_residual = std::sqrt(2 * state.objective / squared_norm(b_));
    switch (state.stop) {
      case GradientStop::kDiverged:
        result_.stop_reason = StopReason::kDiverged;
        break;
      case GradientStop::kIterationLimit:
        result_.stop_reason = StopReason::kIterationLimit;
        break;
      default:
        result_.stop_reason = StopReason::kConverged;
    }
  }

  RankWalkOptions walk_options() const {
    RankWalkOptions walk;
    walk.max_rank = options_.max_rank;
    walk.rule.noise_sigma = options_.noise_sigma * scale_;
    walk.rule.zero_residual = zero_residual();
    walk.shrinkage = options_.shrinkage;
    walk.seed = options_.seed;
    return walk;
  }

  // Large offsets leave their rounding errors behind.
  double zero_residual() const {
    const double rounding = 8 * kEpsilon<Scalar> * offset_norm_ / std::sqrt(squared_norm(b_));
    return std::max(options_.tolerance.value_or(kDefaultTolerance<Scalar>), rounding);
  }

  // One of the walks of a solve, which share a journal: `act` runs it. An objective f of this walk
  // is f * unit for the caller.
  template <typename Act>
  RankWalkOutcome<Scalar> run_walk(const Reals<Scalar>& b, const RankWalkOptions& walk_options,
                                   double unit, const Act& act) {
    using Journal = std::vector<RankFit<Scalar>>;
    const auto first = state_.journal.begin() + static_cast<std::ptrdiff_t>(fits_used_);
    const Journal earlier(state_.journal.begin(), first);
    const auto whole = [&](const Journal& journal) {
      Journal all = earlier;
      all.insert(all.end(), journal.begin(), journal.end());
      return all;
    };
    RankWalk<Scalar> walk(*used_.op, b, walk_options);
    walk.set_journal({first, state_.journal.end()});
    if (held_out_.op && !walk_options.exact_only)
      walk.set_held_out([this](const StackedFactors<Scalar>& Z) { return held_out_error(Z); });
    const Index limit = options_.max_iterations;
    walking_ = true;  // from here the journal is the state: saved after whole fits only
    walk.set_monitor([&](const FitStep& step) {
      const bool wanted = go_on(recorder_.observe(step, unit));
      over_limit_ = limit > 0 && recorder_.next_iteration() > limit;
      return wanted && !over_limit_;
    });
    walk.set_on_fit([&](const Journal& journal) {
      if (hooks_.save && recorder_.seconds() - last_save_ > hooks_.save_every_seconds) {
        state_.journal = whole(journal);
        save();
      }
    });
    auto outcome = act(walk);
    state_.journal = whole(walk.journal());
    fits_used_ += walk.num_fits();
    return outcome;
  }

  RankWalkOutcome<Scalar> run_walk(const std::optional<StackedFactors<Scalar>>& start,
                                   Index pause_after = 0) {
    RankWalkOptions walk_now = walk_options();
    walk_now.pause_after = pause_after;
    return run_walk(b_, walk_now, 1 / (scale_ * scale_),
                    [&](RankWalk<Scalar>& walk) { return walk.run(start); });
  }

  // The walk for exact fits alone in units of its own for rows and columns.
  RankWalkOutcome<Scalar> walk_in_units(const LineScales& scales, bool& well_conditioned) {
    if constexpr (std::is_same_v<Scalar, double>) {
      Vector<double> b = divided(*used_.op, b_, scales);
      const double factor = kSizeAgainstBall * std::sqrt(used_.op->mean_gain()) / b.stableNorm();
      b *= factor;
      RankWalkOptions walk = walk_options();
      walk.exact_only = true;
      if (judged_) walk.pause_after = long_walk(b_.size());
      const double unit = squared_norm(b_) / squared_norm(b) / (scale_ * scale_);
      auto outcome =
          run_walk(b, walk, unit, [](RankWalk<Scalar>& equal) { return equal.run(std::nullopt); });
      StackedFactors<double>& Z = outcome.fit.Z;
      well_conditioned = significant_columns(balanced(Z), kWellConditioned) == Z.rank();
      Z = multiplied(std::move(Z), scales);
      Z.Z /= std::sqrt(factor);
      return outcome;
    } else {
      return {};
    }
  }

  // The exact answer where rows or columns are of very different sizes: thresholds are relative to
  // all data and would overlook the small ones. Where the answer is ill-conditioned in one choice
  // of units, another one may lead to a lower rank.
  std::optional<RankWalkOutcome<Scalar>> walk_in_equal_units() {
    std::optional<RankWalkOutcome<Scalar>> best;
    if constexpr (std::is_same_v<Scalar, double>) {
      if (used_.op->name() != "entries" || options_.noise_sigma > 0) return best;
      const LineScales scales = line_scales(*used_.op, b_);
      bool settled = !scales.matter();
      for (const double usual : {4.0, 10.0}) {
        if (settled) break;
        auto outcome = walk_in_units(scales.beyond(usual), settled);
        settled = settled || !outcome.exact;
        const bool interrupted = outcome.stopped && !outcome.paused;
        if (!outcome.exact && !(interrupted && !best)) continue;
        if (!best || outcome.fit.Z.rank() < best->fit.Z.rank()) best = std::move(outcome);
      }
      exact_rank_ = best && best->exact ? best->fit.Z.rank() : 0;
    }
    return best;
  }

  // Offsets so large that they are better subtracted first; those of a gradient run, which chooses
  // nothing, are least-squares means.
  void subtract_offsets() {
    const Centering wanted = options_.center;
    const bool possible = takes_offsets(*used_.op);
    if (!possible && wanted != Centering::kAuto && wanted != Centering::kNone)
      throw OptionError("center", "goes with entries of rectangular matrices only");
    if constexpr (std::is_same_v<Scalar, double>) {
      if (!possible || wanted == Centering::kNone) return;
      if (wanted != Centering::kAuto) {
        BiasFit means(*used_.op, wanted);
        means.converge(used_.b, 200, 1e-14);
        const Vector<double> left = used_.b - measured(*used_.op, means.biases);
        require(left.stableNorm() > 1e-12 * used_.b.stableNorm(),
                "nothing is left to recover after centering: the fitted means explain all values");
        if (!options_.rank_walk) return take_offsets({wanted, means.biases, {}});
      }
      if (options_.rank_walk) take_offsets(dominant_offsets(*used_.op, used_.b, wanted));
    }
  }

  // used_.b and held_out_.b are always the data less these.
  void take_offsets(OffsetModel model) {
    if constexpr (std::is_same_v<Scalar, double>) {
      const auto add = [](Problem& data, const Biases& biases, double sign) {
        if (data.op && biases.any()) data.b += sign * measured(*data.op, biases);
      };
      for (Problem* const data : {&used_, &held_out_, &all_}) {
        add(*data, offsets_.biases, 1);
        add(*data, model.biases, -1);
      }
      if (model.biases.any()) offset_norm_ = scale_ * measured(*used_.op, model.biases).norm();
      offsets_ = std::move(model);
    }
  }

  // The offsets that the data ask for beside the outcome of a walk; noisy ones want a new walk.
  void choose_offsets(RankWalkOutcome<Scalar>& outcome) {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (outcome.stopped || options_.center == Centering::kNone || !takes_offsets(*used_.op))
        return;
      OffsetModel start{offsets_.center, offsets_.biases, outcome.fit.Z};
      start.Z.Z /= std::sqrt(scale_);
      const Vector<double> raw = start.biases.any()
                                     ? Vector<double>(used_.b + measured(*used_.op, start.biases))
                                     : used_.b;
      const double zero = zero_residual() * used_.b.norm();
      const bool exact = std::sqrt(2 * outcome.fit.objective) <= zero * scale_ || exact_rank_ > 0;
      OffsetModel found =
          exact ? exact_offsets(*used_.op, raw, start, options_.center, zero)
                : noisy_offsets(*used_.op, raw, start, options_.center, RankRule{}.penalty,
                                [this] { return go_on(recorder_.poll()); });
      const bool unchanged =
          found.center == start.center && found.Z.rank() == start.Z.rank() &&
          (exact || found.center == Centering::kNone || stop_ != Verdict::kContinue);
      if (unchanged) return;
      StackedFactors<double> Z = std::move(found.Z);
      Z.Z *= std::sqrt(scale_);
      take_offsets(std::move(found));
      b_ = scale_ * used_.b;
      if (exact_rank_ > 0) exact_rank_ = Z.rank();
      if (exact)
        outcome.fit.Z = std::move(Z);
      else
        outcome = run_walk(std::nullopt);
    }
  }

  // Whether variational Bayes decides where no fit is exact.
  bool takes_bayes() const {
    return takes_offsets(*used_.op) && options_.shrinkage && !held_out_.op &&
           options_.noise_sigma <= 0;
  }

  BayesAnswer run_bayes(const std::optional<StackedFactors<double>>& start, double smallest_sigma) {
    BayesSearchOptions search;
    search.center = options_.center;
    search.noise_model = options_.noise_model;
    search.max_rank = options_.max_rank;
    search.seed = options_.seed;
    search.go_on = [this, smallest_sigma](double sigma) {
      return go_on(recorder_.poll()) && sigma >= smallest_sigma;
    };
    if constexpr (std::is_same_v<Scalar, double>)
      return bayes_answer(dynamic_cast<const EntriesOperator<double>&>(*used_.op), used_.b, start,
                          search, outliers_.noise.kind);
    else
      return {};
  }

  // The answer in the place of a walk's.
  void take_bayes(BayesAnswer answer, RankWalkOutcome<Scalar>& outcome) {
    if constexpr (std::is_same_v<Scalar, double>) {
      take_offsets(
          {joined(offsets_.center, answer.center), sum_of(offsets_.biases, answer.biases), {}});
      b_ = scale_ * used_.b;
      outcome.fit.Z = std::move(answer.Z);
      outcome.fit.Z.Z *= std::sqrt(scale_);
      outcome.noise_sigma = answer.sigma * scale_;
      outcome.ridge = 0;
      if (answer.noise != NoiseKind::kEqual) outliers_.noise.kind = answer.noise;
      result_.models = std::move(answer.trials);
      result_.posterior = std::move(answer.posterior);
    }
  }

  // Many entries that are clearly noisy: no fit can be exact, so no walk looks for one. False where
  // this is not certain.
  bool is_clearly_noisy(RankWalkOutcome<Scalar>& outcome) {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (!takes_bayes() || b_.size() < kLargeData || judged_) return false;
      const double size = b_.norm() / scale_ / std::sqrt(static_cast<double>(b_.size()));
      b_.resize(0);  // room for the posteriors
      BayesAnswer answer = run_bayes(std::nullopt, kClearNoise * size);
      b_ = scale_ * used_.b;
      const bool interrupted = stop_ != Verdict::kContinue;
      if (answer.stopped && !interrupted) return false;
      clearly_noisy_ = interrupted || answer.largest_residual <= kGrossError;
      if (clearly_noisy_) take_bayes(std::move(answer), outcome);
      return clearly_noisy_;
    } else {
      return false;
    }
  }

  // Where the walk would take long, it is run only if the noise is not clear.
  bool is_hugely_noisy(RankWalkOutcome<Scalar>& outcome) {
    const bool fresh = !state_.has_gradient && state_.journal.empty();
    return fresh && b_.size() >= kHugeData && is_clearly_noisy(outcome);
  }

  // Where no fit is exact: variational Bayes from the fit of the walk.
  void settle_noise(RankWalkOutcome<Scalar>& outcome) {
    if constexpr (std::is_same_v<Scalar, double>) {
      StackedFactors<double> start = outcome.fit.Z;
      start.Z /= std::sqrt(scale_);
      take_bayes(run_bayes(start, 0), outcome);
    }
  }

  // Held-out data have chosen the rank; the answer is a fit of all data at that rank.
  void refit_on_all(RankWalkOutcome<Scalar>& outcome) {
    if (!held_out_.op || outcome.stopped) return;
    const double squared = held_out_error(outcome.fit.Z);
    result_.holdout_rmse = std::sqrt(squared / static_cast<double>(held_out_.b.size())) / scale_;
    held_out_ = {};
    used_ = all_;
    num_measurements_ = used_.op->num_measurements();
    b_ = real(scale_) * used_.b;
    if (outcome.fit.Z.rank() == 0) return;
    auto scores = std::move(outcome.scores);
    const StackedFactors<Scalar> start = std::move(outcome.fit.Z);
    outcome = run_walk(b_, walk_options(), 1 / (scale_ * scale_),
                       [&](RankWalk<Scalar>& walk) { return walk.refit(start); });
    outcome.scores = std::move(scores);
  }

  // Entries of real matrices can be wrong one by one.
  const EntriesOperator<Scalar>* robust_operator() const {
    if (kIsComplex<Scalar> || held_out_.op || options_.noise_sigma > 0) return nullptr;
    return dynamic_cast<const EntriesOperator<Scalar>*>(used_.op.get());
  }

  // Looks for gross errors, once.
  void judge_entries() {
    if constexpr (!kIsComplex<Scalar>) {
      const auto* const op = robust_operator();
      if (!op || judged_) return;
      judged_ = true;
      outliers_ = find_outliers<Scalar>(*op, b_, walk_options(), [this](const FitStep& step) {
        return go_on(recorder_.observe(step, 1 / (scale_ * scale_)));
      });
      outlier_places_ = op->places(outliers_.entries);
    }
  }

  // The problem without the gross errors that were found; nothing where it is to stay as it is.
  std::optional<BasicProblem<Scalar>> rest() const {
    if constexpr (!kIsComplex<Scalar>) {
      if (options_.robust && !outliers_.stopped && outliers_.changes_problem())
        return without<Scalar>(*robust_operator(), b_, outliers_);
    }
    return std::nullopt;
  }

  bool fits_exactly(const BasicProblem<Scalar>& problem, const StackedFactors<Scalar>& Z) const {
    Reals<Scalar> residual;
    apply_stack(*problem.op, Z, residual);
    residual -= problem.b;
    return squared_norm(residual) <= std::pow(zero_residual(), 2) * squared_norm(problem.b);
  }

  // The walk over the entries that are left takes the fits that the search has made already.
  RankWalkOutcome<Scalar> walk_over(BasicProblem<Scalar> rest) {
    used_.op = std::move(rest.op);
    b_ = std::move(rest.b);
    used_.b = b_ / real(scale_);
    if (state_.journal.size() == fits_used_)
      state_.journal.insert(state_.journal.end(), outliers_.journal.begin(),
                            outliers_.journal.end());
    RankWalkOptions walk = walk_options();
    walk.max_rank = outliers_.max_rank;
    return run_walk(b_, walk, 1 / (scale_ * scale_),
                    [&](RankWalk<Scalar>& each) { return each.run(outliers_.start); });
  }

  // An exact fit with many measurements to spare: each wrong one would have cost a parameter.
  bool is_beyond_doubt(const RankWalkOutcome<Scalar>& outcome) const {
    constexpr double kSpare = 2.2;
    const Index rank = outcome.fit.Z.rank();
    return outcome.exact && rank > 0 &&
           static_cast<double>(b_.size()) >= kSpare * used_.op->degrees_of_freedom(rank);
  }

  // An exact fit of all entries gives way only to an exact one of most of them that needs fewer
  // numbers, each entry left out being one.
  bool is_better(const BasicProblem<Scalar>& rest, const RankWalkOutcome<Scalar>& outcome) const {
    if (!outcome.exact) return true;
    const double numbers = used_.op->degrees_of_freedom(outliers_.fit.rank()) +
                           static_cast<double>(outliers_.entries.size());
    return outliers_.any() && fits_exactly(rest, outliers_.fit) &&
           numbers < used_.op->degrees_of_freedom(outcome.fit.Z.rank());
  }

  // With gross errors the ordinary walk is slow, so the search for them comes first where they are
  // likely. In a positive semidefinite matrix what contradicts it would be taken for one.
  std::optional<BasicProblem<Scalar>> gross_errors_first() {
    if constexpr (!kIsComplex<Scalar>) {
      const auto* const op = robust_operator();
      if (op && !op->symmetric() && options_.robust && gross_errors_likely<Scalar>(*op, b_)) {
        judge_entries();
        return rest();
      }
    }
    return std::nullopt;
  }

  // An exact fit of all data is looked for before anything is left out: rows and columns of
  // different sizes can look like gross errors.
  RankWalkOutcome<Scalar> best_walk() {
    if (auto likely = gross_errors_first()) {
      const bool equal_noise = outliers_.noise.kind == NoiseKind::kEqual;
      if (equal_noise && fits_exactly(*likely, outliers_.fit)) return walk_over(std::move(*likely));
      if (auto equal = walk_in_equal_units()) return without_outliers(std::move(*equal));
      return walk_over(std::move(*likely));
    }
    if (auto equal = walk_in_equal_units()) return without_outliers(std::move(*equal));
    const auto start = start_stack();
    const size_t before = fits_used_;
    const bool can_pause = robust_operator() && options_.robust && !judged_;
    auto outcome = with_joints_closed(run_walk(start, can_pause ? long_walk(b_.size()) : 0));
    if ((outcome.stopped && !outcome.paused) || is_beyond_doubt(outcome)) return outcome;
    const bool noisy = outcome.paused || !outcome.exact;
    if (noisy && is_clearly_noisy(outcome)) return outcome;
    if (!contradicts_symmetry(outcome)) judge_entries();
    if (auto others = rest(); others && is_better(*others, outcome))
      return walk_over(std::move(*others));
    if (outcome.exact) return without_outliers(std::move(outcome));
    if (!outcome.paused || outliers_.stopped) return outcome;
    fits_used_ = before;  // the walk goes on: its fits are in the journal
    return run_walk(start);
  }

  // Blocks that few entries join may have too many columns, some for the joints alone.
  RankWalkOutcome<Scalar> with_joints_closed(RankWalkOutcome<Scalar> outcome) const {
    if (!outcome.exact || outcome.stopped || outcome.fit.Z.rank() < 2) return outcome;
    DeterminacyOptions options;
    options.zero_residual = zero_residual();
    options.seed = options_.seed;
    if (auto lower = with_lower_rank(*used_.op, b_, outcome.fit.Z, options)) {
      outcome.fit.Z = std::move(*lower);
      outcome.fit.objective = 0;
    }
    return outcome;
  }

  RankWalkOutcome<Scalar> without_outliers(RankWalkOutcome<Scalar> outcome) {
    outliers_ = {};
    outlier_places_.clear();
    return outcome;
  }

  // Other operators measure intensities, of positive semidefinite matrices whatever the noise says.
  bool contradicts_symmetry(const RankWalkOutcome<Scalar>& outcome) const {
    const auto name = used_.op->name();
    return used_.op->symmetric() && (name == "entries" || name == "dense") && !outcome.exact &&
           contradicts_psd(*used_.op, b_, outcome.fit.Z, RankRule{}.penalty, options_.seed);
  }

  void walk() {
    RankWalkOutcome<Scalar> outcome;
    if (!is_hugely_noisy(outcome)) {
      outcome = best_walk();
      if (clearly_noisy_)
        outcome.stopped = outcome.paused = false;
      else if (takes_bayes() && !outcome.exact && !outcome.stopped && exact_rank_ == 0)
        settle_noise(outcome);
      else
        choose_offsets(outcome);
      refit_on_all(outcome);
    }
    result_.by_rank_walk = true;
    result_.iterations = recorder_.next_iteration() - 1;
    result_.noise_sigma = outcome.noise_sigma / scale_;
    result_.ridge = outcome.ridge;
    result_.scores = outcome.scores;
    result_.rank_cap = outcome.cap;
    result_.indefinite = !outcome.stopped && contradicts_symmetry(outcome);
    if (outcome.stopped && over_limit_) result_.stop_reason = StopReason::kIterationLimit;
    result_.outliers = outlier_places_;
    result_.outliers_removed = options_.robust && !outliers_.entries.empty();
    result_.noise_by = outliers_.noise.kind;
    take_balanced(outcome.fit.Z);
  }

  double held_out_error(const StackedFactors<Scalar>& Z) const {
    Reals<Scalar> predicted;
    apply_stack(*held_out_.op, Z, predicted);
    return (predicted - real(scale_) * held_out_.b).squaredNorm();
  }

  std::optional<StackedFactors<Scalar>> start_stack() const {
    if (!state_.has_gradient) return std::nullopt;
    const BasicGradientState<Scalar>& state = state_.gradient;
    return leading_columns(balanced(state.factors.absorbed()), std::max<Index>(1, state.live));
  }

  // X = U diag(s) V^T from its SVD for methods with a diagonal factor, else U V^T.
  void take_balanced(const StackedFactors<Scalar>& fit) {
    StackedFactors<Scalar> Z = balanced(fit);
    Reals<Scalar> d = Reals<Scalar>::Ones(Z.rank());
    if (method_.diagonal) {
      d = Z.U().colwise().squaredNorm().transpose();
      constexpr auto kTiny = std::numeric_limits<RealOf<Scalar>>::min();
      const Reals<Scalar> inverse = d.cwiseMax(kTiny).cwiseSqrt().cwiseInverse();
      Z.Z = Z.Z * inverse.template cast<Scalar>().asDiagonal();
    }
    factors_ = Factorization<Scalar>(method_, std::move(Z), std::move(d));
    result_.alpha = method_.diagonal ? std::max(1.0, factors_.norm_u()) : 1.0;
  }

  void finish() {
    const auto& op = *used_.op;
    result_.method = method_.name;
    result_.operator_name = op.name();
    result_.rows = op.rows();
    result_.cols = op.cols();
    result_.measurements = num_measurements_;
    result_.symmetric = op.symmetric();
    result_.scale = scale_;
    if (stop_ != Verdict::kContinue) result_.stop_reason = stop_reason(stop_, false);
    if (result_.stop_reason != StopReason::kDiverged) measure();
    unscale();
    if (stop_ != Verdict::kContinue) save();
    recorder_.flush();
    result_.seconds = recorder_.seconds();
    result_.history = recorder_.take_history();
    result_.columns = recorder_.take_columns();
  }

  // Residual, spectrum, certificate and what the data leave open, all in scaled units.
  void measure() {
    const auto& op = *used_.op;
    Reals<Scalar> residual;
    factors_.measure(op, residual);
    residual -= b_;
    result_.objective = 0.5 * squared_norm(residual);
    result_.relative_residual = std::sqrt(2 * result_.objective) / std::sqrt(squared_norm(b_));
    take_spectrum();
    CertificateOptions certificate;
    certificate.ridge = result_.ridge;
    certificate.alpha = result_.by_rank_walk ? 0 : result_.alpha;
    certificate.seed = options_.seed;
    certificate.tolerance = kCertificateTolerance;
    if (!clearly_noisy_) result_.certificate = certify(op, b_, factors_, certificate);
    // A gradient run does not claim its rank; what no rank could tell is said all the same.
    result_.undetermined = op.undetermined(parameters_per_line());
    if (held_out_.op) {
      const double squared = held_out_error(factors_.absorbed());
      result_.holdout_rmse = std::sqrt(squared / static_cast<double>(held_out_.b.size())) / scale_;
    }
    result_.exact = result_.relative_residual <= zero_residual();
    examine();
    // A gradient run that has lost all its columns stands still, but it has found nothing.
    const bool lost = !result_.by_rank_walk && result_.rank == 0;
    Optimality& verdict = result_.certificate.verdict;
    // Who asks for a large residual only gets no gradient smaller than that.
    // Variational Bayes ends where the bound is stationary, not f.
    const bool settled = result_.exact || !result_.models.empty();
    if (settled && verdict == Optimality::kNotConverged) verdict = Optimality::kStationary;
    result_.converged = !lost && verdict != Optimality::kNotConverged;
    if (!result_.converged && result_.stop_reason == StopReason::kConverged)
      result_.stop_reason = StopReason::kIterationLimit;
  }

  // Whether another answer of this rank would do; a gradient run does not claim its rank.
  void examine() {
    if (!result_.by_rank_walk || result_.rank == 0 || clearly_noisy_ ||
        stop_ != Verdict::kContinue) {
      result_.open_entries = open_entries<Scalar>(result_.undetermined, *used_.op);
      return;
    }
    DeterminacyOptions options;
    options.zero_residual = zero_residual();
    options.exact = result_.exact;
    options.seed = options_.seed;
    options.center = offsets_.center;
    options.biases = scaled(offsets_.biases, scale_);
    auto answer = determine(*used_.op, b_,
                            leading_columns(balanced(factors_.absorbed()), result_.rank), options);
    result_.determinacy = answer.facts;
    result_.open_entries = std::move(answer.open);
    if (result_.undetermined.blocks.empty())
      result_.undetermined.blocks = std::move(answer.loose_blocks);
  }

  // Numbers that the entries of a row or column have to determine.
  Index parameters_per_line() const {
    const bool has_line_biases = offsets_.biases.row.size() + offsets_.biases.col.size() > 0;
    return (result_.by_rank_walk ? result_.rank : 1) + (has_line_biases ? 1 : 0);
  }

  void take_spectrum() {
    Vector<double> s = factors_.svd().s.cwiseAbs();
    std::sort(s.begin(), s.end(), std::greater<>());
    // In the caller's units the columns of an exact fit may be of very different sizes.
    result_.rank = exact_rank_ > 0 ? exact_rank_ : numerical_rank(s, kRankTolerance<Scalar>);
    result_.rank_gap = rank_gap(s, result_.rank);
    // One value past the rank, so that a reader sees the gap.
    const Index smaller = std::min(used_.op->rows(), used_.op->cols());
    const Index shown = std::min(smaller, std::max(s.size(), result_.rank + 1));
    result_.spectrum = Vector<double>::Zero(shown);
    const Index known = std::min(shown, s.size());
    result_.spectrum.head(known) = s.head(known) / scale_;
  }

  void unscale() {
    const StackedFactors<Scalar>& Z = factors_.stack();
    const auto root = real(method_.diagonal ? 1.0 : 1 / std::sqrt(scale_));
    result_.U = root * Z.U();
    if (!Z.symmetric) result_.V = root * Z.V();
    result_.d = method_.diagonal ? Reals<Scalar>(factors_.d() / real(scale_)) : factors_.d();
    result_.objective /= scale_ * scale_;
    result_.range = options_.range;
    // Counts are not negative.
    const bool counts = result_.posterior && result_.posterior->noise().smallest_count > 0;
    if (counts && !result_.range) result_.range = {0.0, std::numeric_limits<double>::infinity()};
    result_.center = offsets_.center;
    result_.biases = std::move(offsets_.biases);
  }

  static RealOf<Scalar> real(double value) { return static_cast<RealOf<Scalar>>(value); }

  static constexpr double kCertificateTolerance = std::max(1e-6, 1e4 * kEpsilon<Scalar>);

  BasicProblem<Scalar> used_, held_out_, all_;  // all_: where some are held out from a walk
  const RecoverOptions& options_;
  const BasicHooks<Scalar>& hooks_;
  const Method& method_;
  double scale_ = 1;
  Reals<Scalar> b_;
  Recorder recorder_;
  SolveState<Scalar> state_;
  Factorization<Scalar> factors_;
  BasicRecovery<Scalar> result_;
  Outliers<Scalar> outliers_;
  std::vector<std::pair<Index, Index>> outlier_places_;
  bool judged_ = false;  // outliers_ has been looked for
  bool clearly_noisy_ = false;
  Index num_measurements_ = 0;
  Verdict stop_ = Verdict::kContinue;
  bool over_limit_ = false;
  bool walking_ = false;
  OffsetModel offsets_;     // in the caller's units
  double offset_norm_ = 0;  // |A(offsets)|, scaled
  size_t fits_used_ = 0;    // of the journal, by the walks so far
  Index exact_rank_ = 0;    // where a walk in equal units has found it
  double last_save_ = 0;
};

}  // namespace

template <typename Scalar>
void check(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  options.validate();
  require(problem.op != nullptr, "the problem has no measurement operator");
  require(problem.b.size() == problem.op->num_measurements(), "b has ", problem.b.size(),
          " values, ", problem.op->num_measurements(), " expected");
  const FlushToZero flush;
  Solve<Scalar>(problem, options, {});
}

template <typename Scalar>
BasicRecovery<Scalar> recover(const BasicProblem<Scalar>& problem, const RecoverOptions& options,
                              const BasicHooks<Scalar>& hooks) {
  options.validate();
  require(problem.op != nullptr, "the problem has no measurement operator");
  require(problem.b.size() == problem.op->num_measurements(), "b has ", problem.b.size(),
          " values, ", problem.op->num_measurements(), " expected");
  const FlushToZero flush;
  return Solve<Scalar>(problem, options, hooks).run();
}

#define UDV_INSTANTIATE(Scalar)                                                              \
  template void check(const BasicProblem<Scalar>&, const RecoverOptions&);                   \
  template BasicRecovery<Scalar> recover(const BasicProblem<Scalar>&, const RecoverOptions&, \
                                         const BasicHooks<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
