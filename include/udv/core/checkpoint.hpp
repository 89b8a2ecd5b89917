// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "udv/core/export.hpp"

namespace udv {

/// The file that a stopped job leaves behind: the state of its computation, and what it belongs to.
struct Checkpoint {
  std::string job;          ///< "complete", "train", ...
  std::string fingerprint;  ///< everything that decides the numbers: "lr 0.1; seed 0; ..."
  std::string payload;      ///< the state, which only the computation understands
};

/// Magic line, format, program version, job, fingerprint, payload; a CRC-32 of all that at the end.
UDV_EXPORT std::string to_bytes(const Checkpoint& checkpoint);

/// What stands before and after the payload in that file, for payloads too large to be copied.
struct CheckpointFrame {
  std::string head, tail;
};
UDV_EXPORT CheckpointFrame checkpoint_frame(std::string_view job, std::string_view fingerprint,
                                            std::string_view payload);

/// Throws InvalidArgument where the bytes are not a whole checkpoint of this format and version.
UDV_EXPORT Checkpoint checkpoint_from_bytes(std::string_view bytes);

/// Whether a file that starts with these bytes claims to be a checkpoint.
UDV_EXPORT bool starts_checkpoint(std::string_view bytes);

/// Throws InvalidArgument unless the checkpoint belongs to this job with these settings; names the
/// settings that differ.
UDV_EXPORT void check_belongs(const Checkpoint& checkpoint, const std::string& job,
                              const std::string& fingerprint);

}  // namespace udv
