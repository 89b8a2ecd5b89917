// SPDX-License-Identifier: MIT
// module_laws MODULE REFERENCE [ENTRIES]: every loop of a device module against the same loop of
// another one, twice (same bits), for float and double; then times of images and, where not 0, at
// this many entries. Needs nothing but the two modules, so it runs where the library cannot be
// built.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "recover/device/module.hpp"

namespace {

using namespace udv::device;
constexpr int kNoDevice = 77;

using Outputs = std::map<std::string, std::vector<double>>;

const Module& load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(3);
  }
  const Module* const module = reinterpret_cast<GetModule>(dlsym(library, kModuleSymbol))();
  if (const char* const why = module->start()) {
    std::fprintf(stderr, "%s: %s\n", path, why);
    std::exit(kNoDevice);
  }
  return *module;
}

template <typename T>
const Kernels<T>& kernels(const Module& module) {
  if constexpr (sizeof(T) == 4)
    return module.singles;
  else
    return module.doubles;
}

struct Sparse {
  std::int64_t rows, cols;
  std::vector<std::int32_t> first, other, entry;
  std::int64_t size() const { return first.back(); }
};

// Some rows are empty, one has many entries; entries are numbered backwards.
Sparse sparse(std::int64_t rows, std::int64_t cols, std::int64_t mean, unsigned seed) {
  std::mt19937 engine(seed);
  Sparse result{rows, cols, {0}, {}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t count = i % 7 == 3 ? 0 : static_cast<std::int64_t>(engine() % (2 * mean));
    if (i == 5) count = std::min<std::int64_t>(cols, 20 * mean);
    for (std::int64_t n = 0; n < count; ++n)
      result.other.push_back(static_cast<std::int32_t>(engine() % cols));
    result.first.push_back(static_cast<std::int32_t>(result.other.size()));
  }
  for (std::int64_t s = 0; s < result.size(); ++s)
    result.entry.push_back(static_cast<std::int32_t>(result.size() - 1 - s));
  return result;
}

template <typename T>
class OnModule {
 public:
  OnModule(const Module& module, const Sparse& sparse)
      : m(module),
        k(kernels<T>(module)),
        p(module.make_pattern(sparse.rows, sparse.cols, sparse.first.data(), sparse.other.data(),
                              sparse.entry.data())) {}
  ~OnModule() {
    for (void* const memory : memory_) m.release(memory);
    m.release_pattern(p);
  }

  template <typename U>
  U* array(std::size_t size) {
    auto* const memory = static_cast<U*>(m.allocate(size * sizeof(U)));
    m.zero(memory, size * sizeof(U));
    memory_.push_back(memory);
    return memory;
  }
  template <typename U>
  U* put(const std::vector<U>& values) {
    U* const memory = array<U>(values.size());
    m.upload(memory, values.data(), values.size() * sizeof(U));
    return memory;
  }
  template <typename U>
  std::vector<double> get(const U* from, std::size_t size) {
    std::vector<U> values(size);
    m.download(values.data(), from, size * sizeof(U));
    return {values.begin(), values.end()};
  }

  const Module& m;
  const Kernels<T>& k;
  Pattern* p;

 private:
  std::vector<void*> memory_;
};

template <typename T>
std::vector<T> normals(std::size_t size, unsigned seed, double scale = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> draw;
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(scale * draw(engine));
  return values;
}

// Lines with zeros behind them.
template <typename T>
std::vector<T> lines(std::int64_t count, std::int64_t width, unsigned seed) {
  const std::int64_t stride = line_stride<T>(width);
  auto values = normals<T>(static_cast<std::size_t>(count * stride), seed);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t c = width; c < stride; ++c)
      values[static_cast<std::size_t>(i * stride + c)] = 0;
  return values;
}

// Means and small covariances A A^T.
template <typename T>
std::vector<T> records(std::int64_t count, std::int64_t D, unsigned seed) {
  const std::int64_t stride = record_stride<T>(D);
  std::vector<T> values(static_cast<std::size_t>(count * stride));
  const auto means = normals<double>(static_cast<std::size_t>(count * D), seed);
  const auto roots = normals<double>(static_cast<std::size_t>(count * D), seed + 1, 0.1);
  for (std::int64_t i = 0; i < count; ++i) {
    T* const record = values.data() + i * stride;
    for (std::int64_t r = 0; r < D; ++r) {
      record[r] = static_cast<T>(means[static_cast<std::size_t>(i * D + r)]);
      for (std::int64_t c = 0; c <= r; ++c)
        record[D + packed_size(r) + c] =
            static_cast<T>(roots[static_cast<std::size_t>(i * D + r)] *
                               roots[static_cast<std::size_t>(i * D + c)] +
                           (r == c ? 0.01 : 0.0));
    }
  }
  return values;
}

