// SPDX-License-Identifier: MIT
#include "udv/jobs/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/require.hpp"
#include "io/names.hpp"
#include "io/text.hpp"
#include "jobs/inspect/kinds.hpp"
#include "jobs/run_files.hpp"
#include "udv/io/expansion.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

// By the name, else by the first bytes.
const std::vector<FileKind>& kinds() {
  static const std::vector<FileKind> all{
      {"tensors", {".safetensors"}, starts_safetensors, brief_safetensors, show_safetensors},
      {"ONNX model", {".onnx"}, nullptr, brief_onnx, show_onnx},
      {"array", {".npy", ".npy.gz"}, nullptr, brief_npy, show_npy},
      {"arrays", {".npz", ".mat", ".h5", ".hdf5"}, nullptr, brief_variables, show_variables},
      {"table",
       {".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"},
       nullptr,
       brief_table,
       show_table},
      {"picture", {".png"}, nullptr, brief_png, show_png},
      {"images", {".tif", ".tiff"}, nullptr, brief_variables, show_variables},
      {"run", {".json"}, nullptr, brief_json, show_json},
      {"settings", {".toml"}, nullptr, brief_settings, show_settings},
      {"checkpoint", {}, looks_like_checkpoint, brief_checkpoint, show_checkpoint}};
  return all;
}

// ".csv.gz" of "a.CSV.gz"
std::string extension_of(const fs::path& file) {
  const std::string last = io::detail::lower_case(file.extension().string());
  return last == ".gz" ? io::detail::lower_case(file.stem().extension().string()) + last : last;
}

// Nullptr where none fits.
const FileKind* kind_of(const fs::path& file) {
  const std::string extension = extension_of(file);
  for (const FileKind& kind : kinds())
    if (std::count(kind.extensions.begin(), kind.extensions.end(), extension) > 0) return &kind;
  const std::string start = io::read_start(file, 64);
  for (const FileKind& kind : kinds())
    if (kind.starts && kind.starts(start)) return &kind;
  return nullptr;
}

std::string known_extensions() {
  std::string text;
  for (const FileKind& kind : kinds())
    for (const auto extension : kind.extensions)
      if (!extension.ends_with(".gz")) text += std::string(extension) + ", ";
  return text;
}

void show_file(const fs::path& file, const InspectOptions& options, InspectReport& report) {
  const FileKind* const kind = kind_of(file);
  require<IoError>(kind != nullptr, file.string(), ": a name that ends in ",
                   io::detail::in_quotes(extension_of(file)), " and first bytes ",
                   io::detail::in_quotes(io::read_start(file, 16)), " found, ", known_extensions(),
                   "a checkpoint of udv or the folder of a run expected");
  kind->show(file, options, report);
}

// A file that cannot be read does not hide the others.
std::string brief_of(const FileKind& kind, const fs::path& file) {
  try {
    return kind.brief(file);
  } catch (const IoError& error) {
    return plain_text(error.what(), 120);
  }
}

std::vector<std::string> file_row(const fs::path& file) {
  if (!fs::is_regular_file(file)) return {plain_text(file.filename().string()), "folder", "", ""};
  const FileKind* const kind = kind_of(file);
  return {plain_text(file.filename().string()), kind ? kind->name : "unknown",
          size_text(static_cast<double>(fs::file_size(file))), kind ? brief_of(*kind, file) : ""};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure))
    if (fs::is_regular_file(at->status()) || fs::is_directory(at->status()))
      files.push_back(at->path());
  require<IoError>(!failure, folder.string(), ": cannot be listed: ", failure.message());
  std::sort(files.begin(), files.end());
  return files;
}

// Its adapter or model, else its run.json.
void show_main_file(const fs::path& folder, const InspectOptions& options, InspectReport& report) {
  if (net::adapter_kind(folder) == net::AdapterKind::kPeft)
    return show_adapter(folder, options, report);
  for (const char* name : {"model.safetensors", kRunFile})
    if (fs::exists(folder / name)) return show_file(folder / name, options, report);
}

// That, then all that is in it.
void show_folder(const fs::path& folder, const InspectOptions& options, InspectReport& report) {
  const std::vector<fs::path> files = files_in(folder);
  const auto known = [](const fs::path& file) {
    return fs::is_regular_file(file) && kind_of(file);
  };
  require<IoError>(std::any_of(files.begin(), files.end(), known), folder.string(), ": ",
                   files.size(), " files and folders found, one that udv writes expected");
  show_main_file(folder, options, report);
  std::vector<std::vector<std::string>> rows;
  for (const fs::path& file : files) rows.push_back(file_row(file));
  report.table({"file", "kind", "size", "contents"}, std::move(rows));
}

}  // namespace

void describe(OptionTable& table, InspectInput& input) {
  table
      .add(
          "file", input.file,
          "Tensors, ONNX models, arrays, tables, pictures, run.json, checkpoints, or the folder of "
          "a run or of a PEFT adapter")
      .is_input()
      .called("FILE");
}

void describe(OptionTable& table, InspectOptions& options) {
  table.add("svd", options.svd, "Compute singular values of large arrays as well");
  table.add("energy", options.energy, "Share of the energy that an SVD keeps").share();
  io::add_max_expand(table, options.max_expand);
}

InspectReport inspect(const InspectInput& input, const InspectOptions& options) {
  io::set_max_expand(options.max_expand);
  InspectReport report;
  std::error_code unknown;
  if (fs::is_directory(input.file, unknown))
    show_folder(input.file, options, report);
  else
    show_file(input.file, options, report);
  return report;
}

}  // namespace udv::jobs
