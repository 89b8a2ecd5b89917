// SPDX-License-Identifier: MIT
#include "unpacked_size.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/require.hpp"
#include "udv/io/expansion.hpp"

namespace udv::io {
namespace {

constexpr double kNeverTooLarge = 64 << 20;
constexpr double kLargest = 0x1p62;
constexpr double kGiB = 1 << 30;

std::atomic<double> most_bytes{ExpansionLimit{}.bytes}, most_fold{ExpansionLimit{}.fold};

}  // namespace

void set_expansion_limit(const ExpansionLimit& limit) {
  most_bytes = limit.bytes;
  most_fold = limit.fold;
}

void add_max_expand(OptionTable& table, double& gib) {
  table
      .add("max-expand", gib,
           "Largest size that packed input (.gz, .npz, .mat, HDF5) may unpack to")
      .positive()
      .measured_in("GiB")
      .default_is("16, and 1,000 times its packed size")
      .keeps_numbers();
}

void set_max_expand(double gib) {
  ExpansionLimit limit;
  if (gib > 0) limit = {gib * kGiB, std::numeric_limits<double>::infinity()};
  set_expansion_limit(limit);
}

ExpansionLimit expansion_limit() {
  return {most_bytes, most_fold};
}

std::uintmax_t detail::most_unpacked(std::uintmax_t packed) {
  const double by_fold = std::max(most_fold * static_cast<double>(packed), kNeverTooLarge);
  return static_cast<std::uintmax_t>(std::min({by_fold, most_bytes.load(), kLargest}));
}

void detail::require_expansion(const std::string& where, std::uintmax_t packed,
                               std::uintmax_t unpacked) {
  const std::uintmax_t most = most_unpacked(packed);
  require<IoError>(unpacked <= most, where, ": ", packed, " bytes unpack to more than ", most,
                   ", which is taken for an attack or damage (option max-expand)");
}

}  // namespace udv::io
