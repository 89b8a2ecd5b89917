// SPDX-License-Identifier: MIT
// The tables alone: reports read them without the job.
#include "jobs/recovery.hpp"
#include "udv/jobs/complete.hpp"

namespace udv::jobs {
namespace {

constexpr double kMostFolds = 1000;

}  // namespace

void describe(OptionTable& table, CompleteInput& input) {
  table
      .add("file", input.file,
           "Known entries: .mtx, text (.csv, .tsv, .txt), .npy, .npz, .mat, .h5; also .gz")
      .is_input()
      .called("FILE");
  table.add("test", input.test, "Entries to measure the error on (test_rmse)")
      .called("FILE")
      .keeps_numbers();
  table
      .add("from", input.from,
           "Continue this completion with more data: FILE is added to its files, later values "
           "replace earlier ones, and the solve starts from its factors")
      .called("RUN");
  table.add("predict", input.predict, "Pairs row,column to predict (predictions.csv)")
      .called("FILE")
      .keeps_numbers();
}

void describe(OptionTable& table, CompleteOptions& o) {
  describe_symmetry(table, o.symmetric);
  table.add(
      "base", o.base,
      {{"auto", io::IndexBase::kAuto}, {"0", io::IndexBase::kZero}, {"1", io::IndexBase::kOne}},
      "First index of the file");
  table.add("shape", o.shape, "Rows and columns of X").default_is("the largest indices");
  table
      .add(
          "folds", o.folds,
          "Parts for cross-validation: the error on each part of a solve without it, compared with "
          "biases alone and the mean")
      .between(2, kMostFolds)
      .default_is("none");
  describe(table, o.input);
  describe(table, o.output);
  describe(table, o.method);
}

}  // namespace udv::jobs
