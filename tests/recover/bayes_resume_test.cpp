// SPDX-License-Identifier: MIT
// Searches of variational Bayes that are cut off after a sweep and go on from there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/require.hpp"
#include "recover/solver/bayes_search.hpp"
#include "recover/solver/solve_state.hpp"
#include "support/planted_problems.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace bayes_resume_test {

using testing::error_of;
using testing::expect_same_bits;

constexpr std::uint64_t kStream = 7;
constexpr size_t kPlaceOfLeg = 2 * sizeof(Index);  // in a state of a search, after the matrix

const EntriesOperator<double>& operator_of(const Problem& problem) {
  return dynamic_cast<const EntriesOperator<double>&>(*problem.op);
}

struct Data {
  Index rows = 40, cols = 30, rank = 2;
  double noise = 0.3;
  double offset = 0;  // standard deviation of those of rows and columns
  bool by_rows = false, by_cols = false, counts = false, weights = false, dead_line = false;
};

Entries entries_of(const Data& data) {
  Entries entries = planted_completion({data.rows, data.cols, false, data.rank,
                                        data.rows * data.cols / 2, 1, 0, 3})
                        .entries;
  Random random(5, kStream);
  Vector<double> row(data.rows), col(data.cols);
  random.fill_normal(row);
  random.fill_normal(col);
  for (size_t t = 0; t < entries.value.size(); ++t) {
    const auto i = entries.row[t], j = entries.col[t];
    double& value = entries.value[t];
    value += data.offset * (3 + row(i) + col(j));
    const double row_level = data.by_rows && i % 2 == 0 ? 4 : 1;
    const double col_level = data.by_cols && j % 3 == 0 ? 5 : 1;
    value += data.noise * row_level * col_level * random.normal();
    if (data.counts) {
      const double mean = std::exp(0.5 * value + 2);
      value = std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal()));
    }
    if (data.weights) entries.weight.push_back(t % 9 == 4 ? 0 : 0.5 + static_cast<double>(t % 3));
    if (data.dead_line && i == 7) value = 0;
  }
  return entries;
}

/// All bits of what a search has found.
template <typename Real>
std::string bytes_of(const BayesSearch<Real>& found) {
  ArchiveWriter archive;
  found.fit.write(archive);
  BayesSide<Real> rows = found.fit.rows();
  archive.list(rows.records.data(), rows.records.size());
  for (ModelTrial trial : found.trials)
    archive(trial.center, trial.noise, trial.rank, trial.sweeps, trial.bound);
  return archive.take();
}

template <typename Real>
struct Attempt {
  NoiseKind noise = NoiseKind::kEqual;
  std::string bytes;  // of the answer
  std::string state;  // where it was cut off
  int sweeps = 0;     // that it made
};

template <typename Real>
class Search {
 public:
  Search(const Problem& problem, BayesStart start, BayesSearchOptions options)
      : problem_(problem), start_(std::move(start)), options_(std::move(options)) {}

  /// From this state, cut off after so many sweeps; 0: not at all.
  Attempt<Real> run(int last = 0, std::string from = "") const {
    Attempt<Real> attempt;
    BayesSearchOptions options = options_;
    options.resume = &from;
    options.go_on = [&](double, const WriteState& write) {
      if (++attempt.sweeps != last) return true;
      ArchiveWriter archive;
      write(archive);
      attempt.state = archive.take();
      return false;
    };
    const auto found = bayes_search<Real>(operator_of(problem_), problem_.b, start_, options);
    EXPECT_EQ(found.stopped, last > 0 && attempt.sweeps == last);
    EXPECT_TRUE(from.empty());
    attempt.bytes = bytes_of(found);
    attempt.noise = found.fit.noise();
    return attempt;
  }

  /// Cut off after each `every`-th sweep. Returns the legs of the search that were cut.
  std::set<std::int32_t> expect_same_bits_wherever_cut(int every, NoiseKind noise) const {
    set_num_threads(1);
    const Attempt<Real> whole = run();
    EXPECT_EQ(whole.noise, noise);
    std::set<std::int32_t> legs;
    for (int last = 1; last < whole.sweeps; last += every) {
      SCOPED_TRACE(message("cut off after sweep ", last, " of ", whole.sweeps));
      set_num_threads(1 + last % 3);
      const Attempt<Real> first = run(last);
      set_num_threads(1 + (last + 1) % 3);
      const Attempt<Real> second = run(0, first.state);
      EXPECT_EQ(second.sweeps, whole.sweeps - last);
      EXPECT_TRUE(second.bytes == whole.bytes);
      std::int32_t leg = 0;
      std::memcpy(&leg, first.state.data() + kPlaceOfLeg, sizeof(leg));
      legs.insert(leg);
    }
    set_num_threads(2);
    return legs;
  }

 private:
  const Problem& problem_;
  BayesStart start_;
  BayesSearchOptions options_;
};

struct Case {
  const char* name;
  Data data;
  NoiseKind found = NoiseKind::kEqual;
  std::set<std::int32_t> legs;  // that have to be among those cut off
  int every = 1;
  NoiseModel noise = NoiseModel::kAuto;
  Centering center = Centering::kAuto;
  double noise_sigma = 0;
};

