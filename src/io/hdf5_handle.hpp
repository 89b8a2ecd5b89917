// SPDX-License-Identifier: MIT
#pragma once

// Later versions offer the names of 1.10 too, and give some of them other meanings by default.
#define H5_USE_110_API
#include <hdf5.h>

#include <string>
#include <utility>

namespace udv::io::detail {

/// Keeps HDF5 from printing its errors for as long as it lives; comes before any other call.
class QuietHdf5 {
 public:
  QuietHdf5() {
    // After some damaged files HDF5 cannot close itself and says so when the program ends. Nothing
    // stays open here, so nothing is lost.
    static const herr_t no_closing_words = H5dont_atexit();
    static_cast<void>(no_closing_words);
    H5Eget_auto2(H5E_DEFAULT, &print_, &client_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, client_data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* client_data_ = nullptr;
};

/// An open file, dataset, type, ... of HDF5; false where opening failed.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }

  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  herr_t (*close_)(hid_t) = nullptr;
};

/// What went wrong last, in HDF5's words: the innermost entry of its error stack.
std::string hdf5_reason();

}  // namespace udv::io::detail
