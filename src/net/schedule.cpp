// SPDX-License-Identifier: MIT
#include "udv/net/schedule.hpp"

#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "net/named_entries.hpp"

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

struct Entry {
  std::string_view name;
  Rule rule;
};
constexpr Entry kSchedules[] = {{"cosine", cosine}, {"constant", constant}, {"step", step}};

Rule rule_named(std::string_view name) {
  return entry_named("schedule", kSchedules, name).rule;
}

}  // namespace

std::string schedule_names() {
  return names_of(kSchedules);
}

double Schedule::rate(double base, Index epoch, Index epochs) const {
  return base * rule_named(name)(*this, static_cast<double>(epoch), static_cast<double>(epochs));
}

void Schedule::validate() const {
  rule_named(name);
  require(factor > 0 && factor <= 1, "schedule: factor is ", factor, ", 0 < factor <= 1 expected");
  require(length > 0, "schedule: length is ", length, ", at least 1 expected");
}

}  // namespace udv::net
