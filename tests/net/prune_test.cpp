// SPDX-License-Identifier: MIT
#include "udv/net/prune.hpp"

#include <gtest/gtest.h>

#include "net/gram_svd.hpp"
#include "support/random_data.hpp"
#include "support/reference.hpp"
#include "udv/net/head.hpp"
#include "udv/net/layer_pruning.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {
namespace prune_test {

using testing::error_of;
using testing::random_rows;

Network<double> random_head(const std::string& variant, bool bias) {
  Network<double> network(variant_named(variant), {9, 6, 4}, bias);
  network.parameters() = 0.5 * random_rows(network.num_parameters(), 1, 11);
  return network;
}

TEST(GramSvd, IsTheSvd) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{12, 7}, {7, 12}, {8, 8}, {1, 5}, {5, 1}}) {
    const RowMatrix<double> M = random_rows(rows, cols, 3);
    const GramSvd svd = gram_svd(M);
    const Vector<double> exact = testing::singular_values_of(M);
    EXPECT_LE((svd.s - exact).norm(), 1e-12 * exact(0));
    EXPECT_LE((testing::product(svd.Pt.transpose(), svd.B) - M).norm(), 1e-12 * M.norm());
    EXPECT_LE((testing::product(svd.Pt, svd.Pt.transpose()) -
               Matrix<double>::Identity(svd.s.size(), svd.s.size()))
                  .norm(),
              1e-10);
    EXPECT_LE((gram_singular_values(M) - exact).norm(), 1e-12 * exact(0));
  }
}

class PruneEveryHead : public ::testing::TestWithParam<std::string> {};

TEST_P(PruneEveryHead, KeepingAllChangesNothing) {
  const RowMatrix<double> X = random_rows(15, 9, 12);
  for (const bool bias : {false, true}) {
    const Network<double> network = random_head(GetParam(), bias);
    const RowMatrix<double> expected = predict<double>(network, X);
    const Pruning<double> pruning(network);
    const auto kept = pruning.keep(pruning.neurons());
    EXPECT_LE((predict<double>(kept, X) - expected).norm(), 1e-11 * expected.norm());
    if (const auto dense = pruning.collapse()) {
      EXPECT_LE((predict<double>(*dense, X) - expected).norm(), 1e-11 * expected.norm());
    }
  }
}

TEST_P(PruneEveryHead, EveryRankIsWhatTheCurveSays) {
  const RowMatrix<double> X = random_rows(15, 9, 12);
  for (const bool whole_neurons : {false, true}) {
    const Pruning<double> pruning(random_head(GetParam(), true), whole_neurons);
    pruning.for_each_rank(X, [&](Index r, const RowMatrix<double>& outputs) {
      if (r == 0) return;
      const auto kept = pruning.keep(r);
      EXPECT_EQ(kept.num_parameters(), pruning.parameters(r));
      EXPECT_EQ(kept.sizes().hidden, r);
      EXPECT_LE((predict<double>(kept, X) - outputs).norm(), 1e-11 * outputs.norm()) << r;
    });
  }
}

TEST_P(PruneEveryHead, SizesFallAndTooLargeRanksAreRefused) {
  const Pruning<double> pruning(random_head(GetParam(), false));
  for (Index j = 1; j < pruning.neurons(); ++j)
    EXPECT_LE(pruning.sizes()(j), pruning.sizes()(j - 1));
  EXPECT_EQ(error_of([&] { pruning.keep(7); }), "prune: rank 7 found, 1 to 6 expected");
  EXPECT_EQ(error_of([&] { pruning.keep(0); }), "prune: rank 0 found, 1 to 6 expected");
}

