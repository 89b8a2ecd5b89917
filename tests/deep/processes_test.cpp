// SPDX-License-Identifier: MIT
// Several processes, played by threads of one: they meet at a store on 127.0.0.1.
#include "udv/deep/processes.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <thread>

#include "deep/gradient_buckets.hpp"
#include "deep/synchronised_norm.hpp"
#include "support/free_port.hpp"
#include "udv/core/options.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

#ifdef UDV_WITH_C10D

// The same action in every process.
void in_processes(int size, const std::function<void(const std::shared_ptr<Processes>&)>& action) {
  const int port = free_port();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([=, &action] {
      ProcessInfo info;
      info.rank = info.local_rank = rank;
      info.size = size;
      info.address = "127.0.0.1";
      info.port = port;
      action(std::make_shared<Processes>(info, 20));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(ProcessesTest, SharesCoverAllOnce) {
  in_processes(3, [](const auto& all) {
    const auto [begin, end] = all->share(10, 18);
    const auto texts = all->gather(std::to_string(begin) + "-" + std::to_string(end));
    EXPECT_EQ(texts, (std::vector<std::string>{"10-12", "12-15", "15-18"}));
    EXPECT_EQ(all->broadcast("state of " + std::to_string(all->rank())), "state of 0");
    EXPECT_EQ(all->largest(7 - all->rank()), 7);
  });
}

TEST(ProcessesTest, AllThrowWhatTheLowestRankThatFailsThrows) {
  in_processes(3, [](const auto& all) {
    std::string said;
    try {
      all->run_on_all([&] {
        if (all->rank() == 2) throw IoError("late.csv: missing");
        if (all->rank() == 1) throw OptionError("batch", "'0' found");
      });
    } catch (const OptionError& error) {
      said = error.name() + "|" + error.problem();
    }
    EXPECT_EQ(said, "batch|rank 1: '0' found");
    EXPECT_EQ(all->should_report(), all->is_first());
  });
}

TEST(ProcessesTest, DifferencesAreNamedWithTheirLine) {
  in_processes(2, [](const auto& all) {
    all->check_equal("settings", "a 1\nb 2");
    std::string said;
    try {
      all->check_equal("settings", all->is_first() ? "a 1\nb 2" : "a 1\nb 3");
    } catch (const IoError& error) {
      said = error.what();
    }
    EXPECT_EQ(said, "rank 1: settings: 'b 3' found, 'b 2' of rank 0 expected");
  });
}

// Two layers that are used, one that is not; some processes have more passes, one has none.
TEST(GradientBuckets, AreTheSumsOverProcessesAndPasses) {
  in_processes(3, [](const auto& all) {
    const Tensor a = torch::full({3, 2}, 2.0, torch::requires_grad()),
                 b = torch::full({4}, 3.0, torch::requires_grad()),
                 unused = torch::ones({5}, torch::requires_grad());
    GradientBuckets buckets(all, {a, unused, b});
    for (int step = 0; step < 2; ++step) {
      for (Tensor p : {a, b, unused}) p.mutable_grad() = Tensor();
      const int passes = 2 - all->rank();
      buckets.start(passes);
      for (int pass = 0; pass < passes; ++pass) ((step + 1) * a.sum() * b.sum()).backward();
      buckets.finish();
      // Three passes in all; the gradient of a is sum b = 12, that of b is sum a = 12.
      EXPECT_TRUE(torch::equal(a.grad(), torch::full({3, 2}, 36.0 * (step + 1))));
      EXPECT_TRUE(torch::equal(b.grad(), torch::full({4}, 36.0 * (step + 1))));
      EXPECT_FALSE(unused.grad().defined());
    }
  });
}

// The pictures of all processes, one of which has none, against one process with all of them.
TEST(SynchronisedNorm, IsThatOfTheWholeBatch) {
  torch::manual_seed(5);
  const Tensor x = torch::randn({5, 3, 4, 4}) * 2 + 7, g = torch::randn({5, 3, 4, 4});
  const auto arrays = [] {
    return NormArrays{torch::tensor({0.5F, 1.0F, 2.0F}).requires_grad_(),
                      torch::tensor({1.0F, 0.0F, -1.0F}).requires_grad_(), torch::zeros({3}),
                      torch::ones({3})};
  };
  const NormArrays whole = arrays();
  const Tensor of_whole = x.clone().requires_grad_();
  const Tensor y = torch::batch_norm(of_whole, whole.weight, whole.bias, whole.running_mean,
                                     whole.running_var, true, 0.1, 1e-5, false);
  y.backward(g);
  const std::vector<std::pair<Index, Index>> parts{{0, 2}, {2, 2}, {2, 5}};
  in_processes(3, [&](const auto& all) {
    const auto [begin, end] = parts[static_cast<size_t>(all->rank())];
    const NormArrays own = arrays();
    const Tensor part = x.slice(0, begin, end).clone().requires_grad_();
    const Tensor found = synchronised_norm(*all, part, own, 0.1, 1e-5);
    found.backward(g.slice(0, begin, end));
    const auto near = [](const Tensor& a, const Tensor& b) {  // a dozen roundings of numbers near 7
      EXPECT_TRUE(torch::allclose(a, b, 1e-4, 1e-4)) << a << b;
    };
    near(found, y.detach().slice(0, begin, end));
    near(part.grad(), of_whole.grad().slice(0, begin, end));
    near(own.running_mean, whole.running_mean);
    near(own.running_var, whole.running_var);
    Tensor dw = own.weight.grad().clone(), db = own.bias.grad().clone();
    all->group().sum(dw);
    all->group().sum(db);
    near(dw, whole.weight.grad());
    near(db, whole.bias.grad());
  });
}

#endif

}  // namespace
}  // namespace udv::deep
