// SPDX-License-Identifier: MIT
#include "gzip.hpp"

#include <zlib.h>

#include <algorithm>

#include "core/require.hpp"
#include "unpacked_size.hpp"

namespace udv::io::detail {
namespace {

// zlib counts in 32 bits: input and output are handed over in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;
constexpr std::size_t kOutputStep = std::size_t{1} << 18;

class Inflater {
 public:
  Inflater(const std::string& name, std::string_view packed, int window_bits, const char* what)
      : name_(name), packed_(packed), what_(what) {
    require<IoError>(inflateInit2(&stream_, window_bits) == Z_OK, name_,
                     ": zlib cannot be started");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::string unpack_all() {
    do {
      unpack_member();
      inflateReset(&stream_);
    } while (taken_ < packed_.size());
    return result();
  }

  std::string unpack_first() {
    unpack_member();
    return result();
  }

  // So many bytes, fewer where there are fewer.
  std::string unpack_start(std::size_t count) {
    enough_ = count;
    do {
      unpack_member();
      inflateReset(&stream_);
    } while (taken_ < packed_.size() && used_ < enough_);
    used_ = std::min(used_, count);
    return result();
  }

 private:
  std::string result() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

  void unpack_member() {
    int state = Z_OK;
    while (state != Z_STREAM_END && used_ < enough_) {
      const std::size_t before = taken_ + used_;
      state = unpack_piece();
      require<IoError>(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR, name_,
                       ": damaged ", what_,
                       " data found: ", stream_.msg ? stream_.msg : "no detail");
      require<IoError>(state == Z_STREAM_END || taken_ + used_ > before, name_, ": ", what_,
                       " data ends after ", packed_.size(), " bytes, more expected");
      require_expansion(name_, packed_.size(), used_);
    }
  }

  int unpack_piece() {
    if (bytes_.size() - used_ < kOutputStep) bytes_.resize(used_ + kOutputStep);
    const std::size_t offered = std::min(packed_.size() - taken_, kPiece);
    const std::size_t room = std::min(bytes_.size() - used_, kPiece);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + taken_));
    stream_.avail_in = static_cast<uInt>(offered);
    stream_.next_out = reinterpret_cast<Bytef*>(&bytes_[used_]);
    stream_.avail_out = static_cast<uInt>(room);
    const int state = inflate(&stream_, Z_NO_FLUSH);
    taken_ += offered - stream_.avail_in;
    used_ += room - stream_.avail_out;
    return state;
  }

  const std::string& name_;
  std::string_view packed_;
  const char* what_;
  std::string bytes_;
  std::size_t taken_ = 0;
  std::size_t used_ = 0;
  std::size_t enough_ = std::string::npos;
  z_stream stream_{};
};

}  // namespace

std::string gunzip(const std::string& name, std::string_view packed) {
  return Inflater(name, packed, 16 + MAX_WBITS, "gzip").unpack_all();
}

std::string gunzip_start(const std::string& name, std::string_view packed, std::size_t count) {
  return Inflater(name, packed, 16 + MAX_WBITS, "gzip").unpack_start(count);
}

std::string inflate_zlib(const std::string& name, std::string_view packed) {
  return Inflater(name, packed, MAX_WBITS, "zlib").unpack_first();
}

}  // namespace udv::io::detail
