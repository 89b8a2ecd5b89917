// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {

/// A trained network with what its inputs and outputs mean.
template <typename Real>
struct Model {
  Network<Real> network;
  Preprocessing preprocessing;
  std::map<std::string, std::string> notes;  ///< further metadata: how it was trained
};

/// model.safetensors: tensors named as in a state_dict (U.weight, D.weight, V.weight, ...), and in
/// the metadata variant, sizes, preprocessing and notes. Written atomically.
template <typename Real>
UDV_EXPORT std::string model_bytes(const Model<Real>& model);
template <typename Real>
UDV_EXPORT void write_model(const std::filesystem::path& path, const Model<Real>& model);

/// Throws IoError naming the path where the file is no such model, or a tensor is missing, of
/// another shape, or not finite.
template <typename Real>
UDV_EXPORT Model<Real> read_model(const std::filesystem::path& path);

}  // namespace udv::net
