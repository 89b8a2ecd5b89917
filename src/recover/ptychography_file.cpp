// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "core/require.hpp"
#include "recover/ptychography_numbered.hpp"
#include "recover/ptychography_setup.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/io/variables.hpp"
#include "udv/recover/ptychography_field.hpp"

namespace udv {
namespace {

using detail::ImageAxis;
using detail::PtychographySetup;
using detail::Region;

// The images of the file as it has them.
struct FileImages {
  std::string what;  // "file: variable 'name'", the start of a message about them
  std::vector<Index> shape;
  Index images = 0, rows = 0, cols = 0;
  bool images_last = true;
};

// Images [begin, end) of them.
struct FileBatch {
  const FileImages& all;
  Index begin, end;
  io::ComplexArray array;

  double value(Index l, Index r, Index c) const {
    const Index at = all.images_last ? (r * all.cols + c) * (end - begin) + l - begin
                                     : ((l - begin) * all.rows + r) * all.cols + c;
    return array.values[static_cast<size_t>(at)].real();
  }
};

std::string variable_words(const io::VariableFile& file, const std::string& name) {
  return message(file.path().string(), ": variable '", name, "'");
}

// Files whose one array has no name: pages, pictures, .npy.
bool is_stack(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::filesystem::is_directory(path) || extension == ".tif" || extension == ".tiff" ||
         extension == ".npy";
}

// How many LEDs the setup names one by one; a spiral goes on for ever.
std::optional<Index> named_leds(const detail::LedSetup& leds) {
  if (leds.order == detail::LedOrder::kSpiral) return std::nullopt;
  if (leds.order == detail::LedOrder::kList) return static_cast<Index>(leds.list.size());
  return leds.rows * leds.cols;
}

// Of an array of three axes. Where the setup does not say, the axis that is as long as the setup
// has LEDs, or the one that leaves square images; the usual one where neither or both do.
bool images_are_last(const std::vector<Index>& shape, const PtychographySetup& setup,
                     bool usually_last) {
  if (setup.data.image_axis != ImageAxis::kUsual) return setup.data.image_axis == ImageAxis::kLast;
  const auto leds = named_leds(setup.leds);
  if (leds && (shape[0] == *leds) != (shape[2] == *leds)) return shape[2] == *leds;
  const bool square_first = shape[1] == shape[2], square_last = shape[0] == shape[1];
  return square_first == square_last ? usually_last : square_last;
}

FileImages describe_images(const io::VariableFile& file, const PtychographySetup& setup) {
  const std::string& name = setup.data.variable;
  FileImages found;
  found.what = variable_words(file, name);
  for (const io::Variable& variable : file.variables())
    if (variable.name == name && variable.is_numeric) found.shape = variable.shape;
  if (found.shape.empty()) file.read(name);  // says what there is instead
  const auto& shape = found.shape;
  require<IoError>(shape.size() == 3 && std::find(shape.begin(), shape.end(), 0) == shape.end(),
                   found.what, " has shape ", io::shape_text(shape),
                   ", a stack of images with three axes expected, none of them empty");
  found.images_last = images_are_last(shape, setup, !is_stack(file.path()));
  found.images = found.images_last ? shape[2] : shape[0];
  require<IoError>(found.images > 1, found.what, " has shape ", io::shape_text(shape),
                   ": 1 image found, one for each of several LEDs expected");
  found.rows = found.images_last ? shape[0] : shape[1];
  found.cols = found.images_last ? shape[1] : shape[2];
  return found;
}

// Counted along the other axis images would be square, and no number of LEDs says otherwise.
void check_axes(const FileImages& file, const detail::LedSetup& leds) {
  const bool told = named_leds(leds) == file.images || leds.count == file.images;
  const Index kept = file.images_last ? file.cols : file.rows;
  require<IoError>(told || file.rows == file.cols || file.images != kept, file.what, " has shape ",
                   io::shape_text(file.shape), ": ", file.images, " images of ", file.rows, " x ",
                   file.cols, " found, square ones expected: [data] image_axis = \"",
                   file.images_last ? "first" : "last", "\", or [leds] count = ", file.images,
                   " where they are not square");
}

// 0 where all colours are: neither a smaller depth nor a mean of colours may round to it.
RowMatrix<double> read_mask_picture(const std::filesystem::path& path) {
  if (io::describe_png(path).colour.starts_with("gray"))
    return io::read_png_levels(path).cast<double>();
  const io::RgbImage picture = io::read_png_rgb(path);
  RowMatrix<double> values(picture.height, picture.width);
  for (Index i = 0; i < values.size(); ++i) {
    const auto* const pixel = picture.pixels.data() + 3 * i;
    values.data()[i] = pixel[0] != 0 || pixel[1] != 0 || pixel[2] != 0 ? 1 : 0;
  }
  return values;
}

// Pixels of a picture or array of the size of the images, or of the part that is used, that are not
// 0 say nothing.
std::vector<bool> read_mask(const std::filesystem::path& path, const FileImages& images,
                            const Region& region) {
  if (path.empty()) return {};
  RowMatrix<double> values;
  if (path.extension() == ".png") {
    values = read_mask_picture(path);
  } else {
    const io::VariableFile file(path);
    require<IoError>(file.variables().size() == 1, path.string(), ": ", file.variables().size(),
                     " arrays found, 1 expected, the mask");
    const io::ComplexArray array = file.read(file.variables().front().name);
    std::vector<Index> shape = array.shape;
    if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
    require<IoError>(shape.size() == 2, path.string(), ": a mask of shape ",
                     io::shape_text(array.shape), " found, rows x columns expected");
    values.resize(shape[0], shape[1]);
    for (Index i = 0; i < values.size(); ++i)
      values.data()[i] = array.values[static_cast<size_t>(i)] == 0.0 ? 0 : 1;
  }
  const bool whole = values.rows() == images.rows && values.cols() == images.cols;
  const bool part = values.rows() == region.rows && values.cols() == region.cols;
  require<IoError>(whole || part, path.string(), ": a mask of ", values.rows(), " x ",
                   values.cols(), " found, ", images.rows, " x ", images.cols,
                   " expected, as the images");
  std::vector<bool> mask;
  for (Index r = 0; r < region.rows; ++r)
    for (Index c = 0; c < region.cols; ++c)
      mask.push_back(values(whole ? region.row + r : r, whole ? region.col + c : c) != 0);
  return mask;
}

double read_number(const io::VariableFile& file, const std::string& name) {
  const io::ComplexArray array = file.read(name);
  const std::string what = variable_words(file, name);
  require<IoError>(array.size() == 1 && !array.is_complex, what, " has shape ",
                   io::shape_text(array.shape), ", one real number expected");
  require<IoError>(std::isfinite(array.values[0].real()), what, " is not finite");
  return array.values[0].real();
}

// The images of the file, some at a time.
template <typename Use>
void for_each_batch(const io::VariableFile& file, const std::string& variable,
                    const FileImages& images, const Use& use) {
  constexpr Index kPixels = Index{1} << 23;  // of a batch, 16 bytes each
  const Index axis = images.images_last ? 2 : 0;
  const Index step = file.reads_slices_along(axis)
                         ? std::max<Index>(1, kPixels / (images.rows * images.cols))
                         : images.images;
  for (Index begin = 0; begin < images.images; begin += step) {
    const Index end = std::min(begin + step, images.images);
    const FileBatch batch{images, begin, end, file.read(variable, {axis, begin, end})};
    require<IoError>(!batch.array.is_complex, images.what,
                     " is complex, amplitudes or intensities (real numbers) expected");
    use(batch);
  }
}

// The pixels of image l that are used. Throws on one that makes no sense, naming its place in the
// file.
void cut_image(const FileBatch& batch, Index l, const Region& region, const std::vector<bool>& mask,
               std::vector<double>& pixels) {
  for (Index r = region.row; r < region.row + region.rows; ++r)
    for (Index c = region.col; c < region.col + region.cols; ++c) {
      const double value = batch.value(l, r, c);
      const Index at = (r - region.row) * region.cols + c - region.col;
      if (!mask.empty() && mask[static_cast<size_t>(at)] && !(value >= 0)) {
        pixels.push_back(0);
        continue;
      }
      require<IoError>(std::isfinite(value) && value >= 0, batch.all.what, ": image ", l + 1,
                       ", pixel (", r, ", ", c, ") is ", value,
                       ", a number of at least 0 expected");
      pixels.push_back(value);
    }
}

// The images and pixels that are used, in memory or on disk.
void cut_images(const io::VariableFile& file, const std::string& variable, const FileImages& images,
                const Region& region, double most_in_memory, PtychographyField& field) {
  ImageStack& stack = field.images;
  stack.images = static_cast<Index>(field.numbers.size());
  stack.rows = region.rows;
  stack.cols = region.cols;
  const bool large = static_cast<double>(field.measurements()) * sizeof(double) > most_in_memory;
  const auto store =
      large ? std::make_shared<ImageStore>(region.rows, region.cols, stack.kind) : nullptr;
  if (!large) stack.values.reserve(static_cast<size_t>(field.measurements()));
  for_each_batch(file, variable, images, [&](const FileBatch& batch) {
    for (const Index l : field.numbers) {
      if (l < batch.begin || l >= batch.end) continue;
      cut_image(batch, l, region, field.mask, stack.values);
      if (!store) continue;
      store->append(stack.values);
      stack.values.clear();
    }
  });
  field.stored = store;
}

// Empty where the setup names no pupil, or the one it names is all zero. One of whole images is
// sampled anew for a part of them: the frequencies are the same, their number is not.
RowMatrix<std::complex<double>> read_pupil(const io::VariableFile& file, const std::string& name,
                                           const FileImages& images, const Region& region) {
  if (name.empty()) return {};
  const io::ComplexArray array = file.read(name);
  const bool zero = std::all_of(array.values.begin(), array.values.end(),
                                [](const auto& value) { return value == 0.0; });
  if (zero) return {};
  const bool part = array.shape == std::vector<Index>({region.rows, region.cols});
  const bool whole = array.shape == std::vector<Index>({images.rows, images.cols});
  require<IoError>(part || whole, file.path().string(), ": pupil '", name, "' has shape ",
                   io::shape_text(array.shape), ", ", region.rows, " x ", region.cols,
                   " expected, as the images");
  const RowMatrix<std::complex<double>> given = Eigen::Map<const RowMatrix<std::complex<double>>>(
      array.values.data(), array.shape[0], array.shape[1]);
  return resampled_pupil(given, region.rows, region.cols);
}

// A pupil that cannot be is a mistake in the setup, not in the images.
void check_pupil(const std::filesystem::path& setup_path, const Optics& optics,
                 const Region& region) {
  try {
    optics.validate();
    pupil(optics, region.rows, region.cols);
  } catch (const InvalidArgument& error) {
    throw IoError(message(setup_path.string(),
                          ": [optics] na, wavelength_nm and the pixel size: ", error.what()));
  }
}

}  // namespace

PtychographyField read_ptychography_field(const std::filesystem::path& data_path,
                                          const std::filesystem::path& setup_path,
                                          const PtychographyReading& reading) {
  const PtychographySetup setup = detail::read_setup(setup_path.string());
  const io::VariableFile file(data_path);
  Optics optics = detail::resolve_optics(
      setup, [&](const std::string& name) { return read_number(file, name); });
  const FileImages images = describe_images(file, setup);
  check_axes(images, setup.leds);
  const auto places = detail::led_places(setup.leds, optics, images.images);
  const Region region = detail::image_region(setup.data, images.rows, images.cols);
  check_pupil(setup_path, optics, region);
  PtychographyField field;
  field.drop_bad = reading.drop_bad;
  field.source = images.what;
  field.numbers = detail::used_images(setup.leds, illuminations(optics, places));
  for (const Index l : field.numbers) field.leds.push_back(places[static_cast<size_t>(l)]);
  field.pupil = read_pupil(file, setup.pupil_variable, images, region);
  field.mask = read_mask(reading.mask, images, region);
  field.images.kind = setup.data.kind;
  cut_images(file, setup.data.variable, images, region, reading.most_in_memory, field);
  field.optics = optics;
  field.smallest_upsampling = setup.upsampling == 0;
  if (setup.upsampling > 0) field.optics.upsampling = setup.upsampling;
  calibrate_field(field, reading.calibration, reading.stopped);
  return field;
}

PtychographyData read_ptychography(const std::filesystem::path& data_path,
                                   const std::filesystem::path& setup_path, bool drop_bad,
                                   Calibration calibration) {
  return data_of(read_ptychography_field(data_path, setup_path, {drop_bad, calibration, {}}));
}

}  // namespace udv
