// SPDX-License-Identifier: MIT
#include "udv/net/variant.hpp"

#include <algorithm>

#include "net/named_entries.hpp"

namespace udv::net {
namespace {

using enum Constraint;

LayerSpec dense(const char* name, Constraint constraint = kFree) {
  return {LayerKind::kDense, name, constraint};
}
LayerSpec diagonal(Constraint constraint = kFree) {
  return {LayerKind::kDiagonal, "D", constraint};
}
LayerSpec relu() {
  return {LayerKind::kRelu, "", kFree};
}

}  // namespace

bool Variant::has(LayerKind kind) const {
  return std::any_of(layers.begin(), layers.end(), [&](const auto& l) { return l.kind == kind; });
}

bool Variant::has_hidden() const {
  return std::count_if(layers.begin(), layers.end(),
                       [](const auto& l) { return l.kind == LayerKind::kDense; }) > 1;
}

bool Variant::has_balls() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const auto& l) { return is_ball(l.constraint); });
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {"UDV", {dense("U", kBall), diagonal(kNonnegative), dense("V", kBall)}},
      {"UDV-s", {dense("U", kBall), diagonal(), dense("V", kBall)}},
      {"UDV-v1", {dense("U", kNeuronBalls), diagonal(kNonnegative), dense("V", kNeuronBalls)}},
      {"UDV-v2", {dense("U", kNeuronBalls), diagonal(), dense("V", kNeuronBalls)}},
      {"UDV-unconstrained", {dense("U"), diagonal(), dense("V")}},
      {"UDV-ReLU", {dense("U", kBall), diagonal(kNonnegative), relu(), dense("V", kBall)}},
      {"UDV-ReLU-s", {dense("U", kBall), diagonal(), relu(), dense("V", kBall)}},
      {"ReLU-constrained", {dense("U", kBall), relu(), dense("V", kBall)}},
      {"UFV", {dense("U"), dense("F"), dense("V")}},
      {"UV-ReLU", {dense("U"), relu(), dense("V")}},
      {"UV", {dense("U"), dense("V")}},
      {"single", {dense("W")}},
  };
  return all;
}

const Variant& variant_named(std::string_view name) {
  return entry_named("variant", variants(), name);
}

std::string variant_names() {
  return names_of(variants());
}

}  // namespace udv::net