template <typename T>
std::vector<T> positive(std::size_t size, unsigned seed) {
  auto values = normals<T>(size, seed);
  for (std::size_t t = 0; t < size; ++t)
    values[t] = t % 11 == 4 ? T(0) : static_cast<T>(0.5 + std::abs(values[t]));
  return values;
}

template <typename T>
void run_entries(OnModule<T>& on, const Sparse& s, std::int64_t width, Outputs& out) {
  const auto n = static_cast<std::size_t>(s.size());
  const std::int64_t stride = line_stride<T>(width), counts[2] = {s.rows, s.cols};
  T* const x[2] = {on.put(lines<T>(s.rows, width, 1)), on.put(lines<T>(s.cols, width, 2))};
  T* const q[2] = {on.put(lines<T>(s.rows, width, 3)), on.put(lines<T>(s.cols, width, 4))};
  T* const value = on.put(normals<T>(n, 5));
  T* const by_entry_weight = on.put(positive<T>(n, 6));
  T *const z = on.template array<T>(n), *const back = on.template array<T>(n);
  on.k.products(on.p, x[0], x[1], width, z);
  out["products"] = on.get(z, n);
  on.k.unplace(on.p, z, back);
  out["unplace"] = on.get(back, n);
  T* pairs[2];
  for (int side = 0; side < 2; ++side) {
    pairs[side] = on.template array<T>(static_cast<std::size_t>(2 * counts[side] * stride));
    on.k.pairs(x[side], q[side], counts[side], width, pairs[side]);
  }
  for (int side = 0; side < 2; ++side) {
    const std::string tag = side == 0 ? " rows" : " cols";
    const auto size = static_cast<std::size_t>(counts[side] * stride);
    T *const placed = on.template array<T>(n), *const weight = on.template array<T>(n);
    on.k.place(on.p, side, value, placed);
    on.k.place(on.p, side, by_entry_weight, weight);
    out["place" + tag] = on.get(placed, n);
    const auto bias = normals<double>(static_cast<std::size_t>(s.rows + s.cols), 8);
    double left_squares = 0;
    std::vector<double> left(static_cast<std::size_t>(counts[side]));
    on.k.line_sums(on.p, side, placed, weight, 0.3, bias.data(), nullptr, left.data(), nullptr);
    out["line sums, own" + tag] = left;
    on.k.line_sums(on.p, side, placed, nullptr, 0.3, bias.data(), bias.data() + counts[side],
                   left.data(), &left_squares);
    out["line sums" + tag] = left;
    out["line squares" + tag] = {left_squares};
    T* const y = on.template array<T>(size);
    on.k.adjoint(on.p, side, placed, x[1 - side], width, T(0.5), false, y);
    on.k.adjoint(on.p, side, placed, q[1 - side], width, T(2), true, y);
    out["adjoint" + tag] = on.get(y, size);
    double squares = 0;
    on.k.residual(on.p, side, x[side], x[1 - side], width, placed, weight, T(1), false, y,
                  &squares);
    out["residual" + tag] = on.get(y, size);
    out["squares" + tag] = {squares};
    on.k.residual(on.p, side, x[side], x[1 - side], width, placed, nullptr, T(1), false, nullptr,
                  &squares);
    out["squares alone" + tag] = {squares};
    on.k.normal(on.p, side, pairs[side], pairs[1 - side], width, weight, false, y);
    on.k.normal(on.p, side, pairs[side], pairs[1 - side], width, nullptr, true, y);
    out["normal" + tag] = on.get(y, size);
    const auto packed = static_cast<std::size_t>(counts[side] * packed_size(width));
    T *const blocks = on.template array<T>(packed), *const factors = on.template array<T>(packed);
    on.k.blocks(on.p, side, x[1 - side], width, weight, true, false, blocks);
    out["blocks" + tag] = on.get(blocks, packed);
    out["trace" + tag] = {on.k.trace(blocks, counts[side], width)};
    on.k.factor(blocks, 3.0, counts[side], width, factors);
    on.k.solve(factors, x[side], counts[side], width, y);
    out["solve" + tag] = on.get(y, size);
  }
  std::vector<double> sums(static_cast<std::size_t>(width * width));
  on.k.overlap(on.p, x[0], x[1], width, sums.data());
  out["overlap"] = {sums.begin(), sums.begin() + width};
  on.k.gram(x[0], s.rows, width, sums.data());
  out["gram"] = sums;
  on.k.column_products(x[0], q[0], s.rows, width, sums.data());
  out["column products"] = {sums.begin(), sums.begin() + width};
  const auto matrix = normals<double>(static_cast<std::size_t>(width * (width + 1)), 7);
  T* const product =
      on.template array<T>(static_cast<std::size_t>(s.rows * line_stride<T>(width + 1)));
  on.k.multiply(x[0], s.rows, width, matrix.data(), width + 1, product);
  out["multiply"] = on.get(product, static_cast<std::size_t>(s.rows * line_stride<T>(width + 1)));
  out["dot"] = {on.k.dot(x[0], q[0], s.rows * stride)};
  on.k.combine(T(2), x[0], T(-3), q[0], q[0], s.rows * stride);
  on.k.scale_columns(q[0], matrix.data(), s.rows, width);
  out["combine"] = on.get(q[0], static_cast<std::size_t>(s.rows * stride));
}

