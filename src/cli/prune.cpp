// SPDX-License-Identifier: MIT
#include "udv/jobs/prune.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/deep_program.hpp"
#include "udv/io/npy.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string curve_value(const net::CurvePoint& point, bool classes) {
  return classes ? fmt::format("{:.2f} %", 100 * point.accuracy)
                 : fmt::format("{:.4g}", point.loss);
}

std::vector<std::string> curve_row(const jobs::PrunedModel& pruned, size_t neurons) {
  const bool classes = pruned.task == net::Task::kClassification;
  const net::CurvePoint& point = pruned.curve[neurons];
  std::vector<std::string> row{fmt::format("{}", point.neurons), curve_value(point, classes),
                               fmt::format("{:+.2f} %", 100 * point.relative_change)};
  for (const jobs::NamedCurve& other : pruned.other_curves) {
    const net::CurvePoint* const q = other.at(neurons);
    row.push_back(q ? curve_value(*q, classes) : "");
    row.push_back(q ? fmt::format("{:+.2f} %", 100 * q->relative_change) : "");
  }
  return row;
}

// A dozen points of the curve, closer together where few neurons are left.
void print_curve(const jobs::PrunedModel& pruned) {
  const bool classes = pruned.task == net::Task::kClassification;
  std::vector<std::string> header{"neurons", classes ? "accuracy" : "loss", "change"};
  for (const auto& other : pruned.other_curves) header.insert(header.end(), {other.name, "change"});
  Rows rows;
  const auto last = static_cast<double>(pruned.curve.size() - 1);
  size_t shown = 0;
  for (int i = 0; i <= 12; ++i) {
    const auto neurons = static_cast<size_t>(std::llround(std::pow(last, i / 12.0)));
    if (neurons == shown) continue;
    shown = neurons;
    rows.push_back(curve_row(pruned, neurons));
  }
  fmt::print("{}\n", report::table(header, rows));
}

void add_row(const std::string& name, const jobs::BeforeAfter& change, const char* format,
             Rows& rows) {
  rows.push_back({name, fmt::format(fmt::runtime(format), change.before),
                  fmt::format(fmt::runtime(format), change.after)});
}

// With a fourth column where a network of the small size was trained from scratch.
void add_scores(const std::string& part, const std::optional<jobs::ScoreChange>& change,
                const std::optional<jobs::ScratchScore>& scratch, Rows& rows) {
  if (!change) return;
  if (change->rmse) {
    add_row(part + " RMSE", *change->rmse, "{:.5g}", rows);
    if (scratch) rows.back().push_back(fmt::format("{:.5g}", scratch->rmse.value_or(0)));
  }
  add_row(part + " loss", change->loss, "{:.5g}", rows);
  if (scratch) rows.back().push_back(fmt::format("{:.5g}", scratch->loss));
  if (!change->accuracy) return;
  add_row(part + " accuracy", *change->accuracy, "{:.4f}", rows);
  if (scratch) rows.back().push_back(fmt::format("{:.4f}", scratch->accuracy));
}

void print_comparison(const jobs::PrunedModel& pruned) {
  Rows rows;
  add_row("neurons", pruned.neurons, "{:.0f}", rows);
  add_row("parameters", pruned.parameters, "{:.0f}", rows);
  add_row("bytes", pruned.bytes, "{:.0f}", rows);
  add_scores("validation", pruned.validation, pruned.scratch_validation, rows);
  add_scores("test", pruned.test, pruned.scratch_test, rows);
  add_row("microseconds a row", pruned.prediction_microseconds, "{:.2f}", rows);
  std::vector<std::string> header{"", "before", "after"};
  if (pruned.scratch_validation) {
    header.emplace_back("from scratch");
    for (auto& row : rows) row.resize(header.size());
  }
  fmt::print("{}\n", report::table(header, rows));
}

