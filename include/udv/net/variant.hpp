// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/constraint.hpp"

namespace udv::net {

/// What a layer of a head is, before its sizes are known.
enum class LayerKind { kDense, kDiagonal, kRelu };

struct LayerSpec {
  LayerKind kind;
  std::string name;  ///< of its parameters, as in a state_dict: "U", "D", "V"
  Constraint constraint = Constraint::kFree;
};

/// A head: layers between d inputs and c outputs. The widths in between are all the same, m; a head
/// of one dense layer has none.
struct UDV_EXPORT Variant {
  std::string name;
  std::vector<LayerSpec> layers;

  bool has(LayerKind kind) const;
  bool has_hidden() const;  ///< more than one dense layer
  bool has_balls() const;   ///< that steps can be measured by
};

/// All of them, in the order of the paper's tables. Adding one is one more entry.
UDV_EXPORT const std::vector<Variant>& variants();

/// Throws InvalidArgument that lists the known names.
UDV_EXPORT const Variant& variant_named(std::string_view name);

/// "UDV, UDV-s, ...", for messages.
UDV_EXPORT std::string variant_names();

}  // namespace udv::net
