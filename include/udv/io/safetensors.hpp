// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// One tensor of a safetensors file; its bytes lie in the mapped file.
struct UDV_EXPORT Tensor {
  std::string name;
  std::string type;  ///< "F32", "F64", "BF16", "I64", ...
  std::vector<Index> shape;
  std::string_view bytes;

  Index size() const;
  bool is_float() const;  ///< F32, F64, F16 or BF16
};

/// Bytes of one number of such a type, 0 where the type is unknown.
UDV_EXPORT std::size_t tensor_type_size(std::string_view type);

/// The values of a tensor of floats as Real. Throws IoError that starts with `file` where it is of
/// another type, or its bytes are not those of its shape.
template <typename Real>
UDV_EXPORT Vector<Real> tensor_values(const std::string& file, const Tensor& tensor);

/// The bytes of numbers in a type of floats (F32, F64, F16, BF16), rounded to nearest, ties to
/// even; what is too large for the type becomes infinite.
template <typename Real>
UDV_EXPORT std::string tensor_bytes(std::string_view type, const Real* values, Index count);

/// A safetensors file (u64 header length, JSON header, data), mapped into memory: only what is
/// looked at is read. The constructor throws IoError naming the path where the header is damaged,
/// a type is unknown, or tensors lie outside of the file, overlap or have another size than their
/// shape says.
class UDV_EXPORT SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }  ///< in the order of their data
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Nullptr where there is none.
  const Tensor* find(std::string_view tensor) const;
  /// tensor_values of one of its tensors.
  template <typename Real>
  Vector<Real> read(const Tensor& tensor) const;

 private:
  std::string name_;
  std::shared_ptr<const void> mapping_;
  std::vector<Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// A tensor to write.
template <typename Real>
struct NamedTensor {
  std::string name;
  std::vector<Index> shape;
  const Real* values;
};

/// The same as a view of its numbers, F32 or F64.
template <typename Real>
UDV_EXPORT Tensor as_tensor(const NamedTensor<Real>& named);

/// The bytes of such a file; see write_safetensors.
UDV_EXPORT std::string safetensors_bytes(const std::vector<Tensor>& tensors,
                                         const std::map<std::string, std::string>& metadata);
template <typename Real>
UDV_EXPORT std::string safetensors_bytes(const std::vector<NamedTensor<Real>>& tensors,
                                         const std::map<std::string, std::string>& metadata);

/// Writes tensors of float or double (F32, F64) and text metadata, atomically; data begin at a
/// multiple of 8 bytes. Equal contents give equal files.
template <typename Real>
UDV_EXPORT void write_safetensors(const std::filesystem::path& path,
                                  const std::vector<NamedTensor<Real>>& tensors,
                                  const std::map<std::string, std::string>& metadata);

}  // namespace udv::io
