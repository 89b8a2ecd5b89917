// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/types.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/jobs/inspect.hpp"

namespace udv::jobs {

using Path = std::filesystem::path;

/// A kind of file that inspect knows. Both functions throw IoError naming the file.
struct FileKind {
  const char* name;
  std::vector<std::string_view> extensions;  ///< where none fits, the first bytes tell
  bool (*starts)(std::string_view bytes);    ///< do these first bytes tell the kind? May be null
  std::string (*brief)(const Path& file);    ///< in a few words, for a table
  void (*show)(const Path& file, const InspectOptions& options, InspectReport& report);
};

// One per kind; a kind is one of these and its row in inspect.cpp.
std::string brief_safetensors(const Path& file);
void show_safetensors(const Path& file, const InspectOptions& options, InspectReport& report);
/// A native adapter, or the folder of PEFT.
void show_adapter(const Path& path, const InspectOptions& options, InspectReport& report);
std::string brief_onnx(const Path& file);
void show_onnx(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_npy(const Path& file);
void show_npy(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_variables(const Path& file);
void show_variables(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_table(const Path& file);
void show_table(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_png(const Path& file);
void show_png(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_json(const Path& file);
void show_json(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_settings(const Path& file);
void show_settings(const Path& file, const InspectOptions& options, InspectReport& report);
std::string brief_checkpoint(const Path& file);
void show_checkpoint(const Path& file, const InspectOptions& options, InspectReport& report);

/// First bytes of the kinds whose name does not tell.
bool starts_safetensors(std::string_view bytes);
/// Also those of earlier versions, which show_checkpoint refuses by name.
bool looks_like_checkpoint(std::string_view bytes);

// What the kinds have in common.

/// Numbers of a matrix, or of all matrices of a file, whose spectra are computed unasked.
inline constexpr Index kFewNumbers = 1 << 20;

/// Path and size.
void add_file(const Path& file, InspectReport& report);
/// "3.2 KiB"
std::string size_text(double bytes);
/// Text of others on one line without control characters, shortened.
std::string plain_text(std::string_view text, std::size_t longest = 200);
/// Singular values, and the ranks that they make.
void add_spectrum(const Vector<double>& spectrum, InspectReport& report);
/// A table of tensors; with what SVD pruning would leave of each matrix where asked for, or where
/// all of them are small.
void add_tensors(const std::string& file, const std::vector<io::Tensor>& tensors,
                 const InspectOptions& options, InspectReport& report);

}  // namespace udv::jobs
