// SPDX-License-Identifier: MIT
#include <zip.h>

#include <memory>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "npy_format.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "unpacked_size.hpp"
#include "variable_format.hpp"

namespace udv::io {
namespace {

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Source = std::unique_ptr<zip_source_t, decltype(&zip_source_free)>;
using Member = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

/// libzip's description of what went wrong.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

Source memory_source(const std::string& name, std::string_view bytes) {
  ZipError error;
  const void* const data = bytes.empty() ? nullptr : bytes.data();
  Source source(zip_source_buffer_create(data, bytes.size(), 0, error.get()), &zip_source_free);
  require<IoError>(source != nullptr, name, ": ", error.text());
  return source;
}

/// The archive takes its own share of the source, which outlives it.
Archive open_archive(const std::string& name, zip_source_t* source, int flags) {
  ZipError error;
  Archive archive(zip_open_from_source(source, flags, error.get()), &zip_discard);
  require<IoError>(archive != nullptr, name,
                   ": an .npz archive expected, but libzip says: ", error.text());
  zip_source_keep(source);
  return archive;
}

void add_member(const std::string& name, zip_t* archive, const std::string& member,
                std::string_view bytes) {
  zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  const zip_int64_t index =
      source ? zip_file_add(archive, member.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && index < 0) zip_source_free(source);
  // A fixed date, 1980-01-01: equal arrays give equal files.
  const auto at = static_cast<zip_uint64_t>(index);
  const bool added = index >= 0 && zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0 &&
                     zip_file_set_dostime(archive, at, 0, 0x21, 0) == 0;
  require<IoError>(added, name, ": array ", detail::in_quotes(member),
                   " cannot be added: ", zip_strerror(archive));
}

/// Writes the archive into its source.
void close_archive(const std::string& name, Archive archive) {
  if (zip_close(archive.get()) != 0) {
    throw IoError(message(name, ": the archive cannot be written: ", zip_strerror(archive.get())));
  }
  static_cast<void>(archive.release());  // a successful close has freed it
}

std::string contents(const std::string& name, zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  const bool opened = zip_source_stat(source, &stat) == 0 && zip_source_open(source) == 0;
  require<IoError>(opened, name, ": the archive cannot be read back");
  std::string bytes(stat.size, '\0');
  const zip_int64_t count = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  require<IoError>(count == static_cast<zip_int64_t>(bytes.size()), name, ": ", count,
                   " bytes of the archive found, ", bytes.size(), " expected");
  return bytes;
}

constexpr std::size_t kWhole = std::string::npos;

/// Reads to the end of the member, or until `enough` bytes are there, instead of allocating the
/// size the archive claims. `unpacked` counts the bytes of all members: many of them that are not
/// too large can be so together.
std::string read_member(const std::string& name, zip_t* archive, zip_uint64_t index,
                        std::size_t enough, std::size_t packed, std::size_t& unpacked) {
  constexpr std::size_t kChunk = 1 << 16;
  const Member member(zip_fopen_index(archive, index, 0), &zip_fclose);
  require<IoError>(member != nullptr, name, ": ", zip_strerror(archive));
  std::string bytes;
  std::size_t used = 0;
  for (zip_int64_t count = 1; count > 0 && used < enough; used += static_cast<std::size_t>(count)) {
    detail::require_expansion(name, packed, unpacked + used);
    bytes.resize(used + kChunk);
    count = zip_fread(member.get(), &bytes[used], kChunk);
    require<IoError>(count >= 0, name,
                     ": damaged archive found: ", zip_file_strerror(member.get()));
  }
  bytes.resize(used);
  unpacked += used;
  return bytes;
}

/// An archive open for reading, from memory.
class NpzReader {
 public:
  explicit NpzReader(const std::filesystem::path& path)
      : name_(path.string()),
        bytes_(read_bytes(path)),
        source_(memory_source(name_, checked_bytes())),
        archive_(open_archive(name_, source_.get(), ZIP_RDONLY)) {}

  /// Calls use(key, where, index) for each array; `where` starts a message.
  template <typename Use>
  void for_each_array(const Use& use) const {
    constexpr std::string_view kSuffix = ".npy";
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_uint64_t k = 0; k < static_cast<zip_uint64_t>(count); ++k) {
      const char* const member = zip_get_name(archive_.get(), k, 0);
      std::string key = member ? member : "";
      if (!key.ends_with(kSuffix)) continue;
      const std::string where = message(name_, ": array ", detail::in_quotes(key));
      key.resize(key.size() - kSuffix.size());
      use(key, where, k);
    }
  }

  std::string read(const std::string& where, zip_uint64_t index, std::size_t enough) const {
    return read_member(where, archive_.get(), index, enough, bytes_.size(), unpacked_);
  }

 private:
  std::string_view checked_bytes() const {
    require<IoError>(!bytes_.empty(), name_, ": empty file found, an .npz archive expected");
    return bytes_;
  }

  std::string name_;
  std::string bytes_;
  mutable std::size_t unpacked_ = 0;  // bytes of the members that were read so far
  Source source_;
  Archive archive_;
};

std::vector<Variable> list_variables(const std::filesystem::path& path) {
  const NpzReader reader(path);
  std::vector<Variable> variables;
  reader.for_each_array([&](const std::string& key, const std::string& where, zip_uint64_t index) {
    const std::string start = reader.read(where, index, detail::kLongestNpyHeader);
    const detail::NpyFile file = detail::parse_npy_header(where, start);
    variables.push_back({key, file.shape, detail::type_name(file), detail::is_numeric(file)});
  });
  return variables;
}

ComplexArray read_variable(const std::filesystem::path& path, const Variable& variable) {
  const NpzReader reader(path);
  std::optional<ComplexArray> array;
  reader.for_each_array([&](const std::string& key, const std::string& where, zip_uint64_t index) {
    if (array || key != variable.name) return;
    const std::string bytes = reader.read(where, index, kWhole);
    array = detail::decode_complex_npy(where, detail::parse_npy_header(where, bytes));
  });
  require<IoError>(array.has_value(), detail::place_of(path, variable),
                   ": the file has changed since it was listed");
  return std::move(*array);
}

}  // namespace

void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, Array>>& arrays) {
  require(!arrays.empty(), "write_npz: no arrays given, at least one expected");
  const std::string name = path.string();
  std::vector<std::string> members;  // libzip reads them when the archive is closed
  for (const auto& [key, array] : arrays) {
    require(detail::element_count(array.shape) == array.values.size(),
            "write_npz: ", array.values.size(), " values found, shape ", shape_text(array.shape),
            " expected");
    members.push_back(npy_bytes(array.shape, array.values.data()));
  }
  const Source source = memory_source(name, {});
  Archive archive = open_archive(name, source.get(), ZIP_CREATE | ZIP_TRUNCATE);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    add_member(name, archive.get(), arrays[k].first + ".npy", members[k]);
  }
  close_archive(name, std::move(archive));
  write_atomically(path, contents(name, source.get()));
}

std::vector<std::pair<std::string, Array>> read_npz(const std::filesystem::path& path) {
  const NpzReader reader(path);
  std::vector<std::pair<std::string, Array>> arrays;
  reader.for_each_array([&](const std::string& key, const std::string& where, zip_uint64_t index) {
    const std::string bytes = reader.read(where, index, kWhole);
    const detail::NpyFile file = detail::parse_npy_header(where, bytes);
    if (detail::is_numeric(file)) arrays.emplace_back(key, detail::decode_npy(where, file));
  });
  return arrays;
}

const detail::VariableFormat detail::kNpzFormat{list_variables, read_variable, false};

}  // namespace udv::io
