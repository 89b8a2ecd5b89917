// SPDX-License-Identifier: MIT
#include "udv/net/schedule.hpp"

#include <cmath>
#include <numbers>

#include "udv/core/error.hpp"

namespace udv::net {
namespace {

using Rule = double (*)(const Schedule&, double epoch, double epochs);

double cosine(const Schedule&, double epoch, double epochs) {
  return (1 + std::cos(std::numbers::pi * epoch / epochs)) / 2;
}
double constant(const Schedule&, double, double) {
  return 1;
}
double step(const Schedule& schedule, double epoch, double) {
  return std::pow(schedule.factor, std::floor(epoch / static_cast<double>(schedule.length)));
}

constexpr struct {
  const char* name;
  Rule rule;
} kSchedules[] = {{"cosine", cosine}, {"constant", constant}, {"step", step}};

Rule rule_named(std::string_view name) {
  for (const auto& schedule : kSchedules)
    if (schedule.name == name) return schedule.rule;
  return nullptr;
}

}  // namespace

std::string schedule_names() {
  std::string text;
  for (const auto& schedule : kSchedules) text += message(text.empty() ? "" : ", ", schedule.name);
  return text;
}

double Schedule::rate(double base, Index epoch, Index epochs) const {
  return base * rule_named(name)(*this, static_cast<double>(epoch), static_cast<double>(epochs));
}

void Schedule::validate() const {
  require(rule_named(name) != nullptr, "schedule '", name, "' found, one of ", schedule_names(),
          " expected");
  require(factor > 0 && factor <= 1, "schedule: factor is ", factor, ", 0 < factor <= 1 expected");
  require(length > 0, "schedule: length is ", length, ", at least 1 expected");
}

}  // namespace udv::net
