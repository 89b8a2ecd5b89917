// SPDX-License-Identifier: MIT
// Networks for pictures (network.safetensors), and what pruning makes of them.
#include "input_file.hpp"
#include "udv/net/files/network_file.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("network.safetensors");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)), [](const auto& path) {
    net::NetworkFile network = net::read_network(path);
    try {
      net::prune_network(network, 0.9);
    } catch (const InvalidArgument&) {  // an array of a block is missing or has another size
    }
  });
  return 0;
}
