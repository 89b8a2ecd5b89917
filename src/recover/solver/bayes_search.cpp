// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/require.hpp"
#include "recover/operators/measured_sums.hpp"
#include "recover/solver/bias_fit.hpp"
#include "recover/solver/rank_walk.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, ModelTrial& t) {
  archive(t.center, t.noise, t.rank, t.sweeps, t.bound);
}

namespace {

constexpr Index kFirstColumns = 10;
constexpr double kCoarse = 10;      // of the tolerance, until the model is chosen
constexpr double kWeakNoise = 0.1;  // relative residual below which a start is worth more than none
constexpr double kLongScale = 10;   // values beyond which whole numbers are counts
constexpr double kMargin = 5;       // of the bound, by which more biases have to be better

// The legs of a search, each a run of sweeps, in the order of the program. Some may be left out.
enum class Leg : std::int32_t {
  kStart,           // from the given fit, without biases
  kBiases,          // the largest model, before it has columns
  kColumns,         // and with columns
  kNoiseOfLargest,  // other kinds of noise, one after another
  kEnlarge,         // more and more columns
  kSimpler,         // fewer biases, one kind after another
  kNoise,           // other kinds of noise
  kLast             // the best model, to the full tolerance
};

// A search is a deterministic program. Its state is the place in the program, the best model so far
// and the fit that is being run; resumed, it leaves out what comes before that place.
template <typename Real>
class Searcher {
 public:
  Searcher(const EntriesOperator<double>& op, const Vector<double>& b, const BayesStart& start,
           const BayesSearchOptions& options)
      : op_(op), b_(b), start_(start.fit), earlier_(start.model), options_(options) {
    const Index smaller = std::min(op.rows(), op.cols());
    const Index limit = options.max_rank > 0 ? std::min(options.max_rank, smaller) : smaller;
    cap_ = largest_determined_rank<double>(op, limit);
    if (options.resume && !options.resume->empty()) read(std::exchange(*options.resume, {}));
  }

  BayesSearch<Real> run() {
    const Centering all = options_.center == Centering::kAuto ? Centering::kBoth : options_.center;
    if (start_ && options_.center == Centering::kAuto) from_start();
    largest_model(all);
    if (options_.center == Centering::kAuto) simpler_models();
    noise_models(Leg::kNoise);
    BayesFit<Real> fit = fit_at({Leg::kLast}, [&] { return *std::exchange(best_, std::nullopt); });
    BayesStop last = stop_rule();
    last.tolerance = options_.tolerance;
    run_leg({Leg::kLast}, fit, last);
    fit.finish();
    record(fit);
    return {std::move(fit), std::move(trials_), stopped_};
  }

 private:
  struct Place {
    Leg leg = Leg::kStart;
    std::int32_t step = 0;
    auto operator<=>(const Place&) const = default;
  };
  // A leg that was interrupted.
  struct Interrupted {
    Place place;
    BayesFit<Real> fit;
    BayesRun run;
    double to_beat = 0;
  };

  void write(ArchiveWriter& archive, Place place, const BayesFit<Real>& fit, BayesRun run,
             double to_beat) const {
    bool has_best = best_.has_value();
    Index rows = op_.rows(), cols = op_.cols();
    archive(rows, cols, place.leg, place.step, run.bound, run.sweeps, to_beat, has_best);
    archive(const_cast<Index&>(more_), const_cast<std::vector<ModelTrial>&>(trials_));
    if (has_best) best_->write(archive);
    fit.write(archive);
  }

  void read(const std::string& bytes) {
    ArchiveReader archive(bytes);
    resumed_.emplace(Interrupted{{}, unstarted(), {}});
    bool has_best = false;
    Index rows = 0, cols = 0;
    archive(rows, cols);
    require(rows == op_.rows() && cols == op_.cols(), "checkpoint: a search in a matrix of ", rows,
            " x ", cols, " found, ", op_.rows(), " x ", op_.cols(), " expected");
    archive(resumed_->place.leg, resumed_->place.step, resumed_->run.bound, resumed_->run.sweeps);
    archive(resumed_->to_beat, has_best, more_, trials_);
    if (has_best) best_ = resumed_->fit;  // they share the values
    if (has_best) best_->read(archive);
    resumed_->fit.read(archive);
    require(archive.at_end(), "checkpoint: bytes left over at the end of a search");
  }

