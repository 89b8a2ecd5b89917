// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_search.hpp"

#include <algorithm>
#include <cmath>

#include "recover/operators/measured_sums.hpp"
#include "recover/solver/bias_fit.hpp"
#include "recover/solver/rank_walk.hpp"

namespace udv {
namespace {

constexpr Index kFirstColumns = 10;
constexpr double kCoarse = 10;      // of the tolerance, until the model is chosen
constexpr double kWeakNoise = 0.1;  // relative residual below which a start is worth more than none
constexpr double kLongScale = 10;   // values beyond which whole numbers are counts
constexpr double kMargin = 5;       // of the bound, by which more biases have to be better

template <typename Real>
class Searcher {
 public:
  Searcher(const EntriesOperator<double>& op, const Vector<double>& b, const BayesStart& start,
           const BayesSearchOptions& options)
      : op_(op), b_(b), start_(start.fit), earlier_(start.model), options_(options) {
    const Index smaller = std::min(op.rows(), op.cols());
    const Index limit = options.max_rank > 0 ? std::min(options.max_rank, smaller) : smaller;
    cap_ = largest_determined_rank<double>(op, limit);
  }

  BayesSearch<Real> run() {
    const Centering all = options_.center == Centering::kAuto ? Centering::kBoth : options_.center;
    if (start_ && options_.center == Centering::kAuto) from_start(Centering::kNone);
    if (all != Centering::kNone || !best_) largest_model(all);
    if (options_.center == Centering::kAuto) simpler_models();
    noise_models();
    BayesStop last = stop_rule();
    last.tolerance = options_.tolerance;
    last.to_beat = -1e300;
    best_->run(last);
    best_->finish();
    record(*best_);
    return {std::move(*best_), std::move(trials_), stopped_};
  }

 private:
  BayesStop stop_rule() const {
    BayesStop stop;
    stop.tolerance = kCoarse * options_.tolerance;
    if (best_) stop.to_beat = best_->bound();
    stop.go_on = [this](double sigma) { return go_on(sigma); };
    return stop;
  }

  bool go_on(double sigma) const {
    if (options_.go_on && !options_.go_on(sigma)) stopped_ = true;
    return !stopped_;
  }

  BayesFit<Real> fresh(Centering center) const {
    BayesFit<Real> fit(op_, b_);
    if (options_.noise_sigma > 0) fit.fix_variance(options_.noise_sigma * options_.noise_sigma);
    fit.start(center);
    return fit;
  }

  void record(const BayesFit<Real>& fit) {
    trials_.push_back({fit.center(), fit.noise(), fit.rank(), fit.sweeps(), fit.bound()});
  }

  // Keeps the better one.
  void consider(BayesFit<Real> fit, double margin) {
    record(fit);
    if (!best_ || fit.bound() > best_->bound() + margin) best_ = std::move(fit);
  }

  void from_start(Centering center) {
    BayesFit<Real> fit = at_start(center);
    fit.run(stop_rule());
    consider(std::move(fit), 0);
  }

  // The start has no biases: its columns explain the mean of the data.
  BayesFit<Real> at_start(Centering center) const {
    BayesFit<Real> fit = fresh(center);
    if (start_->rank() > 0) fit.start_without_mean(center);
    fit.append(*start_);
    fit.measure_noise(start_->rank() > 0 ? op_.degrees_of_freedom(start_->rank()) : 0);
    return fit;
  }

  // A start with little noise is a better one than the leading directions of the residual.
  bool trust_start() const {
    if (!start_ || start_->rank() == 0) return false;
    Vector<double> residual;
    apply_stack<double>(op_, *start_, residual);
    residual -= b_;
    return residual.norm() < kWeakNoise * b_.norm();
  }

  // Biases first, then columns: a few, and more while all of them stay.
  void largest_model(Centering center) {
    const bool trusted = trust_start();
    BayesFit<Real> fit = trusted ? at_start(center) : fresh(center);
    if (trusted) {
      fit.run(stop_rule());
    } else if (earlier_) {
      fit.set_biases(earlier_->biases);
      fit.append(earlier_->Z);
      fit.measure_noise(earlier_->Z.rank() > 0 ? op_.degrees_of_freedom(earlier_->Z.rank()) : 0);
      fit.run(stop_rule());
    } else {
      const BayesStop columns = stop_rule();
      BayesStop stop = columns;
      stop.to_beat = -1e300;
      stop.tolerance *= kCoarse;
      fit.run(stop);
      consider(fit, kMargin);  // no column at all, too, has to be beaten
      fit.finish();
      fit.grow(std::min(kFirstColumns, cap_), options_.seed);
      // The bound without columns is no reason to give up: it is passed when some are removed.
      fit.run(columns);
    }
    const bool full = fit.rank() > 0 && fit.pruned() == 0;
    consider(std::move(fit), kMargin);
    if (!full || best_->rank() == 0 || best_->center() != center || trusted) return;
    // Noise that differs between lines looks like more and more columns.
    noise_models();
    enlarge(*best_);
  }

