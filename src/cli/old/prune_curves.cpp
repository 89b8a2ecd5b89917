// SPDX-License-Identifier: MIT
#include "cli/prune_curves.hpp"

#include <fmt/format.h>

#include <cmath>

#include "udv/report/terminal.hpp"

namespace udv::cli {

std::string curve_csv(const std::vector<net::CurvePoint>& curve, const net::Pruning<float>& pruning,
                      const std::vector<Beside>& others) {
  std::string text = "neurons,parameters,loss,accuracy,relative_change";
  for (const Beside& other : others)
    text += fmt::format(",{0}_loss,{0}_accuracy,{0}_change", other.name);
  for (size_t r = 1; r < curve.size(); ++r) {
    const net::CurvePoint& p = curve[r];
    text += fmt::format("\n{},{},{:.9g},{:.9g},{:.9g}", p.neurons, pruning.parameters(p.neurons),
                        p.loss, p.accuracy, p.relative_change);
    for (const Beside& other : others) {
      const net::CurvePoint* const q = other.at(r);
      text += q ? fmt::format(",{:.9g},{:.9g},{:.9g}", q->loss, q->accuracy, q->relative_change)
                : std::string(",,,");
    }
  }
  return text + "\n";
}

std::string curve_sketch(const std::vector<net::CurvePoint>& curve,
                         const std::vector<Beside>& others, bool classes) {
  const auto metric = [&](const net::CurvePoint& p) {
    return classes ? fmt::format("{:.2f} %", 100 * p.accuracy) : fmt::format("{:.4g}", p.loss);
  };
  std::vector<std::string> header{"neurons", classes ? "accuracy" : "loss", "change"};
  for (const Beside& other : others) header.insert(header.end(), {other.name, "change"});
  std::vector<std::vector<std::string>> rows;
  const auto last = static_cast<double>(curve.size() - 1);
  Index shown = 0;
  for (int i = 0; i <= 12; ++i) {
    const auto r = static_cast<Index>(std::llround(std::pow(last, i / 12.0)));
    if (r == shown) continue;
    shown = r;
    const net::CurvePoint& p = curve[static_cast<size_t>(r)];
    rows.push_back(
        {fmt::format("{}", r), metric(p), fmt::format("{:+.2f} %", 100 * p.relative_change)});
    for (const Beside& other : others) {
      const net::CurvePoint* const q = other.at(static_cast<size_t>(r));
      rows.back().push_back(q ? metric(*q) : "");
      rows.back().push_back(q ? fmt::format("{:+.2f} %", 100 * q->relative_change) : "");
    }
  }
  return report::table(header, rows) + "\n";
}

}  // namespace udv::cli