template <typename T>
void run_bayes(OnModule<T>& on, const Sparse& s, std::int64_t D, Outputs& out) {
  const auto n = static_cast<std::size_t>(s.size());
  const std::int64_t stride = record_stride<T>(D), counts[2] = {s.rows, s.cols};
  T* const rec[2] = {on.put(records<T>(s.rows, D, 11)), on.put(records<T>(s.cols, D, 13))};
  std::vector<double> prior(static_cast<std::size_t>(D), 0.7);
  if (D > 2) prior[0] = prior[2] = 0;
  for (int side = 0; side < 2; ++side) {
    const std::string tag = side == 0 ? " rows" : " cols";
    double* const value = on.put(normals<double>(n, 15));
    T* const weight = on.put(positive<T>(n, 16));
    const auto size = static_cast<std::size_t>(counts[side] * stride);
    T* const own = on.template array<T>(size);
    std::vector<double> mean(static_cast<std::size_t>(D)),
        means(static_cast<std::size_t>(packed_size(D))),
        spread = means, squares(static_cast<std::size_t>(counts[side]));
    const BayesTask task{D, 0.3, 0.8, prior.data(), true};
    BayesTotals totals{0, 0, 0, 0, mean.data(), means.data(), spread.data()};
    on.k.bayes_update(on.p, side, &task, rec[1 - side], value, weight, own, &totals,
                      squares.data());
    out["bayes update" + tag] = on.get(own, size);
    out["bayes sums" + tag] = {totals.lines, totals.log_det, totals.residual, totals.squares};
    out["bayes means" + tag] = means;
    out["bayes spread" + tag] = spread;
    out["bayes mean" + tag] = mean;
    out["bayes lines" + tag] = squares;
    ResidualStatistics found;
    double *const weighted = on.template array<double>(n), *const x = on.template array<double>(n);
    on.k.bayes_residuals(on.p, side, rec[side], rec[1 - side], D, 0.3, value, weight, 2.0, &found,
                         weighted, x);
    out["bayes residuals" + tag] = {found.sum, found.squares, found.largest, found.beyond};
    out["bayes weighted" + tag] = on.get(weighted, n);
    out["bayes predicted" + tag] = on.get(x, n);
    const auto noise = positive<double>(static_cast<std::size_t>(counts[side]), 17);
    double sums[3];
    on.k.bayes_weigh(on.p, side, weight, noise.data(), nullptr, x, 0.2, weight, sums);
    out["bayes weigh" + tag] = on.get(weight, n);
    out["bayes weigh sums" + tag] = {sums, sums + 3};
  }
  const auto map = normals<double>(static_cast<std::size_t>(D * D), 18);
  on.k.bayes_transform(rec[0], s.rows, D, map.data(), prior.data());
  out["bayes transform"] = on.get(rec[0], static_cast<std::size_t>(s.rows * stride));
  std::vector<std::int64_t> parts(static_cast<std::size_t>(D + 2));
  for (std::int64_t r = 0; r < D + 2; ++r)
    parts[static_cast<std::size_t>(r)] = r % 3 == 1 ? -1 : D - 1 - r % D;
  const auto wider = static_cast<std::size_t>(s.rows * record_stride<T>(D + 2));
  T* const next = on.template array<T>(wider);
  on.k.bayes_rearrange(rec[0], D, s.rows, parts.data(), D + 2, next);
  on.k.bayes_set_means(next, D + 2, s.rows, 1, 1,
                       on.put(normals<double>(static_cast<std::size_t>(2 * s.rows), 19)), 2);
  out["bayes rearrange"] = on.get(next, wider);
  double* const plain = on.template array<double>(static_cast<std::size_t>(s.rows * (D + 2)));
  on.k.bayes_means(next, D + 2, s.rows, 0, D + 2, plain);
  out["bayes get means"] = on.get(plain, static_cast<std::size_t>(s.rows * (D + 2)));
  on.k.bayes_means(next, D + 2, s.rows, 1, D, plain);
  out["bayes some means"] = on.get(plain, static_cast<std::size_t>(s.rows * D));
  float* const variances = on.template array<float>(static_cast<std::size_t>(2 * s.rows * (D + 2)));
  on.k.bayes_variances(next, D + 2, s.rows, variances);
  out["bayes variances"] = on.get(variances, static_cast<std::size_t>(2 * s.rows * (D + 2)));
}

