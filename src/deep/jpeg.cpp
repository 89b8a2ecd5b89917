// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "deep/picture.hpp"
#include "io/unpacked_size.hpp"
#include "udv/io/file.hpp"

#ifdef UDV_WITH_JPEG
#include <csetjmp>
#include <cstdint>
#include <cstdio>
// libjpeg's header needs the one above.
#include <jpeglib.h>

namespace udv::deep {
namespace {

// libjpeg calls error_exit and never comes back from it.
struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

void leave(j_common_ptr info) {
  auto* const errors = reinterpret_cast<ErrorManager*>(info->err);
  (*info->err->format_message)(info, errors->text);
  std::longjmp(errors->back, 1);
}

// A cut-off file is a warning of libjpeg's, which would fill the rest with gray.
void refuse_warning(j_common_ptr info, int level) {
  if (level < 0) leave(info);
}

// A few bytes may announce a picture of many gigabytes.
bool is_too_large(const std::string& bytes, const jpeg_decompress_struct& info) {
  const std::uintmax_t unpacked = std::uintmax_t{3} * info.output_height * info.output_width;
  return unpacked > io::detail::most_unpacked(bytes.size());
}

// Nothing with a destructor is made between setjmp and longjmp.
bool decode(const std::string& bytes, io::RgbImage& image, ErrorManager& errors) {
  jpeg_decompress_struct info = {};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leave;
  errors.base.emit_message = refuse_warning;
  if (setjmp(errors.back)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_calc_output_dimensions(&info);
  if (is_too_large(bytes, info)) {
    std::snprintf(errors.text, sizeof errors.text,
                  "%u x %u pixels announced, fewer expected (option max-expand)",
                  info.output_height, info.output_width);
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_start_decompress(&info);
  image.height = info.output_height;
  image.width = info.output_width;
  image.pixels.resize(3 * static_cast<size_t>(info.output_height) * info.output_width);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + 3 * static_cast<size_t>(info.output_scanline) *
                                             static_cast<size_t>(info.output_width);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

}  // namespace

io::RgbImage read_jpeg(const std::filesystem::path& path) {
  const std::string bytes = io::read_bytes(path);
  io::RgbImage image;
  ErrorManager errors = {};
  require<IoError>(decode(bytes, image, errors), path.string(),
                   ": damaged JPEG file found: ", errors.text);
  return image;
}

}  // namespace udv::deep
#else
namespace udv::deep {

io::RgbImage read_jpeg(const std::filesystem::path& path) {
  throw IoError(
      message(path.string(), ": a JPEG file, but this program was built without libjpeg"));
}

}  // namespace udv::deep
#endif