std::vector<std::string> prunable() {
  std::vector<std::string> names;
  for (const Variant& variant : variants())
    if (variant.has_hidden()) names.push_back(variant.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(, PruneEveryHead, ::testing::ValuesIn(prunable()), [](const auto& i) {
  std::string name = i.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// error^2 = sum of the dropped s^2, in UD.
TEST(Prune, DropsTheTailOfTheSpectrumAndNothingElse) {
  for (const char* variant : {"UDV", "UV", "UFV"}) {
    const Network<double> network = random_head(variant, false);
    const Pruning<double> pruning(network);
    const Vector<double> spectrum_before = spectrum(network);
    EXPECT_LE((pruning.sizes() - spectrum_before).norm(), 1e-12 * spectrum_before(0));
    for (Index r = 1; r < 6; ++r) {
      const Vector<double> left = spectrum(pruning.keep(r));
      EXPECT_LE((left.head(r) - spectrum_before.head(r)).norm(), 1e-11 * spectrum_before(0));
    }
  }
}

TEST(Prune, BalancedFormIsTheSameFunctionInsideTheSets) {
  const RowMatrix<double> X = random_rows(15, 9, 12);
  for (const char* variant : {"UDV", "UDV-s", "UDV-v1", "UV", "UDV-unconstrained"}) {
    Network<double> network = random_head(variant, false);
    network.project();
    const Pruning<double> pruning(network);
    const auto paper = predict<double>(pruning.keep(3), X);
    const auto balanced = pruning.keep(3, PruneForm::kBalanced);
    EXPECT_LE((predict<double>(balanced, X) - paper).norm(), 1e-11 * paper.norm()) << variant;
  }
}

TEST(Prune, DeadNeuronsAreNoPartOfIt) {
  Network<double> network = random_head("UDV", false);
  network.at (*network.find("D.weight"))(0, 2) = 0;
  network.at(*network.find("U.weight")).row(4).setZero();
  const RowMatrix<double> X = random_rows(5, 9, 1);
  const Pruning<double> pruning(network);
  EXPECT_EQ(pruning.neurons(), 4);
  EXPECT_LE((predict<double>(pruning.keep(4), X) - predict<double>(network, X)).norm(), 1e-12);
}

// Rows decide: every rank is what the curve says, all neurons are the network itself, and no other
// output weights fit the outputs better.
TEST(PruneByOutputs, FitsTheOutputsByLeastSquares) {
  const RowMatrix<double> X = random_rows(60, 9, 12);
  for (const char* variant : {"UDV-ReLU", "UDV-ReLU-s", "UV-ReLU", "UDV", "UFV"})
    for (const bool bias : {false, true}) {
      Network<double> network = random_head(variant, bias);
      network.project();
      const RowMatrix<double> whole = predict<double>(network, X);
      const Pruning<double> pruning(network, X);
      EXPECT_TRUE(pruning.by_outputs());
      double before = whole.norm() * 10;
      pruning.for_each_rank(X, [&](Index r, const RowMatrix<double>& outputs) {
        const double error = (outputs - whole).norm();
        EXPECT_LE(error, before * (1 + 1e-9)) << variant << " " << r;
        before = error;
        if (r == 0) return;
        for (const PruneForm form : {PruneForm::kPaper, PruneForm::kBalanced}) {
          const RowMatrix<double> kept = predict<double>(pruning.keep(r, form), X);
          EXPECT_LE((kept - outputs).norm(), 1e-9 * whole.norm()) << variant << " " << r;
        }
      });
      EXPECT_LE(before, 1e-5 * whole.norm()) << variant;
    }
}

TEST(PruneByOutputs, KeepsTwoNeuronsThatMakeUpAllOthers) {
  Network<double> network(variant_named("UV-ReLU"), {3, 6, 2}, false);
  RowMatrix<double> U = random_rows(6, 3, 5);
  for (Index j = 2; j < 6; ++j) U.row(j) = (1.0 + j) * U.row(j % 2);  // multiples of two neurons
  network.at(*network.find("U.weight")) = U;
  network.at(*network.find("V.weight")) = random_rows(2, 6, 6);
  const RowMatrix<double> X = random_rows(50, 3, 7), whole = predict<double>(network, X);
  const auto error = [&](const Pruning<double>& pruning) {
    return (predict<double>(pruning.keep(2), X) - whole).norm() / whole.norm();
  };
  EXPECT_LE(error(Pruning<double>(network, X)), 1e-6);
  EXPECT_GE(error(Pruning<double>(network)), 1e-2);
}

TEST(Prune, ASingleLayerHasNothingToPrune) {
  Network<double> network(variant_named("single"), {9, 0, 4}, false);
  EXPECT_EQ(error_of([&] { Pruning<double> pruning(network); }),
            "prune: a single network has no hidden neurons");
}

// 9-8-6-4 whose hidden layers have every neuron twice.
Network<double> doubled_network(Bias bias) {
  Network<double> network(variant_named("UDV-ReLU"), {9, 8, 4, {6}}, bias);
  network.parameters() = random_rows(network.num_parameters(), 1, 21).cwiseAbs() -
                         0.4 * Vector<double>::Ones(network.num_parameters());
  for (const char* name : {"U", "D", "U2", "D2"})
    for (const char* part : {".weight", ".bias"}) {
      const ParameterBlock* const block = network.find(std::string(name) + part);
      if (!block) continue;
      auto values = network.at(*block);
      if (block->kind == LayerKind::kDiagonal) values = values.cwiseAbs().eval();
      if (block->rows == 1)
        values.rightCols(values.cols() / 2) = values.leftCols(values.cols() / 2).eval();
      else
        values.bottomRows(values.rows() / 2) = values.topRows(values.rows() / 2).eval();
    }
  return network;
}

TEST(LayerPruning, TakesCopiesOutOfEveryLayerAndChangesNothing) {
  const RowMatrix<double> X = random_rows(60, 9, 22);
  for (const Bias bias : {Bias(Bias::kNone), Bias(Bias::kConstant), Bias(Bias::kAll)}) {
    const Network<double> network = doubled_network(bias);
    const RowMatrix<double> expected = predict<double>(network, X);
    const LayerPruning<double> pruning(network, X);
    const Network<double> kept = pruning.keep_energy(1e-5);
    EXPECT_LE(kept.sizes().hidden, 4);
    EXPECT_LE(kept.sizes().deeper[0], 3);
    EXPECT_LE((predict<double>(kept, X) - expected).norm(), 2e-2 * expected.norm());
    Network<double> projected = kept;
    projected.project();  // it is inside its sets already
    EXPECT_LE((projected.parameters() - kept.parameters()).norm(), 1e-12);
    EXPECT_EQ(to_string(pruning.keep_most(2).sizes()), "9-2-2-4");
  }
}

TEST(LayerPruning, MakesALadderThatEndsWithTheWhole) {
  const Network<double> network = doubled_network(Bias::kConstant);
  const auto ladder =
      pruning_ladder(network, LayerPruning<double>(network, random_rows(60, 9, 22)));
  for (size_t i = 1; i < ladder.size(); ++i)
    EXPECT_GT(ladder[i].num_parameters(), ladder[i - 1].num_parameters());
  EXPECT_EQ(ladder.back().parameters(), network.parameters());
  EXPECT_EQ(hidden_neurons(network.sizes()), 14);
  EXPECT_NE(error_of([&] {
              LayerPruning<double>(random_head("UDV", true), random_rows(5, 9, 1));
            }).find("one with ReLU expected"),
            std::string::npos);
}

}  // namespace prune_test
}  // namespace udv::net