// Down and right of each image.
std::vector<double> shifts_of(std::int64_t images) {
  std::vector<double> shifts = normals<double>(static_cast<std::size_t>(2 * images), 37);
  for (double& shift : shifts) shift = 0.9 * std::sin(shift);
  shifts[1] = 0;
  return shifts;
}

// Images of two kinds: transfers of their own, or one with supports and shifts.
template <typename T>
void run_images(OnModule<T>& on, std::int64_t columns, bool own, Outputs& out) {
  const std::string tag = own ? " own" : " shared";
  const std::int64_t rows = 37, cols = 41, low_rows = 12, low_cols = 15, images = 9;
  const auto pixels = static_cast<std::size_t>(low_rows * low_cols);
  const std::size_t measured = images * pixels, stride = line_stride<T>(2 * columns);
  std::vector<std::int32_t> windows;
  for (std::int32_t l = 0; l < images; ++l) {
    windows.push_back(l / 3 * 12 + l % 2);
    windows.push_back(l % 3 * 13);
  }
  auto transfer = normals<T>(2 * pixels * (own ? images : 1), 31);
  for (std::size_t i = 0; i < transfer.size(); ++i)
    if (i / 2 % low_cols < 2 || i / 2 % low_cols > 11) transfer[i] = 0;
  float* const supports = on.put(positive<float>(measured, 32));
  const std::vector<double> shifts = shifts_of(images);
  const ImagingShape shape{rows,
                           cols,
                           low_rows,
                           low_cols,
                           images,
                           own ? images : 1,
                           windows.data(),
                           own ? nullptr : shifts.data(),
                           own};
  Imaging* const made = on.k.make_imaging(&shape, transfer.data(), own ? nullptr : supports);
  T* const u = on.put(lines<T>(rows * cols, 2 * columns, 33));
  T *const psi = on.template array<T>(2 * measured * columns), *const at = on.template array<T>(
                                                                   2 * measured * columns);
  T* const sum = on.template array<T>(rows * cols * stride);
  T *const z = on.template array<T>(measured), *const b = on.put(positive<T>(measured, 34));
  on.k.project(made, u, columns, psi);
  out["project" + tag] = on.get(psi, 2 * measured * columns);
  const auto d = positive<double>(static_cast<std::size_t>(columns), 35);
  double squares = 0;
  on.k.project(made, u, columns, at);
  on.k.intensity(psi, measured, columns, d.data(), b, true, z, &squares);
  out["intensity" + tag] = on.get(z, measured);
  out["intensity squares" + tag] = {squares};
  out["scaled" + tag] = on.get(psi, 2 * measured * columns);
  on.k.overlaps(at, psi, measured, columns, d.data(), true, z);
  on.k.scale_fields(b, measured, columns, psi);
  out["overlaps" + tag] = on.get(psi, 2 * measured * columns);
  on.k.back_project(made, psi, columns, sum);
  out["back project" + tag] = on.get(sum, rows * cols * stride);
  T* const weights = on.put(positive<T>(static_cast<std::size_t>(rows * cols), 36));
  on.k.weigh_lines(weights, u, rows * cols, 2 * columns, true, sum);
  out["weigh" + tag] = on.get(sum, rows * cols * stride);
  on.m.release_imaging(made);
}

