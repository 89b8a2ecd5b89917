// SPDX-License-Identifier: MIT
// Trainings of several parts: every part hears an interrupt and a time limit, and a job that was
// stopped in any of them ends with the bits of one that was not.
#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "net/training_journal.hpp"
#include "support/random_data.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/jobs/prune.hpp"
#include "udv/jobs/train.hpp"

namespace udv::jobs {
namespace resumed_training_test {

namespace fs = std::filesystem;
using testing::random_rows;

/// Wants to stop at the `stop_at`-th thing it is told.
struct Impatient : Listener {
  void progress(const IterationRecord&) override { ++told; }
  bool interrupted() override { return stop_at > 0 && told >= stop_at; }
  int told = 0, stop_at = 0;
};

// Curved in the first feature; values above 0, skewed, so that everything is raced that can be.
net::Dataset<float> skewed(Index rows, Index features, std::uint64_t seed) {
  net::Dataset<float> data;
  data.X = random_rows<float>(rows, features, seed);
  data.Y = (data.X.col(0).cwiseAbs() + data.X.col(1)).array().exp().matrix();
  return data;
}

net::PreparedData<float> prepared(net::Dataset<float> training, net::Dataset<float> validation,
                                  net::Dataset<float> test) {
  net::PreparedData<float> data;
  const Index features = training.X.cols();
  data.training = std::move(training);
  data.validation = std::move(validation);
  data.test = std::move(test);
  data.preprocessing.inputs = features;
  data.preprocessing.outputs = 1;
  data.preprocessing.features = {Vector<double>::Zero(features), Vector<double>::Ones(features)};
  data.preprocessing.targets = {Vector<double>::Zero(1), Vector<double>::Ones(1)};
  return data;
}

// More features than rows; three directions stand out of noise, and decide.
net::Dataset<float> wide(Index rows, std::uint64_t seed) {
  const RowMatrix<float> Z = random_rows<float>(rows, 3, seed), W = random_rows<float>(3, 90, 5);
  net::Dataset<float> data;
  data.X = Z * W + 0.05f * random_rows<float>(rows, 90, seed + 1);
  data.Y = Z.col(0) - 2 * Z.col(1) + 0.5f * random_rows<float>(rows, 1, seed + 2);
  return data;
}

class ResumedTrainings : public ::testing::Test {
 protected:
  ResumedTrainings() { set_num_threads(2); }
  ~ResumedTrainings() override { set_num_threads(0); }

  using Job = std::function<Outcome(Session&)>;

  Outcome run(const std::string& out, bool resume, int stop_at, const Job& job,
              double time_limit = 0) {
    RunOptions options;
    options.out = (folder_ / out).string();
    options.resume = resume;
    options.force = resume;  // a time limit leaves results, too
    options.time_limit = time_limit;
    options.threads = 2;
    Impatient listener;
    listener.stop_at = stop_at;
    Session session(options, &listener);
    return job(session);
  }
  std::string text(const std::string& name) const { return io::read_bytes(folder_ / name); }

  void expect_same_bits(const Job& job, const std::vector<int>& stops) {
    ASSERT_EQ(run("whole", false, 0, job), Outcome::kDone);
    for (const int stop_at : stops) {
      const std::string out = "stopped-" + std::to_string(stop_at);
      int interruptions = 0;
      while (run(out, interruptions > 0, stop_at, job) == Outcome::kInterrupted) {
        ASSERT_LT(++interruptions, 200);
        ASSERT_TRUE(fs::exists(folder_ / out / "checkpoint.bin"));
      }
      EXPECT_GE(interruptions, 1);
      EXPECT_FALSE(fs::exists(folder_ / out / "checkpoint.bin"));
      EXPECT_EQ(text(out + "/model.safetensors"), text("whole/model.safetensors")) << stop_at;
    }
  }
  // A limit of nothing ends in the first part, with an answer of some kind.
  void expect_limited(const Job& job) {
    EXPECT_EQ(run("limited", false, 0, job, 1e-9), Outcome::kLimited);
    EXPECT_TRUE(fs::exists(folder_ / "limited/model.safetensors"));
    EXPECT_EQ(run("limited", true, 0, job), Outcome::kDone);
    EXPECT_EQ(text("limited/model.safetensors"), text("whole/model.safetensors"));
  }

