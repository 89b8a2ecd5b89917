// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>

#include "core/require.hpp"
#include "deep/picture.hpp"
#include "io/names.hpp"
#include "udv/core/parallel.hpp"
#include "udv/deep/image_set.hpp"
#include "udv/io/images.hpp"
#include "udv/net/dataset.hpp"

namespace udv::deep {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kCifarTen = 3073, kCifarHundred = 3074;
constexpr Index kCifarSide = 32;
constexpr double kMostBytes = 32e9;

std::optional<fs::path> existing(const fs::path& path) {
  for (const fs::path& candidate : {path, fs::path(path.string() + ".gz")})
    if (fs::is_regular_file(candidate)) return candidate;
  return std::nullopt;
}

ImageSet from_labelled(io::LabelledImages images, Index channels, Index height, Index width) {
  ImageSet set{
      images.count,  channels, height, width, std::move(images.bytes), std::move(images.labels),
      images.classes};
  return set;
}

ImageSet read_cifar(const std::vector<fs::path>& files, bool hundred) {
  return from_labelled(io::read_cifar(files, hundred), 3, kCifarSide, kCifarSide);
}

ImageSet read_idx(const fs::path& images) {
  std::string labels = images.filename().string();
  for (const auto& [from, to] : std::initializer_list<std::pair<std::string, std::string>>{
           {"images", "labels"}, {"idx3", "idx1"}})
    if (const size_t at = labels.find(from); at != labels.npos) labels.replace(at, from.size(), to);
  const io::IdxArray array = io::read_idx(images);
  require<IoError>(array.shape.size() == 3, images.string(), ": ", array.shape.size(),
                   " dimensions found, 3 of a file of images expected");
  return from_labelled(io::read_idx_pair(images, images.parent_path() / labels), 1, array.shape[1],
                       array.shape[2]);
}

// MNIST and CIFAR by the names of their files; nothing where there are none.
std::optional<ImageData> read_known(const fs::path& folder) {
  ImageData data;
  if (const auto training = existing(folder / "train-images-idx3-ubyte")) {
    const auto test = existing(folder / "t10k-images-idx3-ubyte");
    data.training = read_idx(*training);
    if (test) data.test = read_idx(*test);
    return data;
  }
  if (existing(folder / "data_batch_1.bin")) {
    std::vector<fs::path> files;
    for (int b = 1; existing(folder / message("data_batch_", b, ".bin")); ++b)
      files.push_back(*existing(folder / message("data_batch_", b, ".bin")));
    data.training = read_cifar(files, false);
    if (const auto test = existing(folder / "test_batch.bin"))
      data.test = read_cifar({*test}, false);
    return data;
  }
  const auto training = existing(folder / "train.bin");
  if (!training) return std::nullopt;
  data.training = read_cifar({*training}, true);
  if (const auto test = existing(folder / "test.bin")) data.test = read_cifar({*test}, true);
  return data;
}

ImageSet read_file(const fs::path& path) {
  if (path.filename().string().find("idx3") != std::string::npos) return read_idx(path);
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  require<IoError>(!failure, path.string(), ": no such file or folder");
  require<IoError>(path.extension() == ".bin" && size > 0 &&
                       (size % kCifarTen == 0 || size % kCifarHundred == 0),
                   path.string(),
                   ": a folder of classes, an IDX file of images (idx3) or a CIFAR .bin expected");
  return read_cifar({path}, size % kCifarTen != 0);
}

bool is_picture(const fs::path& path) {
  const std::string ending = io::detail::lower_case(path.extension().string());
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

io::RgbImage read_picture(const fs::path& path) {
  const bool png = io::detail::lower_case(path.extension().string()) == ".png";
  return png ? io::read_png_rgb(path) : read_jpeg(path);
}

std::vector<fs::path> sorted_entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(".")) continue;
    if (folders ? entry.is_directory() : entry.is_regular_file() && is_picture(entry.path()))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Listing {
  std::vector<std::string> classes;
  std::vector<fs::path> files;
  std::vector<std::int32_t> labels;
};

Listing list_classes(const fs::path& folder) {
  Listing listing;
  for (const fs::path& sub : sorted_entries(folder, true)) {
    const std::vector<fs::path> pictures = sorted_entries(sub, false);
    require<IoError>(!pictures.empty(), sub.string(), ": no picture (PNG, JPEG) of this class");
    listing.files.insert(listing.files.end(), pictures.begin(), pictures.end());
    listing.labels.insert(listing.labels.end(), pictures.size(),
                          static_cast<std::int32_t>(listing.classes.size()));
    listing.classes.push_back(sub.filename().string());
  }
  require<IoError>(listing.classes.size() > 1, folder.string(), ": ", listing.classes.size(),
                   " classes found, at least two sub-folders with pictures expected");
  return listing;
}

// Reads all pictures of a listing; the first error of any thread is thrown.
ImageSet read_listing(const Listing& listing, Index size) {
  ImageSet set{static_cast<Index>(listing.files.size()),  3, size, size, {}, listing.labels,
               static_cast<Index>(listing.classes.size())};
  const double bytes = static_cast<double>(set.count) * static_cast<double>(set.pixels());
  require<IoError>(bytes < kMostBytes, listing.files.front().parent_path().parent_path().string(),
                   ": ", set.count, " pictures of ", size, " x ", size,
                   " do not fit into memory; a smaller image size expected (option image-size)");
  set.bytes.resize(static_cast<size_t>(set.count * set.pixels()));
  std::exception_ptr failure;
  std::mutex guard;
  parallel_blocks(set.count, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) try {
        const io::RgbImage picture =
            resize_and_crop(read_picture(listing.files[static_cast<size_t>(i)]), size);
        char* const out = set.bytes.data() + i * set.pixels();
        for (Index p = 0; p < size * size; ++p)
          for (Index c = 0; c < 3; ++c)
            out[c * size * size + p] =
                static_cast<char>(picture.pixels[static_cast<size_t>(3 * p + c)]);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
      }
  });
  if (failure) std::rethrow_exception(failure);
  return set;
}