// One column: amplitudes, backgrounds, the images of a factor on the pupil.
template <typename T>
void run_amplitudes(OnModule<T>& on, bool moved, Outputs& out) {
  const std::string tag = moved ? " moved" : "";
  const std::int64_t side = 40, low = 14, images = 6;
  const std::size_t pixels = low * low, measured = images * pixels;
  std::vector<std::int32_t> windows;
  for (std::int32_t l = 0; l < images; ++l) {
    windows.push_back(4 * l);
    windows.push_back(26 - 3 * l);
  }
  const std::vector<double> shifts = shifts_of(images);
  const ImagingShape shape{
      side, side, low, low, images, 1, windows.data(), moved ? shifts.data() : nullptr, false};
  const std::int64_t wide = moved ? low + 2 : low;  // samples of a factor on the pupil
  Imaging* const made = on.k.make_imaging(&shape, normals<T>(2 * pixels, 41).data(), nullptr);
  T* const u = on.put(lines<T>(side * side, 2, 42));
  T *const psi = on.template array<T>(2 * measured), *const e = on.template array<T>(2 * measured);
  T* const inverse = on.template array<T>(measured);
  T *const a = on.put(positive<T>(measured, 43)), *const w = on.put(positive<T>(measured, 44));
  const ImageData<T> data{a, w, images, static_cast<std::int64_t>(pixels)};
  const auto backgrounds = positive<double>(images, 45);
  const std::vector<double> moving{1, 0, 1, 1, 0, 1};
  std::vector<double> slopes(2 * images);
  double squares = 0;
  on.k.project(made, u, 1, psi);
  on.k.slopes(psi, &data, backgrounds.data(), slopes.data());
  out["slopes" + tag] = slopes;
  on.k.amplitude_residual(psi, &data, backgrounds.data(), true, &squares);
  out["amplitude squares" + tag] = {squares};
  out["amplitude pull" + tag] = on.get(psi, 2 * measured);
  on.k.project(made, u, 1, e);
  on.k.directions(e, &data, backgrounds.data(), inverse);
  out["directions" + tag] = on.get(e, 2 * measured);
  out["inverse" + tag] = on.get(inverse, measured);
  on.k.keep_changes(e, inverse, &data, moving.data(), psi);
  out["changes" + tag] = on.get(psi, 2 * measured);
  Imaging* const seen = on.k.seen_imaging(made, u);
  T* const q = on.put(lines<T>(wide * wide, 2, 46));
  on.k.project(seen, q, 1, psi);
  out["seen" + tag] = on.get(psi, 2 * measured);
  on.k.back_project(seen, psi, 1, q);
  out["seen back" + tag] = on.get(q, wide * wide * line_stride<T>(2));
  T *const light = on.template array<T>(side * side), *const of_pupil =
                                                          on.template array<T>(wide * wide);
  on.k.coverage(made, backgrounds.data(), light);
  on.k.coverage(seen, backgrounds.data(), of_pupil);
  out["seen coverage" + tag] = on.get(of_pupil, wide * wide);
  on.k.shifted_inverse(light, T(0.5), light, side * side);
  out["coverage" + tag] = on.get(light, side * side);
  for (Imaging* const one : {made, seen}) on.m.release_imaging(one);
}

