// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "io/run_json.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/model_file.hpp"
#include "udv/net/trainer.hpp"

// udv predict and udv evaluate: a trained model on other data, without and with the truth.
namespace udv::cli {
namespace {

using net::Task;

struct Flags {
  std::string model, data, targets;
  CommonFlags common;
};

// Outputs of every row: in the target's units, or one number for each class.
RowMatrix<double> outputs_of(const net::Model<double>& model, const net::Dataset<double>& data,
                             const std::string& name) {
  const RowMatrix<double> raw = net::predict<double>(model.network, data.X);
  RowMatrix<double> outputs = model.preprocessing.in_target_units(raw);
  for (Index i = 0; i < outputs.rows(); ++i)
    require<IoError>(outputs.row(i).allFinite(), name, ": row ", i + 1,
                     ": the model's output is not finite");
  return outputs;
}

// One line per row: the value, or the class and its probability.
std::string predictions_csv(const net::Preprocessing& how, const RowMatrix<double>& outputs) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  if (how.task == Task::kRegression) {
    fmt::format_to(out, "row");
    for (Index k = 0; k < outputs.cols(); ++k)
      fmt::format_to(out, ",{}", outputs.cols() == 1 ? "prediction" : fmt::format("output_{}", k));
    for (Index i = 0; i < outputs.rows(); ++i) {
      fmt::format_to(out, "\n{}", i);
      for (Index k = 0; k < outputs.cols(); ++k) fmt::format_to(out, ",{:.9g}", outputs(i, k));
    }
  } else {
    fmt::format_to(out, "row,class,probability");
    for (Index i = 0; i < outputs.rows(); ++i) {
      Index best = 0;
      const double largest = outputs.row(i).maxCoeff(&best);
      const double total = (outputs.row(i).array() - largest).exp().sum();
      const std::string name =
          how.classes.empty() ? std::to_string(best) : how.classes[static_cast<size_t>(best)];
      const bool quote = name.find_first_of(",\"\n") != name.npos;
      fmt::format_to(out, "\n{},{},{:.6f}", i, quote ? "\"" + name + "\"" : name, 1 / total);
    }
  }
  fmt::format_to(out, "\n");
  return fmt::to_string(text);
}

ExitCode run_predict(const Flags& flags) {
  set_num_threads(flags.common.threads);
  const auto model = net::read_model<double>(model_path(flags.model));
  const auto data =
      net::read_for_model<double>(flags.data, flags.targets, model.preprocessing, false);
  const RowMatrix<double> outputs = outputs_of(model, data, flags.data);
  const auto folder = make_run_folder(flags.common, "predict");
  io::write_atomically(folder / "predictions.csv", predictions_csv(model.preprocessing, outputs));
  if (!flags.common.quiet)
    fmt::print("  {} rows predicted\n  results        {}\n", outputs.rows(),
               (folder / "predictions.csv").string());
  return kDone;
}

ExitCode run_evaluate(const Flags& flags) {
  set_num_threads(flags.common.threads);
  const auto model = net::read_model<double>(model_path(flags.model));
  const net::Preprocessing& how = model.preprocessing;
  const auto data = net::read_for_model<double>(flags.data, flags.targets, how, true);
  outputs_of(model, data, flags.data);
  const net::Score score = net::evaluate(model.network, data);
  const bool classes = how.task == Task::kClassification;
  const auto folder = make_run_folder(flags.common, "evaluate");
  io::detail::RunJson run = {{"udv", version()},
                             {"command", "evaluate"},
                             {"config", {{"model", flags.model}, {"data", flags.data}}},
                             {"rows", data.size()},
                             {"test_loss", io::detail::number(score.loss)}};
  const double rmse = std::sqrt(score.loss) / (classes ? 1 : std::abs(how.targets.factor(0)));
  if (classes)
    run["test_accuracy"] = score.accuracy;
  else if (how.outputs == 1)
    run["test_rmse"] = io::detail::number(rmse);
  io::detail::write_json(folder / "run.json", run);
  if (flags.common.quiet) return kDone;
  fmt::print("  {:<14} {}\n  {:<14} {:.6g}\n", "rows", data.size(), "loss", score.loss);
  if (classes)
    fmt::print("  {:<14} {:.2f} %\n", "accuracy", 100 * score.accuracy);
  else if (how.outputs == 1)
    fmt::print("  {:<14} {:.6g} (in units of the target)\n", "rmse", rmse);
  fmt::print("  {:<14} {}\n", "results", folder.string());
  return kDone;
}

Run setup(CLI::App& program, const char* name, const char* text,
          ExitCode (*run)(const Flags& flags)) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(name, text);
  command->add_option("model", flags->model, "model.safetensors, or the folder of a run")
      ->required();
  command->add_option("data", flags->data, "Data of the kind that the model was trained on")
      ->required();
  command->add_option("--targets", flags->targets, "File with the targets of a .npy or IDX file");
  flags->common.add_to(*command);
  return [flags, run] { return run(*flags); };
}

}  // namespace

Run setup_predict(CLI::App& program) {
  return setup(program, "predict", "Applies a trained network to other data", run_predict);
}

Run setup_evaluate(CLI::App& program) {
  return setup(program, "evaluate", "Measures a trained network on data with targets",
               run_evaluate);
}

}  // namespace udv::cli
