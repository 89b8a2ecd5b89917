// SPDX-License-Identifier: MIT
#include "udv/net/schedule.hpp"

#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "net/named_entries.hpp"

namespace udv::net {
namespace {

constexpr double kRootSteps = 100;

using Rule = double (*)(const Schedule&, const TrainingPosition&);

double half_wave(Index at, Index end) {
  return (1 + std::cos(std::numbers::pi * static_cast<double>(at) / static_cast<double>(end))) / 2;
}
double cosine(const Schedule&, const TrainingPosition& at) {
  return half_wave(at.epoch, at.epochs);
}
double constant(const Schedule&, const TrainingPosition&) {
  return 1;
}
double step(const Schedule& schedule, const TrainingPosition& at) {
  return std::pow(schedule.factor,
                  std::floor(static_cast<double>(at.epoch) / static_cast<double>(schedule.length)));
}
double root(const Schedule&, const TrainingPosition& at) {
  return std::sqrt(kRootSteps / (static_cast<double>(at.step) + kRootSteps));
}
double cosine_step(const Schedule&, const TrainingPosition& at) {
  return half_wave(at.step, at.steps);
}

struct Entry {
  std::string_view name;
  Rule rule;
};
constexpr Entry kSchedules[] = {{"cosine", cosine},
                                {"constant", constant},
                                {"step", step},
                                {"root", root},
                                {"cosine-step", cosine_step}};

Rule rule_named(std::string_view name) {
  return entry_named("schedule", kSchedules, name).rule;
}

}  // namespace

std::string schedule_names() {
  return names_of(kSchedules);
}

double Schedule::rate(double base, const TrainingPosition& at) const {
  return base * rule_named(name)(*this, at);
}

double Schedule::rate(double base, Index epoch, Index epochs) const {
  return rate(base, {epoch, epochs, 0, 1});
}

void Schedule::validate() const {
  rule_named(name);
  require(factor > 0 && factor <= 1, "schedule: factor is ", factor, ", 0 < factor <= 1 expected");
  require(length > 0, "schedule: length is ", length, ", at least 1 expected");
}

}  // namespace udv::net