// Many blocks, one, and a chain; an array that is sent in pieces.
void run_module(const Module& m, Outputs& out) {
  const auto blocks_of = [&](const std::string& name, const Sparse& s) {
    Pattern* const p =
        m.make_pattern(s.rows, s.cols, s.first.data(), s.other.data(), s.entry.data());
    std::vector<std::int32_t> label(static_cast<std::size_t>(s.rows + s.cols));
    std::vector<char> marks(label.size(), 1);
    for (const bool some : {false, true}) {
      for (std::size_t n = 0; some && n < marks.size(); n += 5) marks[n] = 0;
      const std::string tag = name + (some ? ", some" : "");
      out[tag + " blocks"] = {
          static_cast<double>(m.connected_blocks(p, marks.data(), label.data()))};
      out[tag + " labels"] = {label.begin(), label.end()};
    }
    m.release_pattern(p);
  };
  blocks_of("few entries", sparse(500, 400, 1, 3));
  blocks_of("many entries", sparse(50, 30, 40, 4));
  Sparse chain{2000, 2000, {0}, {}, {}};  // row i has the columns i and i - 1, in a mixed order
  for (std::int64_t i = 0; i < chain.rows; ++i) {
    const std::int64_t at = i * 791 % chain.rows;
    for (const std::int64_t col : {at, at - 1})
      if (col >= 0) chain.other.push_back(static_cast<std::int32_t>(col));
    chain.first.push_back(static_cast<std::int32_t>(chain.other.size()));
  }
  for (std::int64_t s = 0; s < chain.size(); ++s)
    chain.entry.push_back(static_cast<std::int32_t>(s));
  blocks_of("chain", chain);
  const auto numbers = normals<float>(7'000'001, 5);
  std::vector<float> back(numbers.size());
  void* const there = m.allocate(numbers.size() * sizeof(float));
  m.upload(there, numbers.data(), numbers.size() * sizeof(float));
  m.download(back.data(), there, numbers.size() * sizeof(float));
  m.release(there);
  out["transfer"] = {back == numbers ? 1.0 : 0.0};
}

template <typename T>
Outputs outputs(const Module& module, const Sparse& s, std::int64_t width) {
  Outputs out;
  OnModule<T> on(module, s);
  run_entries<T>(on, s, width, out);
  if (width <= kMostBayesWidth) run_bayes<T>(on, s, width, out);
  for (const bool own : {false, true})
    if (width <= 17) run_images<T>(on, width, own, out);
  if (width == 1)
    for (const bool moved : {false, true}) run_amplitudes<T>(on, moved, out);
  if (width == 1) run_module(module, out);
  return out;
}

// max |a - b| over max |a|
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 1e-300, apart = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(a[i]));
    apart = std::isfinite(a[i] - b[i]) ? std::max(apart, std::abs(a[i] - b[i])) : 1e300;
  }
  return apart / largest;
}

int failures = 0;

// Sums of some hundred terms of random sign; systems are of condition 100 or so.
template <typename T>
void compare(const Module& module, const Module& reference, std::int64_t width) {
  const Sparse s = sparse(311, 173, 24, 3);
  const Outputs a = outputs<T>(reference, s, width), b = outputs<T>(module, s, width),
                again = outputs<T>(module, s, width);
  const double tolerance = 100 * std::numeric_limits<T>::epsilon() * std::sqrt(1.0 + width);
  double worst = 0;
  std::string where;
  for (const auto& [name, expected] : a) {
    const double apart = difference(expected, b.at(name));
    // These are single numbers whatever the module computes with.
    const bool rounded = name == "bayes variances";
    if (apart > worst && !rounded) worst = apart, where = name;
    if (!(apart <= (rounded ? 100 * std::numeric_limits<float>::epsilon() : tolerance))) {
      std::printf("FAILED  %-24s float%zu width %3lld: %.2e apart, at most %.1e expected\n",
                  name.c_str(), 8 * sizeof(T), static_cast<long long>(width), apart, tolerance);
      ++failures;
    }
    if (b.at(name) != again.at(name)) {
      std::printf("FAILED  %-24s float%zu width %3lld: other bits in a second run\n", name.c_str(),
                  8 * sizeof(T), static_cast<long long>(width));
      ++failures;
    }
  }
  std::printf("%zu loops, float%zu, width %3lld: at most %.2e apart (%s); same bits twice\n",
              a.size(), 8 * sizeof(T), static_cast<long long>(width), worst, where.c_str());
}