  void enlarge(BayesFit<Real>& fit) {
    Index more = std::max<Index>(2, fit.rank() / 4);
    while (fit.pruned() == 0 && fit.rank() < cap_ && !stopped_) {
      fit.finish();
      const auto directions = fit.directions(std::min(more, cap_ - fit.rank()), options_.seed);
      fit.release_rows();
      BayesFit<Real> larger = fit;
      larger.finish();
      larger.grow(directions);
      BayesStop stop = stop_rule();
      stop.to_beat = std::max(stop.to_beat, fit.bound());
      larger.run(stop);
      record(larger);
      if (larger.bound() <= fit.bound() || larger.rank() <= fit.rank()) break;
      fit = std::move(larger);
      more = fit.rank();
    }
  }

  // Each kind of bias that the best model could do without.
  void simpler_models() {
    for (const Centering kind :
         {Centering::kRows, Centering::kCols, Centering::kGlobal, Centering::kNone}) {
      const Centering now = best_->center();
      const bool simpler =
          now != kind && now != Centering::kNone &&
          (now == Centering::kBoth || kind == Centering::kGlobal || kind == Centering::kNone);
      if (!simpler || stopped_) continue;
      best_->release_rows();
      BayesFit<Real> fit = *best_;
      fit.finish();
      fit.restrict_to(kind);
      fit.run(stop_rule());
      consider(std::move(fit), -kMargin);
    }
  }

  // Counts: whole numbers, none negative, and not a short scale that starts at 1.
  bool are_counts() const {
    if (op_.root_weights().size() > 0) return false;
    const bool whole = all_measured<double>(
        op_, [&](Index t) { return b_(t) >= 0 && b_(t) == std::round(b_(t)); });
    const auto some = [&](const auto& holds) {
      return !all_measured<double>(op_, [&](Index t) { return !holds(b_(t)); });
    };
    return whole && (some([](double value) { return value == 0; }) ||
                     some([](double value) { return value > kLongScale; }));
  }

  std::vector<NoiseKind> noise_kinds() const {
    switch (options_.noise_model) {
      case NoiseModel::kGaussian:
        return {};
      case NoiseModel::kRows:
        return {NoiseKind::kByRow};
      case NoiseModel::kPoisson:
        return {NoiseKind::kBySignal};
      default:
        if (are_counts()) return {NoiseKind::kBySignal, NoiseKind::kByRow, NoiseKind::kByCol};
        return {NoiseKind::kByRow, NoiseKind::kByCol};
    }
  }

  // Where noise levels of lines gain nothing for the present fit, a new one is not tried.
  bool is_worth_trying(NoiseKind kind) {
    if (kind == NoiseKind::kBySignal) return true;
    best_->finish();
    return best_->gain_of_line_noise(kind == NoiseKind::kByRow) > kMargin;
  }

  // Noise that differs between entries, from the best model so far.
  void noise_models() {
    const bool wanted = options_.noise_model != NoiseModel::kAuto;
    for (const NoiseKind kind : noise_kinds()) {
      if (stopped_) return;
      const bool rows_too = best_->noise() == NoiseKind::kByRow && kind == NoiseKind::kByCol;
      if (best_->noise() != NoiseKind::kEqual && !rows_too) continue;
      if (!wanted && !is_worth_trying(kind)) continue;
      best_->release_rows();
      BayesFit<Real> fit = *best_;
      fit.finish();
      fit.set_noise(rows_too ? NoiseKind::kByRowAndCol : kind);
      BayesStop stop = stop_rule();
      if (wanted) stop.to_beat = -1e300;
      fit.run(stop);
      if (wanted) best_.reset();
      consider(std::move(fit), kMargin);
    }
  }

  const EntriesOperator<double>& op_;
  const Vector<double>& b_;
  const std::optional<StackedFactors<double>>& start_;
  const std::optional<BayesStart::Model>& earlier_;
  const BayesSearchOptions& options_;
  Index cap_ = 0;
  std::optional<BayesFit<Real>> best_;
  std::vector<ModelTrial> trials_;
  mutable bool stopped_ = false;
};

}  // namespace

template <typename Real>
BayesSearch<Real> bayes_search(const EntriesOperator<double>& op, const Vector<double>& b,
                               const BayesStart& start, const BayesSearchOptions& options) {
  return Searcher<Real>(op, b, start, options).run();
}

#define UDV_INSTANTIATE(Real)                                                                    \
  template BayesSearch<Real> bayes_search(const EntriesOperator<double>&, const Vector<double>&, \
                                          const BayesStart&, const BayesSearchOptions&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
