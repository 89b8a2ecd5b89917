// SPDX-License-Identifier: MIT
#include "cli/metrics_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr size_t kMostClasses = 20;  // that are listed
constexpr Index kMostConfused = 12;  // whose confusions are printed

std::string name_of(const std::vector<std::string>& names, size_t label) {
  return label < names.size() ? names[label] : std::to_string(label);
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share);
}

void print_values(const net::Metrics& m, const net::Baseline* baseline) {
  print_fact("test error", fmt::format("RMSE {:.5g}, MAE {:.5g}, R2 {:.4f}", m.mean_rmse(),
                                       m.mean_mae(), m.mean_r2()));
  if (baseline)
    print_fact("baseline", fmt::format("RMSE {:.5g}, MAE {:.5g} (the mean of the training part)",
                                       baseline->mean_rmse(), baseline->mean_mae()));
}

void print_confusion(const net::Metrics& m, const std::vector<std::string>& names) {
  if (m.confusion.rows() == 0 || m.confusion.rows() > kMostConfused) return;
  std::vector<std::string> header{"true \\ predicted"};
  std::vector<std::vector<std::string>> rows;
  for (Index i = 0; i < m.confusion.rows(); ++i) {
    header.push_back(name_of(names, static_cast<size_t>(i)));
    std::vector<std::string> row{header.back()};
    for (Index j = 0; j < m.confusion.cols(); ++j)
      row.push_back(m.confusion(i, j) == 0 ? "." : std::to_string(m.confusion(i, j)));
    rows.push_back(std::move(row));
  }
  fmt::print("{}\n", report::table(header, rows));
}

void print_classes(const net::Metrics& m, const net::Baseline* baseline,
                   const std::vector<std::string>& names) {
  print_fact("test accuracy",
             fmt::format("{:.2f} %, log loss {:.4f}", 100 * m.accuracy, m.log_loss));
  if (baseline)
    print_fact("baseline", fmt::format("{:.2f} % (always {})", 100 * baseline->accuracy,
                                       name_of(names, static_cast<size_t>(baseline->label))));
  if (m.support.size() > kMostClasses) return;
  std::vector<std::vector<std::string>> rows;
  for (size_t k = 0; k < m.support.size(); ++k)
    rows.push_back({name_of(names, k), percent(m.precision[k]), percent(m.recall[k]),
                    std::to_string(m.support[k])});
  fmt::print("{}\n", report::table({"class", "precision", "recall", "rows"}, rows));
  print_confusion(m, names);
}

}  // namespace

void print_metrics(const net::Metrics& metrics, const net::Baseline* baseline,
                   const std::vector<std::string>& class_names) {
  if (metrics.task == net::Task::kRegression)
    print_values(metrics, baseline);
  else
    print_classes(metrics, baseline, class_names);
}

}  // namespace udv::cli
