// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "udv/io/safetensors.hpp"
#include "udv/net/adapter.hpp"

namespace udv::net {

/// What the files of adapters have in common: tensors PREFIX BLOCK ENDING.

/// layers.2 before layers.10: runs of digits compare as numbers.
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

/// How the name of a tensor ends, and the part of a block that it is.
struct TensorEnding {
  std::string text;
  char part;
};

/// Tensors by block and part.
using BlockTensors = std::map<std::string, std::map<char, const io::Tensor*>, NaturalOrder>;

/// Throws IoError naming the file at a tensor whose name is built in another way; `otherwise` tells
/// what that may be.
BlockTensors tensors_by_block(const io::SafetensorsFile& file, const std::string& prefix,
                              const std::vector<TensorEnding>& endings,
                              const std::string& otherwise);

/// A block from its parts A and B, with d = 1. Throws IoError naming the file where one is missing,
/// no matrix, not finite, or their ranks differ.
AdapterBlock read_factors(const io::SafetensorsFile& file, const std::string& name,
                          const std::map<char, const io::Tensor*>& parts);

/// The type of floats that its tensors have; F32 where they differ.
std::string number_type_of(const io::SafetensorsFile& file);

/// r finite numbers, whatever the shape. Throws IoError naming the file.
Vector<float> read_numbers(const io::SafetensorsFile& file, const io::Tensor& tensor, Index count);

}  // namespace udv::net
