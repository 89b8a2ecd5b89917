// SPDX-License-Identifier: MIT
#include "mpi/machine_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace udv {
namespace {

size_t at(Index i) {
  return static_cast<size_t>(i);
}

// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// Where the others of a machine find the file of a block, and which one it is.
struct Place {
  std::int64_t process = 0, descriptor = -1, device = 0, file = 0;
};

// A file without a name, in memory. A file that may not be so long would end the process.
int new_file(Index bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < at(bytes)) return -1;
  const int file = ::memfd_create("udv", MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, bytes) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

Place place_of(int file) {
  struct stat found {};
  if (file < 0 || ::fstat(file, &found) != 0) return {};
  return {::getpid(), file, static_cast<std::int64_t>(found.st_dev),
          static_cast<std::int64_t>(found.st_ino)};
}

// The file of another process of this machine. Its number may mean another process where they see
// different ones, as in containers: then it is not the same file.
int open_at(const Place& place) {
  if (place.descriptor < 0) return -1;
  const std::string path =
      "/proc/" + std::to_string(place.process) + "/fd/" + std::to_string(place.descriptor);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const Place found = place_of(file);
  if (found.descriptor >= 0 && found.device == place.device && found.file == place.file)
    return file;
  if (file >= 0) ::close(file);
  return -1;
}

// Memory for some bytes of a file: later there is no place left where it could be refused.
bool reserve(int file, Index begin, Index end) {
  if (begin >= end) return true;
  while (::fallocate(file, 0, begin, end - begin) != 0)
    if (errno != EINTR) return false;
  return true;
}

}  // namespace

struct MachineMemory::Mapping {
  Mapping(int file, Index size)
      : data(::mmap(nullptr, at(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)), bytes(size) {}
  ~Mapping() {
    if (is_there()) ::munmap(data, at(bytes));
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool is_there() const { return data != MAP_FAILED; }
  bool holds(const void* address) const {
    const auto* const begin = static_cast<const char*>(data);
    const auto* const other = static_cast<const char*>(address);
    return other >= begin && other < begin + bytes;
  }

  void* data;
  Index bytes;
};

MachineMemory::MachineMemory() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  // For tests: several machines where there is one. Rank r is on machine r modulo this number.
  const char* const apart = std::getenv("UDV_MPI_MACHINES");
  const char* const share = std::getenv("UDV_MPI_SHARE");  // 0: memory of each process alone
  wanted_ = share == nullptr || std::atoi(share) != 0;
  MPI_Comm machine;
  if (apart && std::atoi(apart) > 0)
    MPI_Comm_split(MPI_COMM_WORLD, rank_ % std::atoi(apart), 0, &machine);
  else
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  first_of_machine_ = rank_;
  MPI_Bcast(&first_of_machine_, 1, MPI_INT, 0, machine);
  MPI_Comm_free(&machine);
  std::vector<int> first(at(size_));
  MPI_Allgather(&first_of_machine_, 1, MPI_INT, first.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) {
    const int owner = first[at(r)];
    if (owner == r) members_.emplace_back();
    machine_.push_back(owner == r ? static_cast<int>(members_.size()) - 1 : machine_[at(owner)]);
    members_[at(machine_.back())].push_back(r);
  }
}

std::shared_ptr<void> MachineMemory::get(Index bytes, const Gather& all_gather) {
  std::vector<Index> bounds;
  for (Index r = 0; r <= size_; ++r) bounds.push_back(r * static_cast<Index>(sizeof(Place)));
  std::vector<Place> places(at(size_));
  const Descriptor made(wanted_ && is_first() ? new_file(bytes) : -1);
  places[at(rank_)] = place_of(made.number());
  all_gather(places.data(), bounds);
  const Descriptor opened(is_first() || !wanted_ ? -1 : open_at(places[at(first_of_machine_)]));
  const Descriptor& file = is_first() ? made : opened;
  const Index own = rank_here(), ranks = ranks_here();
  std::shared_ptr<Mapping> block;
  if (file && reserve(file.number(), bytes * own / ranks, bytes * (own + 1) / ranks))
    block = std::make_shared<Mapping>(file.number(), bytes);
  std::vector<char> there(at(size_));
  there[at(rank_)] = block && block->is_there();
  std::vector<Index> one_each;
  for (Index r = 0; r <= size_; ++r) one_each.push_back(r);
  all_gather(there.data(), one_each);  // and all have opened the file that its owner closes now
  if (!std::all_of(there.begin(), there.end(), [](char yes) { return yes != 0; })) return nullptr;
  std::erase_if(blocks_, [](const auto& old) { return old.expired(); });
  blocks_.push_back(block);
  return {block, block->data};
}

Index MachineMemory::rank_here() const {
  return std::find(here().begin(), here().end(), rank_) - here().begin();
}

bool MachineMemory::holds(const void* data) const {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
    const auto alive = block.lock();
    return alive && alive->holds(data);
  });
}

// Who of a machine takes what a rank elsewhere has written.
int MachineMemory::taker(int sender, int machine) const {
  const std::vector<int>& those = members_[at(machine)];
  return those[at(sender) % those.size()];
}

void MachineMemory::bring(char* data, const std::vector<Index>& bounds,
                          const std::function<void(MPI_Request&)>& wait) {
  constexpr Index kMostBytes = Index{1} << 30;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::vector<MPI_Request> requests;
  const auto in_pieces = [&](int owner, const auto& start) {
    for (Index from = bounds[at(owner)]; from < bounds[at(owner) + 1]; from += kMostBytes)
      start(data + from, static_cast<int>(std::min(kMostBytes, bounds[at(owner) + 1] - from)),
            &requests.emplace_back());
  };
  const int own = machine_[at(rank_)];
  for (int r = 0; r < size_; ++r)
    if (machine_[at(r)] != own && taker(r, own) == rank_)
      in_pieces(r, [&](char* to, int bytes, MPI_Request* request) {
        MPI_Irecv(to, bytes, MPI_BYTE, r, 0, MPI_COMM_WORLD, request);
      });
  for (int m = 0; m < static_cast<int>(members_.size()); ++m)
    if (m != own)
      in_pieces(rank_, [&](const char* from, int bytes, MPI_Request* request) {
        MPI_Isend(from, bytes, MPI_BYTE, taker(rank_, m), 0, MPI_COMM_WORLD, request);
      });
  for (MPI_Request& request : requests) wait(request);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace udv
