// SPDX-License-Identifier: MIT
// A module that works in host memory, by plain loops: the seam is tested without a device, and a
// device against these loops.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "device/standin_imaging.hpp"
#include "recover/device/module.hpp"

namespace udv::device {

struct Pattern {
  std::int64_t lines[2];
  std::vector<std::int64_t> first[2];
  std::vector<std::int32_t> other[2], entry[2];
};

namespace {

const char* nothing_wrong() {
  const char* const refuse = std::getenv("UDV_STANDIN_REFUSES");
  return refuse;
}
const char* no_error() {
  return nullptr;
}
const char* name() {
  return "stand-in";
}
void memory(std::size_t* free_bytes, std::size_t* all_bytes) {
  const char* const bytes = std::getenv("UDV_STANDIN_BYTES");
  *free_bytes = *all_bytes = bytes ? std::strtoull(bytes, nullptr, 10) : std::size_t{1} << 34;
}
// nullptr where it is larger than a test allows.
void* allocate(std::size_t bytes) {
  const char* const most = std::getenv("UDV_STANDIN_LARGEST");
  return most && bytes > std::strtoull(most, nullptr, 10) ? nullptr : std::malloc(bytes);
}
void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}
void zero(void* at, std::size_t bytes) {
  std::memset(at, 0, bytes);
}
void wait() {}

Pattern* make_pattern(std::int64_t rows, std::int64_t cols, const std::int32_t* first,
                      const std::int32_t* other, const std::int32_t* entry) {
  const auto size = static_cast<std::size_t>(first[rows]);
  auto* const p = new Pattern{{rows, cols}, {}, {}, {}};
  p->first[0].assign(first, first + rows + 1);
  p->other[0].assign(other, other + size);
  p->entry[0].assign(entry, entry + size);
  std::vector<std::int32_t> place(size), row(size);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t s = first[i]; s < first[i + 1]; ++s) row[s] = static_cast<std::int32_t>(i);
  std::iota(place.begin(), place.end(), 0);
  std::stable_sort(place.begin(), place.end(),
                   [&](std::int32_t a, std::int32_t b) { return other[a] < other[b]; });
  p->first[1].assign(static_cast<std::size_t>(cols) + 1, 0);
  for (const std::int32_t s : place) {
    ++p->first[1][static_cast<std::size_t>(other[s]) + 1];
    p->other[1].push_back(row[static_cast<std::size_t>(s)]);
    p->entry[1].push_back(entry[s]);
  }
  std::partial_sum(p->first[1].begin(), p->first[1].end(), p->first[1].begin());
  return p;
}

void release_pattern(Pattern* pattern) {
  delete pattern;
}

// Every node takes the smallest label beside it, until none changes.
std::int64_t connected_blocks(const Pattern* p, const char* marks, std::int32_t* label) {
  const std::int64_t rows = p->lines[0], nodes = rows + p->lines[1];
  std::vector<std::int32_t> now(static_cast<std::size_t>(nodes));
  std::iota(now.begin(), now.end(), 0);
  for (std::vector<std::int32_t> before; before != now;) {
    before = now;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t s = p->first[0][i]; s < p->first[0][i + 1]; ++s) {
        if (!marks[i] || !marks[rows + p->other[0][s]]) continue;
        std::int32_t& col = now[static_cast<std::size_t>(rows + p->other[0][s])];
        now[static_cast<std::size_t>(i)] = col = std::min(now[static_cast<std::size_t>(i)], col);
      }
  }
  std::int64_t blocks = 0;
  for (std::int64_t n = 0; n < nodes; ++n)
    blocks += marks[n] && now[static_cast<std::size_t>(n)] == n;
  if (blocks > 1) std::copy(now.begin(), now.end(), label);
  return blocks;
}

// use(line, place, other line) for all entries as a side sees them.
template <typename Use>
void for_each(const Pattern* p, int side, const Use& use) {
  for (std::int64_t i = 0; i < p->lines[side]; ++i)
    for (std::int64_t s = p->first[side][i]; s < p->first[side][i + 1]; ++s)
      use(i, s, static_cast<std::int64_t>(p->other[side][s]));
}

template <typename T>
struct Loops {
  using Wide = double;

