// SPDX-License-Identifier: MIT
// Training and pruning of heads, in seconds: bench_heads wide|prune D M C THREADS
// prune also writes UD (float32) and its singular values (float64) to the files named in addition;
// where a number of live neurons follows, d and u of all others are zero.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/io/npy.hpp"
#include "udv/net/head.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/prune.hpp"
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
  net::TrainOptions options = net::TrainOptions::paper();
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

// The live neurons stand spread among the dead ones.
void kill_neurons(net::Network<float>& network, Index live) {
  auto U = network.at(*network.find("U.weight"));
  auto d = network.at(*network.find("D.weight"));
  for (Index j = 0; j < U.rows(); ++j) {
    if (j * live / U.rows() != (j + 1) * live / U.rows()) continue;
    U.row(j).setZero();
    d(0, j) = 0;
  }
}

// The SVD of UD of a random head and the smaller network of rank 100.
double prune(net::Sizes sizes, Index live, const char* matrix_file, const char* values_file) {
  net::Network<float> network(net::variant_named("UDV"), sizes, false);
  net::initialise(network, "pytorch", 1);
  kill_neurons(network, live);
  const auto begin = std::chrono::steady_clock::now();
  const net::Pruning<float> pruning(network);
  const auto smaller = pruning.keep(std::min<Index>(100, pruning.neurons()));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const RowMatrix<float> M = net::representation(network).cast<float>();
  io::write_npy(matrix_file, M);
  io::write_npy(values_file, pruning.sizes());
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (!(what == "wide" && argc == 6) && !(what == "prune" && (argc == 8 || argc == 9))) {
    std::fputs("usage: bench_heads wide D M C THREADS | prune D M C THREADS UD VALUES [LIVE]\n",
               stderr);
    return 2;
  }
  const Index inputs = std::atoi(argv[2]), hidden = std::atoi(argv[3]),
              outputs = std::atoi(argv[4]);
  set_num_threads(std::atoi(argv[5]));
  const Index live = argc == 9 ? std::atoi(argv[8]) : hidden;
  std::printf("%.4f\n", what == "wide" ? wide(inputs, hidden, outputs)
                                       : prune({inputs, hidden, outputs}, live, argv[6], argv[7]));
}
