// SPDX-License-Identifier: MIT
#include "support/honesty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>

#include "core/lapack.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/recover.hpp"

namespace udv::testing {
namespace {

constexpr std::uint64_t kHonestyStream = 7001;
constexpr double kZero = 1e-9;   // singular value of J, against the largest, that is none
constexpr double kStill = 1e-7;  // movement of an entry under unit null directions that is none
constexpr double kWrong = 1e-6;  // error of an entry, against the sizes of its lines

size_t at(Index i) {
  return static_cast<size_t>(i);
}

template <typename Scalar>
struct Law {
  BasicProblem<Scalar> problem;
  RowMatrix<Scalar> U, V;  // X = U V^*
  std::string name;
};

// J, one column for each real parameter, with rows of zeros to be square: its SVD then has all of
// V.
template <typename Scalar>
Matrix<double> jacobian(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z) {
  const Index parameters = kParts<Scalar> * Z.Z.size(), n = op.num_measurements();
  Matrix<double> J = Matrix<double>::Zero(std::max(n, parameters), parameters);
  RowMatrix<Scalar> unit = RowMatrix<Scalar>::Zero(Z.Z.rows(), Z.rank());
  Reals<Scalar> column;
  for (Index c = 0; c < parameters; ++c) {
    reals_of(unit.data())[c] = 1;
    push_forward(op, Z, unit, column);
    reals_of(unit.data())[c] = 0;
    J.col(c).head(n) = column.template cast<double>();
  }
  return J;
}

// What the decomposition says of the answer.
template <typename Scalar>
struct Reference {
  Index free = 0;       // null directions beyond the gauge
  bool spare = false;   // more independent equations than parameters
  Matrix<double> null;  // orthonormal null directions

  Reference(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z) {
    const auto svd = lapack::thin_svd<double>(jacobian(op, Z));
    const Index rank = (svd.s.array() > kZero * svd.s(0)).count(), k = Z.rank();
    null = svd.V.rightCols(svd.V.cols() - rank);
    const Index gauge =
        Z.symmetric ? (kIsComplex<Scalar> ? k * k : k * (k - 1) / 2) : kParts<Scalar> * k * k;
    free = null.cols() - gauge;
    spare = op.num_measurements() > rank;
  }