void print_summary(const jobs::PrunedModel& pruned, const jobs::PruneOptions& options) {
  Rows blocks;
  for (const net::PrunedBlock& block : pruned.blocks)
    blocks.push_back({block.name, std::to_string(block.before), std::to_string(block.after)});
  if (!blocks.empty()) fmt::print("{}\n", report::table({"block", "before", "after"}, blocks));
  if (options.curve) print_curve(pruned);
  if (pruned.model) print_comparison(pruned);
  if (pruned.by == jobs::PrunedBy::kOutputs)
    fmt::print(
        "  whole neurons left, chosen by what they add to the outputs; output weights fitted "
        "again\n");
  if (pruned.model && pruned.epochs > 0)
    fmt::print("  trained further for {} epochs (--finetune 0: not at all)\n", pruned.epochs);
  if (pruned.by == jobs::PrunedBy::kSize)
    fmt::print(
        "  whole neurons left, by |w||u||v|; with --data they are chosen by their outputs\n");
  if (pruned.collapsed)
    fmt::print("  one dense layer is smaller than {} neurons: collapsed\n", pruned.rank);
}

void print_predicted_loss(const std::optional<double>& increase) {
  if (increase) fmt::print("  the loss is predicted to increase by {:.3g}\n", *increase);
}

void print_summary(const jobs::PrunedAdapter& pruned, const jobs::PruneOptions&) {
  const auto whole = [](Index count) { return fmt::format("{}", count); };
  const auto ranks = [](const net::RankFigures& f) {
    return fmt::format("{} / {:.3g} / {}", f.least, f.mean, f.most);
  };
  fmt::print("{}\n",
             report::table(
                 {"", "before", "after"},
                 {{"blocks", whole(pruned.ranks_before.blocks), whole(pruned.ranks_after.blocks)},
                  {"rank, min / mean / max", ranks(pruned.ranks_before), ranks(pruned.ranks_after)},
                  {"parameters", whole(pruned.parameters_before), whole(pruned.parameters_after)},
                  {"bytes", fmt::format("{:.0f}", pruned.bytes.before),
                   fmt::format("{:.0f}", pruned.bytes.after)}}));
  fmt::print("  {:.3g} of the parameters left, at least {:.6g} of the energy of every block\n",
             pruned.ratio, pruned.least_energy);
  print_predicted_loss(pruned.predicted_loss);
}

void print_summary(const net::TensorPruningResult& pruned, const jobs::PruneOptions&) {
  Rows rows;
  for (const net::FactoredTensor& tensor : pruned.factored)
    rows.push_back({tensor.name, io::shape_text(tensor.shape), fmt::format("{}", tensor.rank),
                    fmt::format("{:.0f} %", 100 * tensor.share_left)});
  if (!rows.empty()) fmt::print("{}\n", report::table({"tensor", "shape", "rank", "left"}, rows));
  fmt::print("  {} of {} matrices factored, {} of {} numbers left\n", pruned.factored.size(),
             pruned.matched, pruned.after, pruned.before);
  fmt::print("  {} of {} bytes left\n", pruned.bytes.size(), pruned.bytes_before);
  print_predicted_loss(pruned.predicted_loss);
}

ExitCode run_prune(const jobs::PruneInput& given, const jobs::PruneOptions& options,
                   Terminal& terminal) {
  jobs::PruneInput input = given;
  if (!input.calibrate.empty() && !net::is_calibration_file(input.calibrate))
    input.measure = text_calibrator();
  const jobs::PruneResult result = jobs::prune(input, options, terminal.session());
  if (result.outcome != jobs::Outcome::kInterrupted) {
    if (!std::holds_alternative<net::TensorPruningResult>(result.pruned))
      terminal.leave_report(result.folder);
    if (!terminal.quiet()) {
      std::visit([&](const auto& pruned) { print_summary(pruned, options); }, result.pruned);
      print_fact("results", result.folder.string());
    }
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command prune_command() {
  return job_command("prune", "Make a trained network smaller, to a budget", run_prune);
}

}  // namespace udv::cli
