// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/require.hpp"
#include "support/random_data.hpp"
#include "udv/net/adapter.hpp"

/// Small adapters with random factors.
namespace udv::testing {

inline net::AdapterBlock random_block(const std::string& name, Index outputs, Index inputs,
                                      Index rank, std::uint64_t seed) {
  return {name, random_rows<float>(rank, inputs, seed), random_vector<float>(rank, seed + 1),
          random_rows<float>(outputs, rank, seed + 2)};
}

inline std::string layer(int number, const std::string& module) {
  return message("model.layers.", number, ".self_attn.", module);
}

/// LoRA-UDV with ranks 3, 0, 4 and 1.
inline net::Adapter small_adapter() {
  return {
      {random_block(layer(0, "q_proj"), 6, 8, 3, 1), random_block(layer(0, "v_proj"), 4, 8, 0, 4),
       random_block(layer(2, "q_proj"), 6, 8, 4, 7),
       random_block(layer(10, "v_proj"), 4, 8, 1, 10)},
      "some/model",
      "lora-udv",
      {{"note", "text"}}};
}

/// B diag(d) A, formed.
inline RowMatrix<double> change_of(const net::AdapterBlock& block) {
  return block.B.cast<double>() * block.d.cast<double>().asDiagonal() * block.A.cast<double>();
}

/// Rounding of a product of such factors in single precision: a few units for each of its terms.
inline double rounding_of(const net::AdapterBlock& block) {
  const double magnitude = (block.B.cast<double>() * block.d.cast<double>().asDiagonal()).norm() *
                           block.A.cast<double>().norm();
  return 10 * kEpsilon<float> * magnitude;
}

}  // namespace udv::testing
