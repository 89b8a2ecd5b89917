// SPDX-License-Identifier: MIT
// Settings of adapters that nobody gave: the paper's, or those of relative steps.
#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "udv/deep/language_model.hpp"
#include "udv/deep/optimizer.hpp"

namespace udv::deep {
namespace {

constexpr double kLargestRate = 1e6;
constexpr double kPaperRate = 1e-3, kPlainRate = 3e-3;
constexpr double kRelativeRate = 7;  // over sqrt(steps)
constexpr double kPaperDeviation = 0.1;
constexpr double kFirstRankShare = 1.5;  // of adalora's rank, as in its paper

bool is_auto(const std::string& word) {
  return word == "auto";
}

void refuse_beside_paper(const LoraOptions& o) {
  const auto refuse = [](bool given, const char* what) {
    require(!given, "preset paper found together with ", what, ", which the paper does not have");
  };
  refuse(o.optimizer == "relative", "optimizer relative");
  refuse(o.schedule.name == "cosine-step", "schedule cosine-step");
  refuse(o.adapter.method == "adalora", "method adalora");
  refuse(o.adapter.alpha > 0, "alpha");
}

// How A starts where nobody says it.
void resolve_start(LoraOptions& o, bool paper) {
  AdapterOptions& a = o.adapter;
  const bool relative = o.optimizer == "relative", given = a.deviation > 0;
  if (is_auto(a.start)) {
    require(!(relative && given),
            "a deviation of A found together with relative steps, which start with |A| = 1");
    a.start = relative ? "sphere" : "uniform";
    if (paper || given || (a.method == "lora-udv" && !relative)) a.start = "normal";
  }
  if (!given) a.deviation = kPaperDeviation;
}

}  // namespace

LoraOptions::LoraOptions() {
  adapter.modules.clear();
  adapter.start = "auto";
  adapter.deviation = 0;
  schedule.name = "auto";
}

LoraOptions LoraOptions::resolved(Index steps) const {
  LoraOptions o = *this;
  require(preset == "auto" || preset == "paper", "preset '", preset,
          "' found, auto or paper expected");
  const bool paper = preset == "paper", udv = adapter.method == "lora-udv";
  if (paper) refuse_beside_paper(o);
  if (is_auto(o.optimizer)) o.optimizer = paper ? "mbgd" : udv ? "relative" : "adam";
  const bool relative = o.optimizer == "relative";
  require(!relative || udv, "optimizer relative with method ", adapter.method,
          " found, lora-udv expected: steps are measured by its balls");
  if (is_auto(o.schedule.name)) o.schedule.name = paper ? "cosine" : "cosine-step";
  if (o.learning_rate == 0)
    o.learning_rate = paper      ? kPaperRate
                      : relative ? relative_rate(kRelativeRate, steps)
                                 : kPlainRate;
  AdapterOptions& a = o.adapter;
  if (a.modules.empty())
    a.modules = paper ? std::vector<std::string>{"q", "v"} : std::vector<std::string>{"all"};
  resolve_start(o, paper);
  if (a.method == "adalora" && a.first_rank == 0)
    a.first_rank = static_cast<Index>(std::ceil(kFirstRankShare * static_cast<double>(a.rank)));
  return o;
}

void LoraOptions::validate() const {
  const LoraOptions o = resolved(1);
  o.adapter.validate();
  if (o.schedule.name != "cosine-step") o.schedule.validate();
  require(o.learning_rate > 0 && o.learning_rate <= kLargestRate, "learning rate is ",
          learning_rate, ", a number above 0, up to ", kLargestRate, ", expected");
  require(epochs >= 0, "epochs is ", epochs, ", at least 0 expected");
  require(batch > 0, "batch is ", batch, ", at least 1 expected");
  require(micro_batch >= 0, "micro batch is ", micro_batch, ", at least 0 expected");
  require(clip >= 0 && std::isfinite(clip), "clip is ", clip, ", a number of at least 0 expected");
}

}  // namespace udv::deep
