// SPDX-License-Identifier: MIT
// Memory of the host to the device and back. The driver copies ordinary memory of the host by one
// thread: large arrays go through pinned pieces that several threads fill and empty.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "common.cuh"

namespace udv::device {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 22, kLarge = 4 * kPiece;
constexpr int kMostLanes = 8, kDeep = 2;

// Two pinned pieces and a stream, for one thread.
struct Lane {
  cudaStream_t stream = nullptr;
  char* piece[kDeep] = {};
  cudaEvent_t done[kDeep] = {};
};

// Made once; empty where there is no pinned memory.
const std::vector<Lane>& lanes() {
  static const std::vector<Lane> made = [] {
    std::vector<Lane> result;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    for (int n = 0; n < std::clamp(cores, 1, kMostLanes); ++n) {
      Lane lane;
      bool there = cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking) == cudaSuccess;
      for (int k = 0; k < kDeep; ++k) {
        void* memory = nullptr;
        there = there && cudaHostAlloc(&memory, kPiece, cudaHostAllocDefault) == cudaSuccess;
        there =
            there && cudaEventCreateWithFlags(&lane.done[k], cudaEventDisableTiming) == cudaSuccess;
        lane.piece[k] = static_cast<char*>(memory);
      }
      if (!there) break;
      result.push_back(lane);
    }
    cudaGetLastError();
    return result;
  }();
  return made;
}

struct Piece {
  std::size_t begin = 0, size = 0;
};

// Pieces of an array, one after the other to whoever asks.
class Pieces {
 public:
  explicit Pieces(std::size_t bytes) : bytes_(bytes) {}
  Piece next() {
    const std::size_t begin = kPiece * taken_.fetch_add(1);
    return begin < bytes_ ? Piece{begin, std::min(kPiece, bytes_ - begin)} : Piece{};
  }

 private:
  std::size_t bytes_;
  std::atomic<std::size_t> taken_{0};
};

cudaError_t send_pieces(const Lane& lane, Pieces& pieces, char* to, const char* from) {
  cudaError_t status = cudaSuccess;
  for (int k = 0;; k = (k + 1) % kDeep) {
    const Piece piece = pieces.next();
    if (piece.size == 0 || status != cudaSuccess) break;
    status = cudaEventSynchronize(lane.done[k]);
    std::memcpy(lane.piece[k], from + piece.begin, piece.size);
    if (status == cudaSuccess)
      status = cudaMemcpyAsync(to + piece.begin, lane.piece[k], piece.size, cudaMemcpyHostToDevice,
                               lane.stream);
    if (status == cudaSuccess) status = cudaEventRecord(lane.done[k], lane.stream);
  }
  const cudaError_t last = cudaStreamSynchronize(lane.stream);
  return status != cudaSuccess ? status : last;
}

// One piece is under way while the one before it is copied.
cudaError_t fetch_pieces(const Lane& lane, Pieces& pieces, char* to, const char* from) {
  cudaError_t status = cudaSuccess;
  Piece waiting[kDeep];
  const auto ask = [&](int k) {
    waiting[k] = pieces.next();
    if (waiting[k].size == 0 || status != cudaSuccess) return;
    status = cudaMemcpyAsync(lane.piece[k], from + waiting[k].begin, waiting[k].size,
                             cudaMemcpyDeviceToHost, lane.stream);
    if (status == cudaSuccess) status = cudaEventRecord(lane.done[k], lane.stream);
  };
  for (int k = 0; k < kDeep; ++k) ask(k);
  for (int k = 0; waiting[k].size > 0 && status == cudaSuccess; k = (k + 1) % kDeep) {
    status = cudaEventSynchronize(lane.done[k]);
    std::memcpy(to + waiting[k].begin, lane.piece[k], waiting[k].size);
    ask(k);
  }
  const cudaError_t last = cudaStreamSynchronize(lane.stream);
  return status != cudaSuccess ? status : last;
}

template <typename Copy>
void by_lanes(std::size_t bytes, const char* what, const Copy& copy) {
  wait();  // what is copied has been made, and nobody needs what is overwritten
  Pieces pieces(bytes);
  std::vector<cudaError_t> status(lanes().size(), cudaSuccess);
  std::vector<std::thread> threads;
  for (std::size_t n = 1; n < lanes().size(); ++n)
    threads.emplace_back([&, n] { status[n] = copy(lanes()[n], pieces); });
  status[0] = copy(lanes()[0], pieces);
  for (std::thread& thread : threads) thread.join();
  for (const cudaError_t each : status) note(each, what);
}

}  // namespace

void send(void* to, const void* from_host, std::size_t bytes) {
  if (bytes < kLarge || lanes().empty())
    return note(cudaMemcpy(to, from_host, bytes, cudaMemcpyHostToDevice), "upload");
  by_lanes(bytes, "upload", [&](const Lane& lane, Pieces& pieces) {
    return send_pieces(lane, pieces, static_cast<char*>(to), static_cast<const char*>(from_host));
  });
}

void fetch(void* to_host, const void* from, std::size_t bytes) {
  if (bytes < kLarge || lanes().empty())
    return note(cudaMemcpy(to_host, from, bytes, cudaMemcpyDeviceToHost), "download");
  by_lanes(bytes, "download", [&](const Lane& lane, Pieces& pieces) {
    return fetch_pieces(lane, pieces, static_cast<char*>(to_host), static_cast<const char*>(from));
  });
}

}  // namespace udv::device
