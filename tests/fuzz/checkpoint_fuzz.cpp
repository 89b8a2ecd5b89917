// SPDX-License-Identifier: MIT
// Checkpoints of recovery and of training. The first byte chooses; header and check sum are added
// here, as a fuzzer would never guess them.
#include <zlib.h>

#include "core/archive.hpp"
#include "core/hash.hpp"
#include "input_file.hpp"
#include "udv/core/version.hpp"
#include "udv/net/trainer.hpp"
#include "udv/recover/solver/solve_state.hpp"

using namespace udv;

namespace {

template <typename Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

template <typename Scalar>
void recovery(std::string_view body) {
  std::string bytes = message("udv checkpoint ", version(), " ", scalar_name<Scalar>(), "\n");
  bytes += body;
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  checkpoint_from_bytes<Scalar>(bytes +
                                raw(static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()))));
}

template <typename Real>
void training(std::string_view body) {
  ArchiveWriter writer;
  std::string header = message("udv training state 1 ", scalar_name<Real>());
  writer(header);
  const std::string bytes = writer.take() + std::string(body);
  net::train_state_from_bytes<Real>(bytes + raw(fnv_hash(bytes)));
}

constexpr void (*kReaders[])(std::string_view) = {recovery<double>, recovery<std::complex<float>>,
                                                  training<float>, training<double>};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::view(data, size);
  try {
    kReaders[data[0] % std::size(kReaders)](bytes.substr(1));
    checkpoint_from_bytes<float>(bytes);
  } catch (const InvalidArgument&) {
  }
  return 0;
}
