// SPDX-License-Identifier: MIT
// Training of heads, in seconds: bench_heads wide D M C THREADS
#include <cstdio>
#include <cstdlib>
#include <string>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/net/trainer.hpp"

namespace {

using namespace udv;

// One epoch of 100 batches of 128 random samples after a short one; the history's clock.
double wide(Index inputs, Index hidden, Index classes) {
  net::Dataset<float> data;
  data.task = net::Task::kClassification;
  data.classes = classes;
  data.X.resize(12800, inputs);
  Random random(1, 2000);
  random.fill_normal(data.X);
  for (Index i = 0; i < data.X.rows(); ++i)
    data.labels.push_back(static_cast<std::int32_t>(random.below(classes)));
  const net::Dataset<float> test = data.subset({0, 1});
  net::TrainOptions options;
  options.hidden = hidden;
  options.batch = 128;
  options.epochs = 4;
  double before = 0, seconds = 0;
  net::TrainHooks<float> hooks;
  Index steps = 0;
  // The clock at the first and the last step of the third epoch: no test, no spectrum in between.
  hooks.observer = [&](const IterationRecord& record) {
    if (record.iteration > 200 && record.iteration <= 300) {
      if (before == 0) {
        before = record.seconds;
        steps = record.iteration;
      }
      seconds = (record.seconds - before) /
                static_cast<double>(std::max<Index>(1, record.iteration - steps));
    }
    return Verdict::kContinue;
  };
  net::train(data, test, options, hooks);
  return 100 * seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 || std::string(argv[1]) != "wide") {
    std::fputs("usage: bench_heads wide D M C THREADS\n", stderr);
    return 2;
  }
  set_num_threads(std::atoi(argv[5]));
  std::printf("%.4f\n", wide(std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])));
}
