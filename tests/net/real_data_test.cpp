// SPDX-License-Identifier: MIT
// The paper's data, where $UDV_DATA has them.
#include "support/real_data.hpp"

#include <gtest/gtest.h>

#include "udv/net/data_source.hpp"
#include "udv/net/head.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {
namespace real_data_test {

using testing::data_file;

struct Decay {
  double loss = 0, excess = 0;  // means over seeds: test loss, stable rank - 1
};

Decay train_seeds(const PreparedData<float>& data, const std::string& variant, double rate) {
  constexpr int kSeeds = 4;
  Decay mean;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TrainOptions options = TrainOptions::paper();
    options.variant = variant;
    options.learning_rate = rate;
    options.seed = seed;
    const auto result = train(data.training, data.test, options);
    mean.loss += result.test_loss / kSeeds;
    mean.excess += (stable_rank(spectrum(result.network)) - 1) / kSeeds;
  }
  return mean;
}

TEST(HousePrices, UdvPredictsAsUvDoesWithAFarLowerRank) {
  const auto path = data_file("house_prices/train.csv");
  UDV_NEEDS(path, "house_prices");
  DataOptions options;
  options.table.target = "SalePrice";
  const auto data = DataSource<float>(path, options.for_paper()).prepare(0);
  EXPECT_EQ(data.training.X.cols(), 79);
  EXPECT_EQ(default_hidden(79, 1, false), 26);
  for (const double rate : {1e-3, 1e-2}) {
    const Decay udv = train_seeds(data, "UDV", rate), uv = train_seeds(data, "UV", rate);
    EXPECT_LT(udv.loss, 1.05 * uv.loss) << rate;
    EXPECT_LT(udv.excess, uv.excess / 3) << rate;
  }
}

TEST(TaxiTrips, HaveTheTwelveFeaturesOfThePaper) {
  const auto path = data_file("nyc_taxi/train-sample0.05.csv.gz");
  UDV_NEEDS(path, "nyc_taxi");
  DataOptions options;
  options.table.target = "trip_duration";
  options.table.drop = {"dropoff_datetime"};
  const auto data = DataSource<float>(path, options.for_paper()).prepare(0);
  EXPECT_EQ(data.training.X.cols(), 12);
  EXPECT_EQ(data.training.size() + data.test.size(), 73177);
}

TEST(Mnist, BringsItsOwnTestPart) {
  const auto path = data_file("mnist");
  UDV_NEEDS(path, "mnist");
  const auto data = DataSource<float>(path, DataOptions().for_paper()).prepare(0);
  EXPECT_EQ(data.training.size(), 60000);
  EXPECT_EQ(data.test.size(), 10000);
  EXPECT_EQ(data.training.X.cols(), 784);
  EXPECT_EQ(data.training.classes, 10);
  EXPECT_EQ(data.training.X.maxCoeff(), 1);
}

}  // namespace real_data_test
}  // namespace udv::net