double seconds_of(const Module& module, const std::function<void()>& work) {
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    module.wait();
    const auto start = std::chrono::steady_clock::now();
    work();
    module.wait();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Times at a million lines a side, rank 10.
template <typename T>
void measure(const Module& module, std::int64_t entries) {
  const std::int64_t n = 1000000, width = 10, D = 11, mean = entries / n;
  Sparse s{n, n, {0}, std::vector<std::int32_t>(static_cast<std::size_t>(entries)), {}};
  std::uint64_t state = 1;
  for (auto& other : s.other) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    other = static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(n));
  }
  for (std::int64_t i = 1; i <= n; ++i) s.first.push_back(static_cast<std::int32_t>(i * mean));
  s.entry.resize(s.other.size());
  for (std::size_t t = 0; t < s.entry.size(); ++t) s.entry[t] = static_cast<std::int32_t>(t);
  const auto start = std::chrono::steady_clock::now();
  OnModule<T> on(module, s);
  module.wait();
  std::printf("float%zu, %lld entries: pattern %.2f s\n", 8 * sizeof(T),
              static_cast<long long>(entries),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  const std::size_t bytes = std::size_t{4} << 30;
  char *const from = on.template array<char>(bytes), *const to = on.template array<char>(bytes);
  const double copy = 2.0 * bytes / seconds_of(module, [&] { module.copy(to, from, bytes); });
  std::printf("  copy                     %8.0f GB/s\n", copy / 1e9);
  const auto report = [&](const char* name, double seconds, double touched) {
    std::printf("  %-24s %8.3f ms %8.0f GB/s in sectors = %3.0f %% of a copy\n", name,
                1e3 * seconds, touched / seconds / 1e9, 100 * touched / seconds / copy);
  };
  const auto sectors = [](std::int64_t numbers) {
    return 32.0 * static_cast<double>((numbers * static_cast<std::int64_t>(sizeof(T)) + 31) / 32);
  };
  const double m = static_cast<double>(entries);
  T* const x = on.put(lines<T>(n, width, 1));
  T* const y = on.template array<T>(static_cast<std::size_t>(n * line_stride<T>(width)));
  T* const pairs = on.template array<T>(static_cast<std::size_t>(2 * n * line_stride<T>(width)));
  T* const value = on.template array<T>(static_cast<std::size_t>(entries));
  report("pairs", seconds_of(module, [&] { on.k.pairs(x, x, n, width, pairs); }),
         4.0 * n * line_stride<T>(width) * sizeof(T));
  for (int side = 0; side < 2; ++side)
    report(side == 0 ? "normal, rows" : "normal, columns",
           seconds_of(module,
                      [&] { on.k.normal(on.p, side, pairs, pairs, width, nullptr, false, y); }),
           m * (4 + sectors(2 * line_stride<T>(width))));
  report("residual, rows",
         seconds_of(
             module,
             [&] { on.k.residual(on.p, 0, x, x, width, value, nullptr, T(1), false, y, nullptr); }),
         m * (4 + sizeof(T) + sectors(line_stride<T>(width))));
  T* const blocks = on.template array<T>(static_cast<std::size_t>(n * packed_size(width)));
  report("blocks",
         seconds_of(module, [&] { on.k.blocks(on.p, 0, x, width, nullptr, false, false, blocks); }),
         m * (4 + sectors(line_stride<T>(width))));
  report("factor", seconds_of(module, [&] { on.k.factor(blocks, 1.0, n, width, blocks); }),
         2.0 * n * packed_size(width) * sizeof(T));
  report("solve", seconds_of(module, [&] { on.k.solve(blocks, x, n, width, y); }),
         1.0 * n * (packed_size(width) + 2 * width) * sizeof(T));
  report("dot", seconds_of(module, [&] { on.k.dot(x, y, n * line_stride<T>(width)); }),
         2.0 * n * line_stride<T>(width) * sizeof(T));
  T *const rec = on.put(records<T>(n, D, 2)), *const own = on.put(records<T>(n, D, 3));
  double* const values = on.template array<double>(static_cast<std::size_t>(entries));
  std::vector<double> prior(D, 1.0), mean_sum(D), means(66), spread(66), line_squares(1000000);
  BayesTotals totals{0, 0, 0, 0, mean_sum.data(), means.data(), spread.data()};
  for (const bool measured : {false, true}) {
    const BayesTask task{D, 0, 1, prior.data(), measured};
    report(measured ? "bayes update, measured" : "bayes update",
           seconds_of(module,
                      [&] {
                        on.k.bayes_update(on.p, 0, &task, rec, values, nullptr, own, &totals,
                                          nullptr);
                      }),
           m * (12 + sectors(record_stride<T>(D)) + (measured ? 12 + sectors(D) : 0)));
  }
  const BayesTask lines_too{D, 0, 1, prior.data(), true};
  report("the same, by lines",
         seconds_of(module,
                    [&] {
                      on.k.bayes_update(on.p, 0, &lines_too, rec, values, nullptr, own, &totals,
                                        line_squares.data());
                    }),
         m * (24 + sectors(record_stride<T>(D)) + sectors(D)));
  const std::vector<double> map(121, 0.01);
  report("bayes transform",
         seconds_of(module, [&] { on.k.bayes_transform(own, n, D, map.data(), prior.data()); }),
         2.0 * n * record_stride<T>(D) * sizeof(T));
  if (const char* const error = module.failed()) {
    std::printf("FAILED  %s\n", error);
    ++failures;
  }
}