  // Whether the interrupted search has left this leg behind.
  bool is_over(Place place) const { return resumed_ && place < resumed_->place; }

  // The fit that was interrupted in this leg, else a new one.
  template <typename Make>
  BayesFit<Real> fit_at(Place place, const Make& make) {
    if (!resumed_) return make();
    require(resumed_->place == place &&
                (best_ || place <= Place{Leg::kColumns} || place == Place{Leg::kLast}),
            "checkpoint: a search at a place that it cannot have come to");
    return std::move(resumed_->fit);
  }

  void run_leg(Place place, BayesFit<Real>& fit, BayesStop stop) {
    BayesRun run;
    if (resumed_) {
      run = resumed_->run;
      stop.to_beat = resumed_->to_beat;
      resumed_.reset();
    }
    const WriteState write_now = [&](ArchiveWriter& archive) {
      write(archive, place, fit, run, stop.to_beat);
    };
    stop.go_on = [&](double sigma) {
      if (!stopped_ && options_.go_on && !options_.go_on(sigma, write_now)) stopped_ = true;
      return !stopped_;
    };
    fit.run(stop, run);
  }

  BayesStop stop_rule() const {
    BayesStop stop;
    stop.tolerance = kCoarse * options_.tolerance;
    if (best_) stop.to_beat = best_->bound();
    return stop;
  }

  BayesFit<Real> unstarted() const {
    BayesFit<Real> fit(op_, b_);
    if (options_.noise_sigma > 0) fit.fix_variance(options_.noise_sigma * options_.noise_sigma);
    return fit;
  }

