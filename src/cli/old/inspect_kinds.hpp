// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/types.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::cli {

struct InspectOptions {
  bool svd = false;      ///< spectra also where they take time
  double energy = 0.99;  ///< share that a factored matrix keeps
};

/// A kind of file that udv inspect knows. Both functions throw IoError naming the file.
struct FileKind {
  const char* name;
  std::vector<std::string_view> extensions;  ///< where none fits, the first bytes tell
  bool (*starts)(std::string_view bytes);    ///< do these first bytes tell the kind? May be null
  std::string (*brief)(const std::filesystem::path& file);  ///< in a few words, for a table
  void (*show)(const std::filesystem::path& file, const InspectOptions& options);
};

// One per kind; a kind is one of these and its row in inspect.cpp.
std::string brief_safetensors(const std::filesystem::path& file);
void show_safetensors(const std::filesystem::path& file, const InspectOptions& options);
/// A native adapter, or the folder of PEFT.
void show_adapter(const std::filesystem::path& path, const InspectOptions& options);
std::string brief_onnx(const std::filesystem::path& file);
void show_onnx(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_npy(const std::filesystem::path& file);
void show_npy(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_variables(const std::filesystem::path& file);
void show_variables(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_table(const std::filesystem::path& file);
void show_table(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_png(const std::filesystem::path& file);
void show_png(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_json(const std::filesystem::path& file);
void show_json(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_settings(const std::filesystem::path& file);
void show_settings(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_checkpoint(const std::filesystem::path& file);
void show_checkpoint(const std::filesystem::path& file, const InspectOptions& options);
std::string brief_training_state(const std::filesystem::path& file);
void show_training_state(const std::filesystem::path& file, const InspectOptions& options);

/// First bytes of the kinds whose name does not tell.
bool starts_safetensors(std::string_view bytes);
bool starts_checkpoint(std::string_view bytes);
bool starts_training_state(std::string_view bytes);

// What the kinds have in common.

/// Numbers of a matrix, or of all matrices of a file, whose spectra are computed unasked.
inline constexpr Index kFewNumbers = 1 << 20;

void print_row(const std::string& name, const std::string& value);
/// Path and size.
void print_file(const std::filesystem::path& file);
/// "3.2 KiB"
std::string size_text(double bytes);
/// Text of others on one line without control characters, shortened.
std::string plain_text(std::string_view text, std::size_t longest = 200);
/// Singular values, and the ranks that they make.
void print_spectrum(const Vector<double>& spectrum);
/// A table of tensors; with what SVD pruning would leave of each matrix where asked for, or where
/// all of them are small.
void print_tensors(const std::string& file, const std::vector<io::Tensor>& tensors,
                   const InspectOptions& options);

}  // namespace udv::cli