  // Largest |dX(i, j)| over the null directions.
  double movement(const StackedFactors<Scalar>& Z, Index i, Index j) const {
    const Index k = Z.rank(), other = Z.symmetric ? j : Z.rows + j;
    double largest = 0;
    for (Index c = 0; c < null.cols(); ++c) {
      const auto* const N = reinterpret_cast<const Scalar*>(null.col(c).data());
      Scalar moved = 0;
      for (Index a = 0; a < k; ++a)
        moved += N[i * k + a] * Eigen::numext::conj(Z.V()(j, a)) +
                 Z.U()(i, a) * Eigen::numext::conj(N[other * k + a]);
      largest = std::max(largest, std::abs(moved));
    }
    return largest;
  }
};

template <typename Scalar>
StackedFactors<Scalar> stack_of(const BasicRecovery<Scalar>& r) {
  StackedFactors<Scalar> Z(r.rows, r.cols, r.symmetric, r.rank);
  const Reals<Scalar> roots = r.d.head(r.rank).cwiseSqrt();
  const auto scaled = [&](const RowMatrix<Scalar>& U) {
    return RowMatrix<Scalar>(U.leftCols(r.rank) * roots.template cast<Scalar>().asDiagonal());
  };
  Z.U() = scaled(r.U);
  if (!r.symmetric) Z.V() = scaled(r.V);
  return Z;
}

// Compares every entry of the answer with the decomposition and with the truth.
template <typename Scalar>
void compare_entries(const Law<Scalar>& law, const BasicRecovery<Scalar>& found,
                     const StackedFactors<Scalar>& Z, const Reference<Scalar>& reference,
                     Honesty& result) {
  std::vector<char> measured(at(found.rows * found.cols), 0);
  law.problem.op->visit_entries([&](Index i, Index j) { measured[at(i * found.cols + j)] = 1; });
  const bool all_measured = std::find(measured.begin(), measured.end(), 0) == measured.end();
  const bool confirmed = reference.spare || all_measured || !found.exact;
  const double mean = Z.Z.norm() / std::sqrt(static_cast<double>(Z.Z.rows()));
  for (Index i = 0; i < found.rows; ++i)
    for (Index j = 0; j < found.cols; ++j) {
      const bool known = measured[at(i * found.cols + j)];
      const bool determined = known || found.open_entries.determined(i, j);
      // Two lines of zeros move their entry at second order only.
      const bool zero_lines =
          Z.U().row(i).norm() <= kWrong * mean && Z.V().row(j).norm() <= kWrong * mean;
      const bool still = !zero_lines && reference.movement(Z, i, j) <= kStill * mean;
      // Another answer far away, and offsets, are more than a decomposition here can know.
      if (!found.determinacy.another_fits && found.center == Centering::kNone) {
        ++result.entries;
        result.flags_different += determined != (known || (still && confirmed));
      }
      const Scalar truth = law.V.row(j).dot(law.U.row(i));
      const Scalar here = found.predict(i, j);
      const double size = std::max(1.0, std::abs(truth));
      if (found.exact && determined) result.wrong += std::abs(here - truth) > kWrong * size;
    }
}

template <typename Scalar>
Honesty examine(const Law<Scalar>& law, const BasicRecovery<Scalar>& found) {
  Honesty result;
  result.problem = fmt::format("{}, {} x {}, n = {}, rank {} of {}", law.name, found.rows,
                               found.cols, found.measurements, found.rank, law.U.cols());
  if (found.rank == 0) return result;
  result.exact = found.exact;
  result.claimed = found.determinacy.unique == true;
  const StackedFactors<Scalar> Z = stack_of(found);
  const Reference<Scalar> reference(*law.problem.op, Z);
  result.refuted = result.claimed && reference.free > 0;
  result.count_different = found.determinacy.free_directions != reference.free;
  compare_entries(law, found, Z, reference, result);
  return result;
}

template <typename Scalar>
void draw_factors(Law<Scalar>& law, Random& random, Index p, Index q, Index k, bool symmetric) {
  law.U.resize(p, k);
  random.fill_normal(law.U);
  law.V.resize(q, k);
  random.fill_normal(law.V);
  if (symmetric) law.V = law.U;
}

using Places = std::set<std::pair<Index, Index>>;

Law<double> completion_law(const char* name, Random& random, Index p, Index q, Index k,
                           bool symmetric, const Places& places) {
  Law<double> law;
  law.name = name;
  draw_factors(law, random, p, q, k, symmetric);
  Entries entries{p, q, symmetric, {}, {}, {}};
  for (const auto& [i, j] : places) {
    entries.row.push_back(static_cast<std::int32_t>(i));
    entries.col.push_back(static_cast<std::int32_t>(j));
    entries.value.push_back(law.U.row(i).dot(law.V.row(j)));
  }
  law.problem = completion(entries);
  return law;
}

// From far too few to many.
Law<double> random_mask(Random& random, bool symmetric) {
  const Index p = 4 + random.below(14), q = symmetric ? p : 4 + random.below(14);
  const Index k = 1 + random.below(3);
  const Index all = symmetric ? p * (p + 1) / 2 : p * q;
  const double dof = static_cast<double>(k * (symmetric ? p : p + q - k));
  const double wanted = std::max(1.0, dof * (0.3 + 3 * random.uniform()));
  Places places;
  while (static_cast<double>(places.size()) < std::min(static_cast<double>(all), wanted)) {
    Index i = random.below(p), j = random.below(q);
    if (symmetric && j > i) std::swap(i, j);
    places.insert({i, j});
  }
  return completion_law(symmetric ? "symmetric" : "random", random, p, q, k, symmetric, places);
}

// Two blocks on the diagonal, and some entries beside them.
Law<double> block_mask(Random& random, bool bridged) {
  const Index p = 4 + random.below(14), q = 4 + random.below(14), k = 1 + random.below(3);
  const Index rows = bridged ? p / 2 : 1 + random.below(p - 1);
  const Index cols = bridged ? q / 2 : 1 + random.below(q - 1);
  const double share = 0.6 + 0.6 * random.uniform();
  const auto inside = [&](Index i, Index j) { return (i < rows) == (j < cols); };
  Places places{{0, 0}};
  for (Index i = 0; i < p; ++i)
    for (Index j = 0; j < q; ++j)
      if (inside(i, j) && random.uniform() < share) places.insert({i, j});
  const bool one_side = random.uniform() < 0.5;
  for (Index b = bridged ? random.below(k * k + 3) : 0; b > 0; --b) {
    Index i = 0, j = 0;
    while (inside(i, j) || (one_side && i >= rows)) {
      i = random.below(p);
      j = random.below(q);
    }
    places.insert({i, j});
  }
  return completion_law(bridged ? "bridged" : "blocks", random, p, q, k, false, places);
}

Law<double> sensing_law(Random& random, bool symmetric) {
  Law<double> law;
  law.name = symmetric ? "symmetric sensing" : "sensing";
  const Index p = 3 + random.below(5), q = symmetric ? p : 3 + random.below(5);
  const Index k = 1 + random.below(2);
  draw_factors(law, random, p, q, k, symmetric);
  const double dof = static_cast<double>(symmetric ? k * p - k * (k - 1) / 2 : k * (p + q - k));
  const auto n = std::max<Index>(1, std::lround(dof * (0.4 + 2.2 * random.uniform())));
  RowMatrix<double> A(n, p * q);
  random.fill_normal(A);
  const RowMatrix<double> X = law.U * law.V.transpose();
  const Vector<double> b = A * Eigen::Map<const Vector<double>>(X.data(), X.size());
  law.problem = sensing<double>(A, b, p, q, symmetric);
  return law;
}

template <typename Scalar>
Law<Scalar> rank_one_law(Random& random, Index k) {
  Law<Scalar> law;
  law.name = kIsComplex<Scalar> ? "complex intensities" : k > 1 ? "rank-one" : "intensities";
  const Index p = 3 + random.below(6);
  draw_factors(law, random, p, p, k, true);
  const Index each = kParts<Scalar> * k * p;
  const auto n =
      std::max<Index>(1, std::lround(static_cast<double>(each) * (0.5 + 4 * random.uniform())));
  RowMatrix<Scalar> W(n, p);
  random.fill_normal(W);
  const Reals<Scalar> b = (W * law.U).rowwise().squaredNorm();
  law.problem = quadratic_sensing<Scalar>(W, b);
  return law;
}

Law<std::complex<double>> coded_law(Random& random) {
  using Complex = std::complex<double>;
  Law<Complex> law;
  law.name = "coded diffraction";
  const Index height = 2 + random.below(3), width = 2 + random.below(3);
  draw_factors(law, random, height * width, height * width, 1, true);
  std::vector<RowMatrix<Complex>> masks;
  for (Index l = 1 + random.below(6); l > 0; --l) {
    RowMatrix<Complex> mask(height, width);
    random.fill_normal(mask);
    masks.push_back(mask);
  }
  const auto op = std::make_shared<CodedDiffractionOperator<Complex>>(masks);
  RowMatrix<Complex> fields;
  op->project(law.U, fields);
  law.problem.op = op;
  law.problem.b = fields.col(0).cwiseAbs2();
  return law;
}

template <typename Scalar>
Honesty examine_intensities(const Law<Scalar>& law) {
  const auto& op = dynamic_cast<const IntensityOperator<Scalar>&>(*law.problem.op);
  return examine<Scalar>(law, retrieve_phase<Scalar>(op, law.problem.b));
}

template <typename Scalar>
Honesty examine_recovery(const Law<Scalar>& law) {
  return examine<Scalar>(law, recover<Scalar>(law.problem));
}

using Examine = Honesty (*)(Random&);
constexpr Examine kKinds[] = {
    [](Random& random) { return examine_recovery(random_mask(random, false)); },
    [](Random& random) { return examine_recovery(random_mask(random, true)); },
    [](Random& random) { return examine_recovery(block_mask(random, false)); },
    [](Random& random) { return examine_recovery(block_mask(random, true)); },
    [](Random& random) { return examine_recovery(sensing_law(random, false)); },
    [](Random& random) { return examine_recovery(sensing_law(random, true)); },
    [](Random& random) { return examine_recovery(rank_one_law<double>(random, 2)); },
    [](Random& random) { return examine_intensities(rank_one_law<double>(random, 1)); },
    [](Random& random) {
      return examine_intensities(rank_one_law<std::complex<double>>(random, 1));
    },
    [](Random& random) { return examine_intensities(coded_law(random)); }};

}  // namespace

int honesty_kinds() {
  return static_cast<int>(std::size(kKinds));
}

Honesty examine_honesty(int kind, std::uint64_t number) {
  Random random(number, kHonestyStream + static_cast<std::uint64_t>(kind));
  return kKinds[kind](random);
}

}  // namespace udv::testing