ImageData read_class_folders(const fs::path& folder, Index size) {
  ImageData data;
  const fs::path training = folder / "train";
  if (!fs::is_directory(training)) {
    const Listing listing = list_classes(folder);
    data.training = read_listing(listing, size);
    data.class_names = listing.classes;
    return data;
  }
  const Listing listing = list_classes(training);
  data.training = read_listing(listing, size);
  data.class_names = listing.classes;
  for (const char* name : {"test", "val", "valid"}) {
    if (!fs::is_directory(folder / name)) continue;
    const Listing other = list_classes(folder / name);
    require<IoError>(other.classes == listing.classes, (folder / name).string(),
                     ": other classes found than in ", training.string());
    data.test = read_listing(other, size);
    break;
  }
  return data;
}

ImageSet subset(const ImageSet& all, const std::vector<Index>& rows) {
  ImageSet part{
      static_cast<Index>(rows.size()), all.channels, all.height, all.width, {}, {}, all.classes};
  for (const Index row : rows) {
    part.bytes.append(all.bytes, static_cast<size_t>(row * all.pixels()),
                      static_cast<size_t>(all.pixels()));
    part.labels.push_back(all.labels[static_cast<size_t>(row)]);
  }
  return part;
}

void split(const std::string& name, const ImageOptions& options, ImageData& data) {
  try {
    const net::Split parts =
        net::split_rows(data.training.count, options.test_share, options.split_seed);
    const ImageSet all = std::move(data.training);
    data.training = subset(all, parts.train);
    data.test = subset(all, parts.test);
  } catch (const InvalidArgument& error) {
    throw IoError(message(name, ": ", error.what()));
  }
}

// Weights of the old numbers along one line for each new one: a triangle over what it covers.
struct Taps {
  Index first;
  std::vector<double> weights;
};

std::vector<Taps> taps(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  std::vector<Taps> all;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<Index>(0, static_cast<Index>(std::floor(centre - reach)));
    const auto last = std::min(from, static_cast<Index>(std::ceil(centre + reach)));
    Taps line{first, {}};
    double sum = 0;
    for (Index j = first; j < last; ++j) {
      const double distance = std::abs(static_cast<double>(j) + 0.5 - centre) / reach;
      line.weights.push_back(std::max(0.0, 1 - distance));
      sum += line.weights.back();
    }
    for (double& weight : line.weights) weight /= sum;
    all.push_back(std::move(line));
  }
  return all;
}

}  // namespace

io::RgbImage resize_and_crop(const io::RgbImage& image, Index size) {
  const Index shorter = std::min(image.height, image.width);
  const Index height = std::max(size, image.height * size / shorter),
              width = std::max(size, image.width * size / shorter);
  const std::vector<Taps> down = taps(image.height, height), across = taps(image.width, width);
  const Index top = (height - size) / 2, left = (width - size) / 2;
  io::RgbImage result{size, size, std::vector<std::uint8_t>(static_cast<size_t>(3 * size * size))};
  std::vector<double> line(static_cast<size_t>(3 * image.width));
  for (Index i = 0; i < size; ++i) {
    const Taps& rows = down[static_cast<size_t>(top + i)];
    std::fill(line.begin(), line.end(), 0.0);
    for (size_t t = 0; t < rows.weights.size(); ++t) {
      const std::uint8_t* const row =
          image.pixels.data() + 3 * image.width * (rows.first + static_cast<Index>(t));
      for (size_t k = 0; k < line.size(); ++k) line[k] += rows.weights[t] * row[k];
    }
    for (Index j = 0; j < size; ++j) {
      const Taps& columns = across[static_cast<size_t>(left + j)];
      for (Index c = 0; c < 3; ++c) {
        double value = 0;
        for (size_t t = 0; t < columns.weights.size(); ++t)
          value += columns.weights[t] *
                   line[static_cast<size_t>(3 * (columns.first + static_cast<Index>(t)) + c)];
        result.pixels[static_cast<size_t>(3 * (i * size + j) + c)] =
            static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
      }
    }
  }
  return result;
}

ImageData read_images(const fs::path& path, const ImageOptions& options) {
  ImageData data;
  if (fs::is_directory(path)) {
    auto known = read_known(path);
    data = known ? std::move(*known) : read_class_folders(path, options.size);
  } else {
    data.training = read_file(path);
  }
  if (data.test.count == 0) split(path.string(), options, data);
  data.training.classes = data.test.classes = std::max(data.training.classes, data.test.classes);
  require<IoError>(data.test.channels == data.training.channels &&
                       data.test.height == data.training.height &&
                       data.test.width == data.training.width,
                   path.string(), ": pictures of the test part have another size");
  return data;
}

}  // namespace udv::deep
