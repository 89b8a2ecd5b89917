// SPDX-License-Identifier: MIT
#include "udv/core/checkpoint.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/archive.hpp"
#include "core/require.hpp"
#include "udv/core/version.hpp"

namespace udv {
namespace {

constexpr std::string_view kMagic = "udv checkpoint\n";
constexpr std::uint32_t kFormat = 2;
constexpr size_t kSumBytes = sizeof(std::uint32_t);

// Of bytes after those with the sum `before`.
std::uint32_t check_sum(std::string_view bytes, std::uint32_t before = 0) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(before, data, bytes.size()));
}

// The settings of "a 1; b 2".
std::vector<std::string> settings_of(std::string_view text) {
  std::vector<std::string> settings;
  while (!text.empty()) {
    const size_t end = std::min(text.find("; "), text.size());
    settings.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return settings;
}

// Settings of `one` that `other` does not have, at most three.
std::string difference(const std::string& one, const std::string& other) {
  const std::vector<std::string> known = settings_of(other);
  std::string text;
  int count = 0;
  for (const std::string& setting : settings_of(one))
    if (std::find(known.begin(), known.end(), setting) == known.end() && ++count <= 3)
      text += (text.empty() ? "" : ", ") + setting.substr(0, 120);
  return text.empty() ? "nothing" : text + (count > 3 ? ", ..." : "");
}

}  // namespace

std::string to_bytes(const Checkpoint& checkpoint) {
  const CheckpointFrame frame =
      checkpoint_frame(checkpoint.job, checkpoint.fingerprint, checkpoint.payload);
  return frame.head + checkpoint.payload + frame.tail;
}

CheckpointFrame checkpoint_frame(std::string_view job, std::string_view fingerprint,
                                 std::string_view payload) {
  ArchiveWriter archive{std::string(kMagic)};
  std::uint32_t format = kFormat;
  std::string program = version();
  std::uint64_t size = payload.size();  // a payload is a text
  archive(format, program, job, fingerprint, size);
  CheckpointFrame frame{archive.take(), ""};
  const std::uint32_t sum = check_sum(payload, check_sum(frame.head));
  frame.tail.assign(reinterpret_cast<const char*>(&sum), kSumBytes);
  return frame;
}

bool starts_checkpoint(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

Checkpoint checkpoint_from_bytes(std::string_view bytes) {
  require(starts_checkpoint(bytes), "not a checkpoint of udv");
  require(bytes.size() > kMagic.size() + kSumBytes, "checkpoint: cut short");
  const std::string_view content = bytes.substr(0, bytes.size() - kSumBytes);
  std::uint32_t sum = 0, format = 0;
  std::memcpy(&sum, bytes.data() + content.size(), kSumBytes);
  require(sum == check_sum(content),
          "checkpoint: the check sum does not match, the file is damaged or cut short");
  ArchiveReader archive(content.substr(kMagic.size()));
  archive(format);
  require(format == kFormat, "checkpoint: format ", format, " found, ", kFormat, " expected");
  Checkpoint checkpoint;
  std::string program;
  archive(program, checkpoint.job, checkpoint.fingerprint, checkpoint.payload);
  require(archive.at_end(), "checkpoint: bytes left over at the end");
  require(program == version(), "a checkpoint of udv ", program.substr(0, 40),
          " found, this is udv ", version());
  return checkpoint;
}

void check_belongs(const Checkpoint& checkpoint, const std::string& job,
                   const std::string& fingerprint) {
  require(checkpoint.job == job, "a checkpoint of the job '", checkpoint.job.substr(0, 40),
          "' found, '", job, "' expected");
  require(checkpoint.fingerprint == fingerprint,
          "made by a run with other settings (other options or other data): ",
          difference(checkpoint.fingerprint, fingerprint), " found, ",
          difference(fingerprint, checkpoint.fingerprint), " expected");
}

}  // namespace udv
