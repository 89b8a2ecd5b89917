// SPDX-License-Identifier: MIT
#include "udv/net/schedule.hpp"

#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "net/named_entries.hpp"

namespace udv::net {
namespace {

constexpr double kRootSteps = 100;

using Rule = double (*)(const Schedule&, const Moment&);

double half_wave(Index at, Index end) {
  return (1 + std::cos(std::numbers::pi * static_cast<double>(at) / static_cast<double>(end))) / 2;
}
double cosine(const Schedule&, const Moment& moment) {
  return half_wave(moment.epoch, moment.epochs);
}
double constant(const Schedule&, const Moment&) {
  return 1;
}
double step(const Schedule& schedule, const Moment& moment) {
  return std::pow(schedule.factor, std::floor(static_cast<double>(moment.epoch) /
                                              static_cast<double>(schedule.length)));
}
double root(const Schedule&, const Moment& moment) {
  return std::sqrt(kRootSteps / (static_cast<double>(moment.step) + kRootSteps));
}
double cosine_step(const Schedule&, const Moment& moment) {
  return half_wave(moment.step, moment.steps);
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

double Schedule::rate(double base, const Moment& moment) const {
  return base * rule_named(name)(*this, moment);
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
