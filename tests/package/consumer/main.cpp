// SPDX-License-Identifier: MIT
// Uses the installed library like a stranger: recovers a planted matrix, writes a run folder.
#include <iostream>
#include <udv/udv.hpp>

namespace {

int fail(const std::string& what) {
  std::cerr << "consumer: " << what << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("a folder to write to expected");
  const udv::Planted planted =
      udv::planted_completion({.rows = 60, .cols = 60, .measurements = 700});
  const udv::Recovery result = udv::recover(udv::completion(planted.entries));
  if (result.rank != 3) return fail(result.summary());
  if (planted.relative_error(result.U, result.d, result.U) > 1e-9) return fail("another matrix");

  // Eigen's buffers cross the border between program and library: sizes that are no multiples of 8.
  const udv::Planted odd = udv::planted_completion(
      {.rows = 23, .cols = 17, .symmetric = false, .rank = 1, .measurements = 150});
  const udv::Recovery other = udv::recover(udv::completion(odd.entries));
  if (odd.relative_error(other.U, other.d, other.V) > 1e-9) return fail("another odd matrix");

  udv::io::write_run(argv[1], result);
  const udv::io::Array U = udv::io::read_npy(std::string(argv[1]) + "/U.npy");
  if (U.shape != std::vector<udv::Index>{60, 3})
    return fail("U.npy: " + udv::io::shape_text(U.shape));
  try {
    udv::io::read_entries("/no/such/file.csv");
    return fail("no exception for a missing file");
  } catch (const udv::IoError&) {
    return 0;
  }
}