// Images of the sizes that people have: 29 of 80 x 80 with 20 columns, 225 of 128 x 128 with one.
template <typename T>
void measure_images(const Module& module, std::int64_t side, std::int64_t low, std::int64_t images,
                    std::int64_t columns) {
  OnModule<T> on(module, sparse(8, 8, 2, 1));
  const std::size_t pixels = low * low, measured = images * pixels;
  std::vector<std::int32_t> windows;
  for (std::int32_t l = 0; l < images; ++l) {
    windows.push_back(static_cast<std::int32_t>(l * 37 % (side - low)));
    windows.push_back(static_cast<std::int32_t>(l * 61 % (side - low)));
  }
  auto transfer = normals<T>(2 * pixels, 1);
  for (std::size_t i = 0; i < pixels; ++i)  // a disc of 0.35 of the side
    if (std::hypot(i / low - 0.5 * low, i % low - 0.5 * low) > 0.35 * low)
      transfer[2 * i] = transfer[2 * i + 1] = 0;
  const ImagingShape shape{side, side, low, low, images, 1, windows.data(), nullptr, false};
  Imaging* const made = on.k.make_imaging(&shape, transfer.data(), nullptr);
  T* const u = on.put(lines<T>(side * side, 2 * columns, 2));
  T* const psi = on.template array<T>(2 * measured * columns);
  T *const z = on.template array<T>(measured), *const b = on.put(positive<T>(measured, 4));
  const std::vector<double> d(static_cast<std::size_t>(columns), 1.0), moving(images, 1.0);
  double squares = 0;
  const auto report = [&](const char* name, const std::function<void()>& work) {
    std::printf("  %-24s %8.1f us\n", name, 1e6 * seconds_of(module, work));
  };
  std::printf("float%zu, %lld images of %lld x %lld, %lld columns\n", 8 * sizeof(T),
              static_cast<long long>(images), static_cast<long long>(low),
              static_cast<long long>(low), static_cast<long long>(columns));
  report("project", [&] { on.k.project(made, u, columns, psi); });
  report("intensity",
         [&] { on.k.intensity(psi, measured, columns, d.data(), b, true, z, nullptr); });
  report("intensity, squares",
         [&] { on.k.intensity(psi, measured, columns, d.data(), b, true, z, &squares); });
  report("back project", [&] { on.k.back_project(made, psi, columns, u); });
  const ImageData<T> data{b, b, images, static_cast<std::int64_t>(pixels)};
  std::vector<double> slopes(2 * images);
  report("slopes", [&] { on.k.slopes(psi, &data, moving.data(), slopes.data()); });
  T* const e = on.template array<T>(2 * measured);
  report("keep changes", [&] { on.k.keep_changes(e, z, &data, moving.data(), psi); });
  report("dot", [&] { on.k.dot(u, u, side * side * line_stride<T>(2 * columns)); });
  on.m.release_imaging(made);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const Module &module = load(argv[1]), &reference = load(argv[2]);
  std::printf("%s against %s\n", module.name(), reference.name());
  // A module against itself shows that this program works; narrow lines are enough for that.
  const bool itself = std::string_view(argv[1]) == argv[2];
  for (const std::int64_t width : {1, 2, 3, 8, 11, 17, 24, 33, 60, 100, 200}) {
    if (itself && width > 17) break;
    compare<float>(module, reference, width);
    compare<double>(module, reference, width);
  }
  if (const char* const error = module.failed()) {
    std::printf("FAILED  %s\n", error);
    ++failures;
  }
  if (argc > 3) {
    measure_images<float>(module, 160, 80, 29, 20);
    measure_images<float>(module, 512, 128, 225, 1);
  }
  if (argc > 3 && std::atoll(argv[3]) > 0) {
    measure<float>(module, std::atoll(argv[3]));
    measure<double>(module, std::atoll(argv[3]));
  }
  std::printf("%d failures\n", failures);
  return failures > 0;
}