  io::TemporaryFolder folder_;
  double scratch_ = 0;  // loss of the baseline
};

TEST_F(ResumedTrainings, OfHeadsThatRace) {
  net::PreparedData<float> data = prepared(skewed(120, 4, 1), skewed(30, 4, 2), skewed(30, 4, 3));
  data.may_bend = true;
  const auto job = [&](Session& session) {
    TrainJobOptions options;
    options.training.hidden = 16;
    options.training.max_steps = 300;
    return train(data, options, session).outcome;
  };
  expect_same_bits(job, {3, 8});
  expect_limited(job);
}

TEST_F(ResumedTrainings, OfFolds) {
  const auto data = prepared(skewed(40, 3, 1), net::Dataset<float>(), skewed(20, 3, 3));
  const auto job = [&](Session& session) {
    TrainJobOptions options;
    options.training.variant = "UDV-ReLU";
    options.training.hidden = 8;
    return train(data, options, session).outcome;
  };
  expect_same_bits(job, {2});
  expect_limited(job);
}

TEST_F(ResumedTrainings, OfDirectionsAndOfAllRows) {
  const auto data = prepared(wide(60, 10), wide(20, 20), wide(20, 30));
  const auto job = [&](Session& session) {
    TrainJobOptions options;
    options.training.variant = "UDV";
    const TrainJobResult result = train(data, options, session);
    EXPECT_TRUE(result.outcome != Outcome::kDone || result.steps == 2000) << "trained twice";
    return result.outcome;
  };
  expect_same_bits(job, {2, 3});
  expect_limited(job);
}

TEST_F(ResumedTrainings, OfPrunedNetworks) {
  const auto data = prepared(skewed(150, 4, 1), skewed(40, 4, 2), skewed(30, 4, 3));
  TrainJobOptions how;
  how.training.variant = "UDV-ReLU";
  how.training.hidden = 24;
  how.training.max_steps = 300;
  Session quiet;
  const auto model = std::get<net::Model<float>>(train(data, how, quiet).model);
  const std::optional<net::PruneParts<float>> parts(
      net::PruneParts<float>{data.training, data.validation, data.test});
  const auto job = [&](Session& session) {
    PruneOptions options;
    options.budget.max_drop = 0.2;
    options.baseline = true;
    const PruneResult result = prune(model, parts, options, session);
    if (result.outcome == Outcome::kDone) {
      const auto& pruned = std::get<PrunedModel>(result.pruned);
      scratch_ = pruned.scratch_validation->loss;
      EXPECT_GT(pruned.epochs, 0);
    }
    return result.outcome;
  };
  expect_same_bits(job, {2, 4});
  const double scratch = scratch_;
  expect_limited(job);
  EXPECT_EQ(scratch_, scratch);
}

TEST(TrainingJournal, RefusesWhatIsNoJournal) {
  const auto data = skewed(60, 3, 1);
  net::TrainOptions options;
  options.variant = "UDV-ReLU";
  options.max_steps = 40;
  net::TrainHooks<float> hooks;
  std::string saved;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& state) { saved = state; };
  net::TrainingJournal<float> journal(hooks);
  const auto result = journal.part("one", [&](const net::TrainHooks<float>& own) {
    return net::train(data, data, data, options, own);
  });
  ASSERT_FALSE(saved.empty());
  // What has ended is not run again.
  net::TrainHooks<float> later;
  later.resume = saved;
  net::TrainingJournal<float> again(later);
  const auto same = again.part("one", [&](const net::TrainHooks<float>&) {
    ADD_FAILURE() << "run again";
    return result;
  });
  EXPECT_EQ(same.network.parameters(), result.network.parameters());
  EXPECT_EQ(same.history.size(), result.history.size());
  EXPECT_EQ(same.test_loss, result.test_loss);
  later.resume = saved.substr(0, saved.size() - 3);
  EXPECT_NE(testing::error_of([&] { net::TrainingJournal<float> cut(later); }).find("checkpoint"),
            std::string::npos);
}

}  // namespace resumed_training_test
}  // namespace udv::jobs
