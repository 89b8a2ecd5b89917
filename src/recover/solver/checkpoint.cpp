// SPDX-License-Identifier: MIT
#include "udv/recover/solver/checkpoint.hpp"

#include <zlib.h>

#include "core/archive.hpp"
#include "core/instantiate.hpp"
#include "udv/core/version.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, IterationRecord& r) {
  archive(r.iteration, r.seconds, r.objective, r.rank, r.norm_u, r.max_d, r.step);
}

template <typename Archive>
void fields(Archive& archive, ColumnHistory& columns) {
  archive(columns.iteration, columns.norm_u, columns.d);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, Stack<Scalar>& stack) {
  archive(stack.Z, stack.rows, stack.symmetric);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, RankFit<Scalar>& fit) {
  archive(fit.Z, fit.objective, fit.outer, fit.inner);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, BasicGradientState<Scalar>& s) {
  archive(s.factors, s.step_rule, s.iteration, s.objective, s.ball_active);
  archive(s.live, s.live_since, s.grey, s.names, s.stop);
}

template <typename Archive, typename Scalar>
void fields(Archive& archive, BasicCheckpoint<Scalar>& c) {
  archive(c.fingerprint, c.seconds, c.has_gradient, c.gradient);
  archive(c.journal, c.history, c.columns);
}

namespace {

template <typename Scalar>
std::string header() {
  return std::string("udv checkpoint ") + version() + " " + scalar_name<Scalar>() + "\n";
}

std::uint32_t check_sum(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()));
}

}  // namespace

template <typename Scalar>
std::string to_bytes(const BasicCheckpoint<Scalar>& checkpoint) {
  ArchiveWriter archive;
  archive(const_cast<BasicCheckpoint<Scalar>&>(
      checkpoint));  // fields() lists members for both directions
  std::string bytes = header<Scalar>() + archive.take();
  const std::uint32_t sum = check_sum(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return bytes;
}

template <typename Scalar>
BasicCheckpoint<Scalar> checkpoint_from_bytes(std::string_view bytes) {
  std::uint32_t sum = 0;
  require(bytes.substr(0, header<Scalar>().size()) == header<Scalar>(), "not a checkpoint of udv ",
          version(), " with ", scalar_name<Scalar>(), " numbers");
  require(bytes.size() >= header<Scalar>().size() + sizeof(sum), "checkpoint: cut short");
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof(sum), sizeof(sum));
  bytes.remove_suffix(sizeof(sum));
  require(sum == check_sum(bytes), "checkpoint: the check sum does not fit, the file is damaged");
  ArchiveReader archive(bytes.substr(header<Scalar>().size()));
  BasicCheckpoint<Scalar> checkpoint;
  archive(checkpoint);
  require(archive.at_end(), "checkpoint: bytes left over at the end");
  return checkpoint;
}

#define UDV_INSTANTIATE(Scalar)                                  \
  template std::string to_bytes(const BasicCheckpoint<Scalar>&); \
  template BasicCheckpoint<Scalar> checkpoint_from_bytes(std::string_view);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