  static double dot(const T* a, const T* b, std::int64_t size) {
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  }
  static void combine(T a, const T* x, T b, const T* y, T* out, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) out[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
  }
  static void restride(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride,
                       std::int64_t lines, std::int64_t width) {
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < out_stride; ++c)
        out[i * out_stride + c] = c < width ? in[i * in_stride + c] : T(0);
  }
  static void from_doubles(const double* in, T* out, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(in[i]);
  }
  static void column_products(const T* a, const T* b, std::int64_t lines, std::int64_t width,
                              double* sums) {
    const std::int64_t stride = line_stride<T>(width);
    std::fill_n(sums, width, 0.0);
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < width; ++c)
        sums[c] += static_cast<double>(a[i * stride + c]) * b[i * stride + c];
  }
  static void scale_columns(T* x, const double* weights, std::int64_t lines, std::int64_t width) {
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < width; ++c)
        x[i * line_stride<T>(width) + c] *= static_cast<T>(weights[c]);
  }
  static void gram(const T* x, std::int64_t lines, std::int64_t width, double* out) {
    const std::int64_t stride = line_stride<T>(width);
    std::fill_n(out, width * width, 0.0);
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t a = 0; a < width; ++a)
        for (std::int64_t b = 0; b < width; ++b)
          out[a * width + b] += static_cast<double>(x[i * stride + a]) * x[i * stride + b];
  }
  static void multiply(const T* x, std::int64_t lines, std::int64_t width, const double* M,
                       std::int64_t columns, T* out) {
    const std::int64_t stride = line_stride<T>(columns);
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < stride; ++c) {
        double sum = 0;
        for (std::int64_t k = 0; c < columns && k < width; ++k)
          sum += x[i * line_stride<T>(width) + k] * M[k * columns + c];
        out[i * stride + c] = static_cast<T>(sum);
      }
  }

  static void place(const Pattern* p, int side, const T* by_entry, T* by_side) {
    for (std::size_t s = 0; s < p->entry[side].size(); ++s)
      by_side[s] = by_entry[p->entry[side][s]];
  }
  static void unplace(const Pattern* p, const T* by_row, T* by_entry) {
    for (std::size_t s = 0; s < p->entry[0].size(); ++s) by_entry[p->entry[0][s]] = by_row[s];
  }
  static double product(const T* a, const T* b, std::int64_t width) {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += static_cast<double>(a[c]) * b[c];
    return sum;
  }
  static void products(const Pattern* p, const T* left, const T* right, std::int64_t width, T* z) {
    const std::int64_t stride = line_stride<T>(width);
    for_each(p, 0, [&](std::int64_t i, std::int64_t s, std::int64_t j) {
      z[s] = static_cast<T>(product(left + i * stride, right + j * stride, width));
    });
  }
  // out_i (+)= scale sum factor(i, s, j) other_j
  template <typename Factor>
  static void gather(const Pattern* p, int side, const T* other, std::int64_t other_stride,
                     std::int64_t width, double scale, bool add, T* out, const Factor& factor) {
    const std::int64_t stride = line_stride<T>(width);
    std::vector<double> sum(static_cast<std::size_t>(stride));
    for (std::int64_t i = 0; i < p->lines[side]; ++i) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::int64_t s = p->first[side][i]; s < p->first[side][i + 1]; ++s) {
        const std::int64_t j = p->other[side][s];
        const double z = factor(i, s, j);
        for (std::int64_t c = 0; c < width; ++c) sum[c] += z * other[j * other_stride + c];
      }
      for (std::int64_t c = 0; out && c < stride; ++c)
        out[i * stride + c] = static_cast<T>((add ? out[i * stride + c] : 0) + scale * sum[c]);
    }
  }
  static void adjoint(const Pattern* p, int side, const T* z, const T* other, std::int64_t width,
                      T scale, bool add, T* out) {
    gather(p, side, other, line_stride<T>(width), width, scale, add, out,
           [&](std::int64_t, std::int64_t s, std::int64_t) { return static_cast<double>(z[s]); });
  }
  static void residual(const Pattern* p, int side, const T* own, const T* other, std::int64_t width,
                       const T* value, const T* weight, T scale, bool add, T* out,
                       double* squares) {
    const std::int64_t stride = line_stride<T>(width);
    double sum = 0;
    gather(p, side, other, stride, width, scale, add, out,
           [&](std::int64_t i, std::int64_t s, std::int64_t j) {
             const double r = product(own + i * stride, other + j * stride, width) - value[s];
             const double w = weight ? weight[s] : 1;
             sum += w * r * r;
             return w * r;
           });
    if (squares) *squares = sum;
  }
  static void pairs(const T* x, const T* q, std::int64_t lines, std::int64_t width, T* out) {
    const std::int64_t stride = line_stride<T>(width);
    for (std::int64_t i = 0; i < lines; ++i) {
      std::copy_n(x + i * stride, stride, out + 2 * i * stride);
      std::copy_n(q + i * stride, stride, out + (2 * i + 1) * stride);
    }
  }
  static void normal(const Pattern* p, int side, const T* own_pairs, const T* other_pairs,
                     std::int64_t width, const T* weight, bool add, T* out) {
    const std::int64_t stride = line_stride<T>(width);
    gather(p, side, other_pairs, 2 * stride, width, 1, add, out,
           [&](std::int64_t i, std::int64_t s, std::int64_t j) {
             const T *const a = own_pairs + 2 * i * stride, *const b = other_pairs + 2 * j * stride;
             return (weight ? weight[s] : 1) *
                    (product(a + stride, b, width) + product(a, b + stride, width));
           });
  }
  static void blocks(const Pattern* p, int side, const T* other, std::int64_t width,
                     const T* weight, bool symmetric, bool add, T* out) {
    const std::int64_t size = packed_size(width);
    if (!add) std::fill_n(out, p->lines[side] * size, T(0));
    for_each(p, side, [&](std::int64_t i, std::int64_t s, std::int64_t j) {
      const T* const x = other + j * line_stride<T>(width);
      const T w = (weight ? weight[s] : T(1)) * (symmetric && i == j ? 2 : 1);
      T* block = out + i * size;
      for (std::int64_t r = 0; r < width; ++r)
        for (std::int64_t c = 0; c <= r; ++c) *block++ += w * x[r] * x[c];
    });
  }
  static double trace(const T* blocks, std::int64_t lines, std::int64_t width) {
    double sum = 0;
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t r = 0; r < width; ++r)
        sum += blocks[i * packed_size(width) + packed_size(r) + r];
    return sum;
  }
  static void factor(const T* blocks, double damping, std::int64_t lines, std::int64_t width,
                     T* factors) {
    for (std::int64_t i = 0; i < lines; ++i) {
      const T* const A = blocks + i * packed_size(width);
      T* const L = factors + i * packed_size(width);
      for (std::int64_t r = 0; r < width; ++r)
        for (std::int64_t c = 0; c <= r; ++c) {
          T* const row = L + packed_size(r);
          const T* const above = L + packed_size(c);
          const double value = A[packed_size(r) + c] - product(row, above, c);
          const double shift =
              std::max(damping, 500.0 * std::numeric_limits<T>::epsilon() * A[packed_size(r) + r] +
                                    1e18 * static_cast<double>(std::numeric_limits<T>::min()));
          row[c] = static_cast<T>(c < r ? value * above[c]
                                        : 1 / std::sqrt(std::max(value, 0.0) + shift));
        }
    }
  }
  static void solve(const T* factors, const T* rhs, std::int64_t lines, std::int64_t width, T* x) {
    const std::int64_t stride = line_stride<T>(width);
    for (std::int64_t i = 0; i < lines; ++i) {
      const T* const L = factors + i * packed_size(width);
      T* const y = x + i * stride;
      for (std::int64_t r = 0; r < width; ++r)
        y[r] = static_cast<T>((rhs[i * stride + r] - product(L + packed_size(r), y, r)) *
                              L[packed_size(r) + r]);
      for (std::int64_t r = width - 1; r >= 0; --r) {
        y[r] *= L[packed_size(r) + r];
        for (std::int64_t c = 0; c < r; ++c) y[c] -= y[r] * L[packed_size(r) + c];
      }
      std::fill(y + width, y + stride, T(0));
    }
  }
  static void overlap(const Pattern* p, const T* left, const T* right, std::int64_t width,
                      double* sums) {
    const std::int64_t stride = line_stride<T>(width);
    std::fill_n(sums, width, 0.0);
    for_each(p, 0, [&](std::int64_t i, std::int64_t, std::int64_t j) {
      for (std::int64_t c = 0; c < width; ++c)
        sums[c] += std::pow(static_cast<double>(left[i * stride + c] * right[j * stride + c]), 2);
    });
  }

  static void line_sums(const Pattern* p, int side, const T* value, const T* weight, double mean,
                        const double* own, const double* other, double* sums, double* squares) {
    double all = 0;
    std::fill_n(sums, p->lines[side], 0.0);
    for_each(p, side, [&](std::int64_t i, std::int64_t s, std::int64_t j) {
      const double w = weight ? static_cast<double>(weight[s]) : 1;
      const double r = value[s] - mean - (own ? own[i] : 0) - (other ? other[j] : 0);
      sums[i] += w * r;
      all += w * r * r;
    });
    if (squares) *squares = all;
  }

  // Gauss-Jordan inverse of a symmetric positive definite matrix in place; its log determinant.
  static double invert(std::vector<double>& A, std::int64_t D) {
    double log_det = 0;
    for (std::int64_t k = 0; k < D; ++k) {
      const double pivot = A[k * D + k];
      log_det += std::log(pivot);
      A[k * D + k] = 1;
      for (std::int64_t c = 0; c < D; ++c) A[k * D + c] /= pivot;
      for (std::int64_t r = 0; r < D; ++r) {
        if (r == k) continue;
        const double f = A[r * D + k];
        A[r * D + k] = 0;
        for (std::int64_t c = 0; c < D; ++c) A[r * D + c] -= f * A[k * D + c];
      }
    }
    return log_det;
  }

  static void bayes_update(const Pattern* p, int side, const BayesTask* task, const T* other,
                           const double* value, const T* weight, T* own, BayesTotals* totals,
                           double* line_squares) {
    const std::int64_t D = task->width, stride = record_stride<T>(D), size = packed_size(D);
    *totals = {0, 0, 0, 0, totals->mean_sum, totals->means, totals->spread};
    std::fill_n(totals->mean_sum, D, 0.0);
    std::fill_n(totals->means, size, 0.0);
    std::fill_n(totals->spread, size, 0.0);
    std::vector<double> G(D * D), S(D * D), h(D), C, m(D);
    for (std::int64_t i = 0; i < p->lines[side]; ++i) {
      std::fill(G.begin(), G.end(), 0.0);
      std::fill(S.begin(), S.end(), 0.0);
      std::fill(h.begin(), h.end(), 0.0);
      double total = 0;
      const auto visit = [&](const auto& use) {
        for (std::int64_t s = p->first[side][i]; s < p->first[side][i + 1]; ++s)
          use(other + p->other[side][s] * stride, value[s] - task->mean,
              weight ? static_cast<double>(weight[s]) : 1.0);
      };
      visit([&](const T* partner, double y, double w) {
        total += w;
        for (std::int64_t r = 0; r < D; ++r) {
          const double F = r == 0 ? 1 : static_cast<double>(partner[r]);
          h[r] += w * F * (y - partner[0]);
          for (std::int64_t c = 0; c < D; ++c) {
            const double covariance = partner[D + packed_size(std::max(r, c)) + std::min(r, c)];
            G[r * D + c] += w * F * (c == 0 ? 1 : static_cast<double>(partner[c]));
            S[r * D + c] += w * covariance;
          }
        }
      });
      T* const record = own + i * stride;
      if (!(total > 0)) {
        std::fill_n(record, stride, T(0));
        for (std::int64_t c = 0; c < D; ++c)
          record[D + packed_size(c) + c] = static_cast<T>(task->prior[c]);
        if (line_squares) line_squares[i] = 0;
        continue;
      }
      for (std::int64_t r = 1; r < D; ++r) {
        h[r] -= S[r * D];
        for (std::int64_t c = 1; c < D; ++c) G[r * D + c] += S[r * D + c];
      }
      C.assign(D * D, 0.0);
      for (std::int64_t r = 0; r < D; ++r)
        for (std::int64_t c = 0; c < D; ++c) {
          const bool present = task->prior[r] > 0 && task->prior[c] > 0;
          C[r * D + c] = present ? G[r * D + c] / task->variance : (r == c ? 1 : 0);
          if (present && r == c) C[r * D + c] += 1 / task->prior[r];
        }
      totals->log_det -= invert(C, D);
      totals->lines += 1;
      for (std::int64_t r = 0; r < D; ++r) {
        if (!(task->prior[r] > 0)) C[r * D + r] = 0;
        m[r] = 0;
        for (std::int64_t c = 0; c < D; ++c)
          if (task->prior[r] > 0 && task->prior[c] > 0)
            m[r] += C[r * D + c] * h[c] / task->variance;
      }
      T* packed = record + D;
      std::int64_t e = 0;
      for (std::int64_t r = 0; r < D; ++r) {
        record[r] = static_cast<T>(m[r]);
        totals->mean_sum[r] += m[r];
        for (std::int64_t c = 0; c <= r; ++c, ++e) {
          *packed++ = static_cast<T>(C[r * D + c]);
          totals->means[e] += m[r] * m[c];
          totals->spread[e] += C[r * D + c];
        }
      }
      if (!task->measure) continue;
      double squares = 0;
      visit([&](const T* partner, double y, double w) {
        double r = y - m[0] - partner[0];
        for (std::int64_t c = 1; c < D; ++c) r -= m[c] * partner[c];
        totals->residual += w * r;
        squares += w * r * r;
      });
      for (std::int64_t r = 0; r < D; ++r)
        for (std::int64_t c = 0; c < D; ++c)
          squares += C[r * D + c] * G[r * D + c] +
                     (r == 0 ? 1 : m[r]) * S[r * D + c] * (c == 0 ? 1 : m[c]);
      totals->squares += squares;
      if (line_squares) line_squares[i] = squares;
    }
  }
  static void bayes_transform(T* records, std::int64_t lines, std::int64_t D, const double* map,
                              const double* shift) {
    std::vector<double> m(D), C(D * D), half(D * D);
    for (std::int64_t i = 0; i < lines; ++i) {
      T* const record = records + i * record_stride<T>(D);
      for (std::int64_t r = 0; r < D; ++r) {
        m[r] = record[r];
        for (std::int64_t c = 0; c <= r; ++c)
          C[r * D + c] = C[c * D + r] = record[D + packed_size(r) + c];
      }
      for (std::int64_t r = 0; r < D; ++r) {
        double sum = shift[r];
        for (std::int64_t n = 0; n < D; ++n) sum += map[r * D + n] * m[n];
        record[r] = static_cast<T>(sum);
        for (std::int64_t c = 0; c < D; ++c) {
          half[r * D + c] = 0;
          for (std::int64_t n = 0; n < D; ++n) half[r * D + c] += map[r * D + n] * C[n * D + c];
        }
      }
      for (std::int64_t r = 0; r < D; ++r)
        for (std::int64_t c = 0; c <= r; ++c) {
          double sum = 0;
          for (std::int64_t n = 0; n < D; ++n) sum += half[r * D + n] * map[c * D + n];
          record[D + packed_size(r) + c] = static_cast<T>(sum);
        }
    }
  }
  static void bayes_rearrange(const T* old, std::int64_t old_width, std::int64_t lines,
                              const std::int64_t* parts, std::int64_t width, T* out) {
    for (std::int64_t i = 0; i < lines; ++i) {
      const T* const before = old + i * record_stride<T>(old_width);
      T* const now = out + i * record_stride<T>(width);
      std::fill_n(now, record_stride<T>(width), T(0));
      for (std::int64_t r = 0; r < width; ++r) {
        if (parts[r] < 0) continue;
        now[r] = before[parts[r]];
        for (std::int64_t c = 0; c <= r; ++c) {
          if (parts[c] < 0) continue;
          const std::int64_t a = std::max(parts[r], parts[c]), b = std::min(parts[r], parts[c]);
          now[width + packed_size(r) + c] = before[old_width + packed_size(a) + b];
        }
      }
    }
  }
  static void bayes_set_means(T* records, std::int64_t width, std::int64_t lines,
                              std::int64_t first, std::int64_t count, const double* columns,
                              std::int64_t apart) {
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < count; ++c)
        records[i * record_stride<T>(width) + first + c] = static_cast<T>(columns[i * apart + c]);
  }
  static void bayes_means(const T* records, std::int64_t width, std::int64_t lines,
                          std::int64_t first, std::int64_t count, double* out) {
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t c = 0; c < count; ++c)
        out[i * count + c] = records[i * record_stride<T>(width) + first + c];
  }
  static void bayes_variances(const T* records, std::int64_t width, std::int64_t lines,
                              float* out) {
    for (std::int64_t i = 0; i < lines; ++i) {
      const T* const record = records + i * record_stride<T>(width);
      for (std::int64_t c = 0; c < width; ++c) {
        out[2 * i * width + c] = static_cast<float>(record[c]);
        out[(2 * i + 1) * width + c] = static_cast<float>(record[width + packed_size(c) + c]);
      }
    }
  }
  static void bayes_residuals(const Pattern* p, int side, const T* own, const T* other,
                              std::int64_t width, double mean, const double* value, const T* weight,
                              double limit, ResidualStatistics* statistics, double* weighted,
                              double* predicted) {
    const std::int64_t stride = record_stride<T>(width);
    ResidualStatistics found{};
    for_each(p, side, [&](std::int64_t i, std::int64_t s, std::int64_t j) {
      const T *const a = own + i * stride, *const b = other + j * stride;
      const double x = mean + a[0] + b[0] + product(a + 1, b + 1, width - 1);
      const double w = weight ? static_cast<double>(weight[s]) : 1, r = value[s] - x;
      found.sum += w * r;
      found.squares += w * r * r;
      found.largest = std::max(found.largest, w * r * r);
      found.beyond += w * r * r >= limit ? 1 : 0;
      if (weighted) weighted[s] = w * r;
      if (predicted) predicted[s] = x;
    });
    if (statistics) *statistics = found;
  }
  static void bayes_weigh(const Pattern* p, int side, const T* known, const double* own_noise,
                          const double* other_noise, const double* predicted, double smallest,
                          T* weight, double* sums) {
    double found[3] = {};
    for_each(p, side, [&](std::int64_t i, std::int64_t s, std::int64_t j) {
      double w = known ? static_cast<double>(known[s]) : 1;
      weight[s] = 0;
      if (!(w > 0)) return;
      if (predicted) w /= std::max(predicted[s], smallest);
      const double all = w * (own_noise ? own_noise[i] : 1) * (other_noise ? other_noise[j] : 1);
      weight[s] = static_cast<T>(all);
      found[0] += 1;
      found[1] += all;
      found[2] += 0.5 * std::log(w);
    });
    if (sums) std::copy_n(found, 3, sums);
  }

  using Images = ImagingLoops<T>;

  static Kernels<T> table() {
    return {dot,
            combine,
            restride,
            from_doubles,
            column_products,
            scale_columns,
            gram,
            multiply,
            place,
            unplace,
            products,
            adjoint,
            residual,
            pairs,
            normal,
            blocks,
            trace,
            factor,
            solve,
            overlap,
            line_sums,
            bayes_update,
            bayes_transform,
            bayes_rearrange,
            bayes_set_means,
            bayes_means,
            bayes_variances,
            bayes_residuals,
            bayes_weigh,
            Images::make_imaging,
            Images::seen_imaging,
            Images::project,
            Images::back_project,
            Images::coverage,
            Images::intensity,
            Images::overlaps,
            Images::scale_fields,
            Images::slopes,
            Images::amplitude_residual,
            Images::directions,
            Images::keep_changes,
            Images::weigh_lines,
            Images::shifted_inverse};
  }
};

}  // namespace
}  // namespace udv::device

extern "C" __attribute__((visibility("default"))) const udv::device::Module* udv_device_module() {
  using namespace udv::device;
  static const Module module{kModuleVersion,
                             nothing_wrong,
                             name,
                             no_error,
                             memory,
                             allocate,
                             std::free,
                             copy,
                             copy,
                             copy,
                             zero,
                             wait,
                             make_pattern,
                             release_pattern,
                             connected_blocks,
                             release_imaging,
                             Loops<float>::table(),
                             Loops<double>::table()};
  return &module;
}