void PrintTo(const Case& given, std::ostream* out) {
  *out << given.name;
}

class CutOff : public ::testing::TestWithParam<Case> {
 protected:
  template <typename Real>
  std::set<std::int32_t> cut(int every) const {
    const Case& given = GetParam();
    const Problem problem = completion(entries_of(given.data));
    BayesSearchOptions options;
    options.noise_model = given.noise;
    options.center = given.center;
    options.noise_sigma = given.noise_sigma;
    return Search<Real>(problem, {}, options).expect_same_bits_wherever_cut(every, given.found);
  }
};

TEST_P(CutOff, HasTheBitsOfAWholeSearch) {
  const auto legs = cut<double>(GetParam().every);
  for (const std::int32_t leg : GetParam().legs) EXPECT_TRUE(legs.count(leg)) << "leg " << leg;
}

TEST_P(CutOff, InSinglePrecisionToo) {
  cut<float>(4 * GetParam().every);
}

INSTANTIATE_TEST_SUITE_P(
    Search, CutOff,
    ::testing::Values(
        Case{"offsets", {.offset = 1}, NoiseKind::kEqual, {1, 2, 5}},
        Case{"no_offsets", {}, NoiseKind::kEqual, {1, 2, 5}},
        Case{"by_rows", {.by_rows = true}, NoiseKind::kByRow, {5, 6, 7}},
        Case{"by_cols", {.by_cols = true}, NoiseKind::kByCol, {5, 6, 7}},
        Case{"by_both",
             {.rows = 80, .cols = 70, .by_rows = true, .by_cols = true},
             NoiseKind::kByRowAndCol,
             {3, 7},
             5},
        Case{"counts", {.counts = true}, NoiseKind::kBySignal, {6, 7}},
        Case{"counts_wanted",
             {.counts = true},
             NoiseKind::kBySignal,
             {1, 6},
             1,
             NoiseModel::kPoisson,
             Centering::kNone},
        Case{"weights_and_rows_wanted",
             {.offset = 1, .weights = true},
             NoiseKind::kByRow,
             {1, 6},
             1,
             NoiseModel::kRows,
             Centering::kRows},
        Case{"weights", {.weights = true}, NoiseKind::kEqual, {1, 2}},
        Case{"dead_line", {.by_cols = true, .dead_line = true}, NoiseKind::kByCol, {6, 7}},
        Case{"known_noise",
             {},
             NoiseKind::kEqual,
             {1, 2},
             1,
             NoiseModel::kAuto,
             Centering::kAuto,
             0.3},
        Case{"many_columns",
             {.rows = 70, .cols = 60, .rank = 14, .noise = 0.02},
             NoiseKind::kEqual,
             {4},
             20},
        Case{"many_columns_by_rows",
             {.rows = 120, .cols = 100, .rank = 14, .by_rows = true},
             NoiseKind::kByRowAndCol,
             {3, 4, 7},
             20}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CutOffSearch, FromAFitAndFromAnEarlierAnswer) {
  const Planted planted = planted_completion({40, 30, false, 2, 600, 1, 0.3, 3});
  const Problem problem = completion(planted.entries);
  StackedFactors<double> Z(40, 30, false, 2);
  Z.U() = planted.U;
  Z.V() = planted.V;
  BayesStart fit, model;
  fit.fit = Z;
  Biases biases;
  biases.row = Vector<double>::LinSpaced(40, -1, 1);
  model.model = {Z, Centering::kRows, biases};
  const auto legs =
      Search<double>(problem, fit, {}).expect_same_bits_wherever_cut(1, NoiseKind::kEqual);
  EXPECT_TRUE(legs.count(0));
  Search<double>(problem, model, {}).expect_same_bits_wherever_cut(1, NoiseKind::kEqual);
}

TEST(CutOffSearch, MayBeCutOffAgainAndAgain) {
  const Problem problem = completion(entries_of({.by_rows = true}));
  const Search<double> search(problem, {}, {});
  const Attempt<double> whole = search.run();
  std::string state;
  Attempt<double> last;
  int sweeps = 0;
  do {
    last = search.run(3, state);
    state = last.state;
    sweeps += last.sweeps;
  } while (!state.empty());
  EXPECT_EQ(sweeps, whole.sweeps);
  EXPECT_TRUE(last.bytes == whole.bytes);
}

TEST(CutOffSearch, StatesThatAreNotWholeOrOfAnotherMatrixAreRefused) {
  const Problem problem = completion(entries_of({.by_rows = true, .counts = true}));
  BayesSearchOptions options;
  options.noise_model = NoiseModel::kPoisson;
  const Search<double> search(problem, {}, options);
  const std::string state = search.run(search.run().sweeps - 5).state;
  for (size_t size = 1; size < state.size(); size += 1 + state.size() / 100)
    EXPECT_THROW(search.run(0, state.substr(0, size)), InvalidArgument) << size;
  EXPECT_EQ(error_of([&] { search.run(0, state + "x"); }),
            "checkpoint: bytes left over at the end of a search");
  const Problem other = completion(entries_of({.rows = 41, .counts = true}));
  EXPECT_EQ(error_of([&] { Search<double>(other, {}, options).run(0, state); }),
            "checkpoint: a search in a matrix of 40 x 30 found, 41 x 30 expected");
  std::string elsewhere = state;
  elsewhere[kPlaceOfLeg] = 99;
  EXPECT_EQ(error_of([&] { search.run(0, elsewhere); }),
            "checkpoint: a search at a place that it cannot have come to");
}

// All states of a solve: with an interval of nothing there is one after each sweep.
std::vector<std::string> states_of(const Problem& problem, const RecoverOptions& options,
                                   Recovery& found, std::string resume = "") {
  std::vector<std::string> states;
  RecoverHooks hooks;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& bytes) { states.push_back(bytes); };
  hooks.resume = std::move(resume);
  found = recover(problem, options, hooks);
  return states;
}

