// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::deep {

/// Which matrices get adapters, of what kind, and how these start. B = 0; d = 1, and 0 for adalora.
struct AdapterOptions {
  std::string method = "lora-udv";  ///< lora, lora-udv or adalora
  /// Of q, k, v, o, gate, up, down; attention is the first four, all are all.
  std::vector<std::string> modules = {"q", "v"};
  Index rank = 16;       ///< of adalora: the mean rank at the end
  Index first_rank = 0;  ///< of adalora at the start; 0: rank
  double alpha = 0;      ///< of lora: the change is alpha / rank B A, as in PEFT; 0: alpha = rank
  /// Of A. normal: with `deviation`; uniform: up to 1 / sqrt(inputs), as in PEFT; sphere: normal,
  /// then |A|_F = 1. adalora: A and B are normal, with rows and columns of length 1, about.
  std::string start = "normal";
  double deviation = 0.1;

  /// The variant of net that the method is: UDV, UV or UDV-unconstrained.
  const std::string& variant() const;
  /// Rank of the arrays: first_rank for adalora.
  Index width() const;
  /// alpha / rank of lora, else 1.
  double scale() const;
  /// Names of single modules, each once.
  std::vector<std::string> module_names() const;
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// lora-udv, lora, adalora.
const std::vector<std::string>& adapter_methods();
/// q, k, v, o, gate, up, down, attention, all.
const std::vector<std::string>& adapter_modules();

}  // namespace udv::deep
