// SPDX-License-Identifier: MIT
// Checkpoints: the envelope, and the states of recovery and of training. The first byte chooses;
// magic line, names and check sum are added here, as a fuzzer would never guess them.
#include <zlib.h>

#include "core/archive.hpp"
#include "core/require.hpp"
#include "input_file.hpp"
#include "recover/solver/solve_state.hpp"
#include "udv/core/checkpoint.hpp"
#include "udv/net/trainer.hpp"

using namespace udv;

namespace {

template <typename Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

std::string named(std::string name, std::string_view body) {
  ArchiveWriter writer;
  writer(name);
  return writer.take() + std::string(body);
}

template <typename Scalar>
void recovery(std::string_view body) {
  solve_state_from_bytes<Scalar>(named(message("solve ", scalar_name<Scalar>()), body));
}

template <typename Real>
void training(std::string_view body) {
  net::train_state_from_bytes<Real>(named(message("training ", scalar_name<Real>()), body));
}

void envelope(std::string_view body) {
  const std::string bytes = "udv checkpoint\n" + std::string(body);
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  checkpoint_from_bytes(bytes + raw(static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()))));
}

constexpr void (*kReaders[])(std::string_view) = {recovery<double>, recovery<std::complex<float>>,
                                                  training<float>, training<double>, envelope};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::view(data, size);
  try {
    kReaders[data[0] % std::size(kReaders)](bytes.substr(1));
    checkpoint_from_bytes(bytes);
  } catch (const InvalidArgument&) {
  }
  return 0;
}