  BayesFit<Real> fresh(Centering center) const {
    BayesFit<Real> fit = unstarted();
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

  void from_start() {
    if (is_over({Leg::kStart})) return;
    BayesFit<Real> fit = fit_at({Leg::kStart}, [&] { return at_start(Centering::kNone); });
    run_leg({Leg::kStart}, fit, stop_rule());
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

  BayesFit<Real> at_earlier(Centering center) const {
    BayesFit<Real> fit = fresh(center);
    fit.set_biases(earlier_->biases);
    fit.append(earlier_->Z);
    fit.measure_noise(earlier_->Z.rank() > 0 ? op_.degrees_of_freedom(earlier_->Z.rank()) : 0);
    return fit;
  }

  // Biases first, then columns: a few, and more while all of them stay.
  void largest_model(Centering center) {
    if (!is_over({Leg::kColumns}) && !fill_columns(center)) return;
    // Noise that differs between lines looks like more and more columns.
    noise_models(Leg::kNoiseOfLargest);
    enlarge();
  }

  // Whether the data may want more columns.
  bool fill_columns(Centering center) {
    const BayesStop columns = stop_rule();
    const bool trusted = trust_start();
    const auto start = [&] {
      if (trusted) return at_start(center);
      return earlier_ ? at_earlier(center) : after_biases(center);
    };
    const bool at_biases = resumed_ && resumed_->place == Place{Leg::kBiases};
    BayesFit<Real> fit = at_biases ? after_biases(center) : fit_at({Leg::kColumns}, start);
    // The bound without columns is no reason to give up: it is passed when some are removed.
    run_leg({Leg::kColumns}, fit, columns);
    const bool full = fit.rank() > 0 && fit.pruned() == 0;
    consider(std::move(fit), kMargin);
    return full && best_->rank() > 0 && best_->center() == center && !trusted;
  }

  // Biases alone, then the first columns.
  BayesFit<Real> after_biases(Centering center) {
    BayesFit<Real> fit = fit_at({Leg::kBiases}, [&] { return fresh(center); });
    BayesStop stop = stop_rule();
    stop.to_beat = -1e300;
    stop.tolerance *= kCoarse;
    run_leg({Leg::kBiases}, fit, stop);
    consider(fit, kMargin);  // no column at all, too, has to be beaten
    fit.finish();
    fit.grow(std::min(kFirstColumns, cap_), options_.seed);
    return fit;
  }

  void enlarge() {
    if (is_over({Leg::kEnlarge})) return;
    if (!resumed_) more_ = std::max<Index>(2, best_->rank() / 4);
    while (resumed_ || (best_->pruned() == 0 && best_->rank() < cap_ && !stopped_)) {
      BayesFit<Real> larger = fit_at({Leg::kEnlarge}, [&] { return enlarged(*best_); });
      run_leg({Leg::kEnlarge}, larger, stop_rule());
      record(larger);
      if (larger.bound() <= best_->bound() || larger.rank() <= best_->rank()) break;
      best_ = std::move(larger);
      more_ = best_->rank();
    }
  }

  BayesFit<Real> enlarged(BayesFit<Real>& fit) const {
    fit.finish();
    const auto directions = fit.directions(std::min(more_, cap_ - fit.rank()), options_.seed);
    fit.release_rows();
    BayesFit<Real> larger = fit;
    larger.finish();
    larger.grow(directions);
    return larger;
  }

  // Each kind of bias that the best model could do without.
  void simpler_models() {
    std::int32_t step = 0;
    for (const Centering kind :
         {Centering::kRows, Centering::kCols, Centering::kGlobal, Centering::kNone}) {
      const Place place{Leg::kSimpler, step++};
      if (is_over(place) || (!resumed_ && (stopped_ || !is_simpler(kind)))) continue;
      BayesFit<Real> fit = fit_at(place, [&] {
        BayesFit<Real> simpler = copy_of_best();
        simpler.restrict_to(kind);
        return simpler;
      });
      run_leg(place, fit, stop_rule());
      consider(std::move(fit), -kMargin);
    }
  }

  bool is_simpler(Centering kind) const {
    const Centering now = best_->center();
    return now != kind && now != Centering::kNone &&
           (now == Centering::kBoth || kind == Centering::kGlobal || kind == Centering::kNone);
  }

  // Without its rows, which both can make again.
  BayesFit<Real> copy_of_best() {
    best_->release_rows();
    BayesFit<Real> fit = *best_;
    fit.finish();
    return fit;
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
  void noise_models(Leg leg) {
    const bool wanted = options_.noise_model != NoiseModel::kAuto;
    std::int32_t step = 0;
    for (const NoiseKind kind : noise_kinds()) {
      const Place place{leg, step++};
      if (is_over(place)) continue;
      if (stopped_) return;
      if (!resumed_ && !is_to_be_tried(kind)) continue;
      BayesFit<Real> fit = fit_at(place, [&] { return with_noise(kind); });
      BayesStop stop = stop_rule();
      if (wanted) stop.to_beat = -1e300;
      run_leg(place, fit, stop);
      if (wanted) best_.reset();
      consider(std::move(fit), kMargin);
    }
  }

  bool completes_rows(NoiseKind kind) const {
    return best_->noise() == NoiseKind::kByRow && kind == NoiseKind::kByCol;
  }

  bool is_to_be_tried(NoiseKind kind) {
    if (best_->noise() != NoiseKind::kEqual && !completes_rows(kind)) return false;
    return options_.noise_model != NoiseModel::kAuto || is_worth_trying(kind);
  }

  BayesFit<Real> with_noise(NoiseKind kind) {
    const NoiseKind next = completes_rows(kind) ? NoiseKind::kByRowAndCol : kind;
    BayesFit<Real> fit = copy_of_best();
    fit.set_noise(next);
    return fit;
  }

  const EntriesOperator<double>& op_;
  const Vector<double>& b_;
  const std::optional<StackedFactors<double>>& start_;
  const std::optional<BayesStart::Model>& earlier_;
  const BayesSearchOptions& options_;
  Index cap_ = 0;
  std::optional<BayesFit<Real>> best_;
  std::vector<ModelTrial> trials_;
  Index more_ = 0;  // columns that enlarge() appends next
  std::optional<Interrupted> resumed_;
  bool stopped_ = false;
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