void expect_same_answer(const Recovery& one, const Recovery& other) {
  expect_same_bits(one, other);
  EXPECT_EQ(one.center, other.center);
  EXPECT_EQ(one.biases.row, other.biases.row);
  EXPECT_EQ(one.biases.col, other.biases.col);
  EXPECT_EQ(one.noise_sigma, other.noise_sigma);
  EXPECT_EQ(one.noise_by, other.noise_by);
  ASSERT_EQ(one.models.size(), other.models.size());
  for (size_t k = 0; k < one.models.size(); ++k) {
    EXPECT_EQ(one.models[k].sweeps, other.models[k].sweeps);
    EXPECT_EQ(one.models[k].bound, other.models[k].bound);
  }
}

// Resumes from some of the states: the bits of the whole, and no sweep twice.
void expect_resumable(const Data& data, const RecoverOptions& options, size_t least_searches) {
  const Problem problem = completion(entries_of(data));
  Recovery whole, again;
  const auto states = states_of(problem, options, whole);
  ASSERT_GE(states.size(), 10u);
  EXPECT_GE(solve_state_from_bytes(states.back()).searches.size(), least_searches);
  bool in_search = false;
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 40) {
    SCOPED_TRACE(message("state ", k, " of ", states.size()));
    const size_t left = states_of(problem, options, again, states[k]).size();
    expect_same_answer(again, whole);
    if (solve_state_from_bytes(states[k]).search.bytes.empty()) continue;
    in_search = true;
    EXPECT_LE(left, states.size() - k - 1);
  }
  EXPECT_TRUE(in_search);
}

TEST(ResumedSolve, OfASearchThatComesFirst) {
  RecoverOptions options;
  options.start = Start::kBayes;
  expect_resumable({.offset = 1, .by_rows = true}, options, 0);
}

TEST(ResumedSolve, OfASearchAfterTheWalk) {
  expect_resumable({.by_cols = true}, {}, 0);
}

// Exact data: the search ends without an answer, and is not begun again.
TEST(ResumedSolve, OfAWalkAfterASearch) {
  RecoverOptions options;
  options.start = Start::kBayes;
  expect_resumable({.noise = 0}, options, 1);
}

// Where the noise is given a search finds the offsets alone, and a walk follows.
TEST(ResumedSolve, OfAWalkAfterTheSearchForOffsets) {
  RecoverOptions options;
  options.noise_sigma = 0.3;
  expect_resumable({.offset = 1}, options, 1);
}

// A search at another place in the solve, or from another start, begins anew.
TEST(ResumedSolve, OfAnotherSearchIsNotTaken) {
  const Problem problem = completion(entries_of({.by_rows = true}));
  RecoverOptions options;
  options.start = Start::kBayes;
  Recovery whole, again;
  const auto states = states_of(problem, options, whole);
  SolveState<double> state = solve_state_from_bytes(states.back());
  ASSERT_FALSE(state.search.bytes.empty());
  EXPECT_EQ(to_bytes(state), states.back());
  ++state.search.start;
  EXPECT_GE(states_of(problem, options, again, to_bytes(state)).size(), states.size());
  expect_same_answer(again, whole);
}

// The states of a solve that is stopped in a search are those of the stop, not of what follows for
// the answer.
TEST(ResumedSolve, OfAnInterruptedSearch) {
  const Problem problem = completion(entries_of({.rows = 300, .cols = 200, .rank = 5}));
  RecoverOptions options;
  options.start = Start::kBayes;
  const Recovery whole = recover(problem, options);
  std::string state;
  Recovery found;
  int stops = 0;
  for (; stops < 100; ++stops) {
    RecoverHooks hooks;
    hooks.observer = [](const IterationRecord&) { return Verdict::kTimeLimit; };
    hooks.save = [&](const std::string& bytes) { state = bytes; };
    hooks.resume = state;
    found = recover(problem, options, hooks);
    if (found.stop_reason != StopReason::kTimeLimit) break;
  }
  EXPECT_GE(stops, 2);
  expect_same_answer(found, whole);
}

}  // namespace bayes_resume_test
}  // namespace udv
