// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "recover/solver/recorder.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/solver/projected_gradient.hpp"

namespace udv {
namespace {

constexpr Index kRealColumns = 20, kComplexColumns = 8;
constexpr Index kFirstCheckpoint = 32;
constexpr double kInitNorm = 0.1;
constexpr double kDeadShare = 1e-12;
constexpr double kSameObjective = 1e-3;  // two cuts with the same answer
constexpr double kNoiseResidual = 0.1;   // a repeated answer below this is taken for one with noise

constexpr double kFirstStep = 1e-3;

constexpr int kFlowSteps = 1000, kFlowWindow = 100, kFlowLook = 16;
constexpr double kFlowWeight = 10;    // beta in w = 1 / (1 + beta psi / |W z|)
constexpr double kFlowGain = 0.02;    // less per window ends the flow
constexpr double kFlowTarget = 1e-3;  // amplitude residual
template <typename Scalar>
constexpr double kFlowStep = kIsComplex<Scalar> ? 6 : 2;

// A step of the flow in terms of the intensities.
template <typename Scalar>
FitStep flow_step(const Reals<Scalar>& sizes, const Reals<Scalar>& amplitudes,
                  const RowMatrix<Scalar>& z) {
  const double squared = (sizes.cwiseAbs2() - amplitudes.cwiseAbs2()).squaredNorm();
  return {0.5 * squared, kFlowStep<Scalar>, 1, z.norm()};
}

// z -= step diag^-1 W^* (w (1 - a / |W z|) W z), w = 1 / (1 + beta a / |W z|). Keeps the best z.
template <typename Scalar>
void amplitude_flow(const IntensityOperator<Scalar>& op, const Reals<Scalar>& amplitudes,
                    RowMatrix<Scalar>& z, const FitMonitor& monitor) {
  using Real = RealOf<Scalar>;
  const Reals<Scalar> ones = Reals<Scalar>::Ones(amplitudes.size());
  const Real floor = std::numeric_limits<Real>::min();
  const Reals<Scalar> lengths =
      static_cast<Real>(kFlowStep<Scalar>) * op.diagonal(ones).cwiseMax(floor).cwiseInverse();
  const double norm = amplitudes.norm();
  RowMatrix<Scalar> fields, back(z.rows(), 1), best = z;
  double best_residual = std::numeric_limits<double>::infinity(), before = best_residual;
  for (int step = 0; step < kFlowSteps; ++step) {
    op.project(z, fields);
    const Reals<Scalar> sizes = fields.col(0).cwiseAbs();
    const double residual = (sizes - amplitudes).norm() / norm;
    if (residual < best_residual) {
      best_residual = residual;
      best = z;
    }
    if (residual < kFlowTarget || !std::isfinite(residual)) break;
    if (monitor && step % kFlowLook == 0 && !monitor(flow_step<Scalar>(sizes, amplitudes, z)))
      break;
    if (step > 0 && step % kFlowWindow == 0) {
      if (best_residual > (1 - kFlowGain) * before) break;
      before = best_residual;
    }
    for (Index i = 0; i < sizes.size(); ++i) {
      const Real size = std::max(sizes(i), floor);
      const Real ratio = amplitudes(i) / size;
      fields(i, 0) *= (1 - ratio) / (1 + static_cast<Real>(kFlowWeight) * ratio);
    }
    op.back_project(fields, back);
    z.col(0) -= lengths.cwiseProduct(back.col(0));
  }
  z = best;
}

FitOptions polish_options(double residual_target) {
  FitOptions options;
  options.max_cg = 100;
  options.patience = 3;
  options.residual_target = residual_target;
  return options;
}

// One retrieval: restarts of the dynamics, cuts, polishes; the best x so far.
template <typename Scalar>
class Retrieval {
 public:
  Retrieval(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
            const PhaseOptions& options, const Observer& observer)
      : op_(op), options_(options), recorder_(options.record, observer) {
    const double trace = op.trace_estimate(b);
    require(trace > 0 && std::isfinite(trace), "phase: the measured intensities sum to ", trace,
            ", a positive number expected");
    scale_ = options.size / trace;
    b_ = static_cast<RealOf<Scalar>>(scale_) * b;
    tolerance_ = options.tolerance > 0 ? options.tolerance : std::max(1e-9, 40 * kEpsilon<Scalar>);
  }

  PhaseRetrieval<Scalar> run() {
    result_.x = Vector<Scalar>::Zero(op_.rows());
    for (int restart = 0; restart < options_.restarts && !done_; ++restart) run_dynamics(restart);
    result_.x *= static_cast<RealOf<Scalar>>(1 / std::sqrt(scale_));
    result_.iterations = recorder_.next_iteration() - 1;
    result_.seconds = recorder_.seconds();
    recorder_.flush();
    result_.history = recorder_.take_history();
    return std::move(result_);
  }

 private:
  GradientOptions gradient_options(Index until) const {
    GradientOptions options;
    options.max_iterations = until;
    options.dead_share = kDeadShare;
    return options;
  }

  Factorization<Scalar> random_factors(int restart) const {
    const std::uint64_t seed =
        restart == 0
            ? options_.seed
            : Random(options_.seed + static_cast<std::uint64_t>(restart), kStreamRestarts).bits();
    const Index wanted = options_.columns > 0 ? options_.columns
                         : kIsComplex<Scalar> ? kComplexColumns
                                              : kRealColumns;
    return Factorization<Scalar>(method_named(options_.method), op_.rows(), op_.rows(),
                                 std::min(wanted, op_.rows()), kInitNorm, seed);
  }

  // A share of |U| / |gradient|: small enough for maps whose rows are far from random.
  double careful_step(const Factorization<Scalar>& factors) const {
    Reals<Scalar> residual;
    FactorGradient<Scalar> gradient;
    factors.differentiate(op_, b_, residual, gradient);
    return kFirstStep * factors.norm_u() / static_cast<double>(gradient.Z.norm());
  }

  // From a random U_0, cut at doubling iterations.
  void run_dynamics(int restart) {
    const Factorization<Scalar> factors = random_factors(restart);
    if (!run_dynamics(factors, kFirstStep, restart))
      run_dynamics(factors, careful_step(factors), restart);
  }

  // False where it diverged.
  bool run_dynamics(const Factorization<Scalar>& factors, double first_step, int restart) {
    auto state =
        ProjectedGradient<Scalar>::start(factors, BasicStepRule<Scalar>(std::nullopt, first_step));
    recorder_.next_run();
    int same = 0;
    for (Index until = kFirstCheckpoint; until <= options_.max_iterations && !done_; until *= 2) {
      ProjectedGradient<Scalar> solver(op_, b_, gradient_options(until));
      solver.run(state, [&](const BasicGradientState<Scalar>& s) {
        return go_on(recorder_.observe(s, 1 / (scale_ * scale_)));
      });
      if (state.stop == GradientStop::kDiverged) return false;
      if (result_.stopped) break;
      const double before = result_.relative_residual;
      const double found = cut(state, restart);
      same = std::abs(found - result_.relative_residual) <= kSameObjective * found &&
                     std::abs(before - found) <= kSameObjective * found
                 ? same + 1
                 : 0;
      done_ = done_ || result_.solved;
    }
    // The last cuts agree on the best answer and little is left: that is noise.
    done_ = done_ || (same > 0 && result_.relative_residual < kNoiseResidual);
    return true;
  }

  bool go_on(Verdict verdict) {
    result_.stopped = result_.stopped || verdict != Verdict::kContinue;
    done_ = done_ || result_.stopped;
    return !result_.stopped;
  }

  // Rank 1, polished. Returns its relative residual; keeps it where it is the best.
  double cut(const BasicGradientState<Scalar>& state, int restart) {
    Vector<Scalar> x = dominant_vector<Scalar>(state.factors.stack().U(), state.factors.d());
    polish_phase<Scalar>(op_, b_, x, [&](const FitStep& step) {
      return go_on(recorder_.observe(step, 1 / (scale_ * scale_)));
    });
    recorder_.next_run(state.iteration);
    const double residual = intensity_residual(op_, b_, x);
    if (residual < result_.relative_residual) {
      result_.x = std::move(x);
      result_.relative_residual = residual;
      result_.restart = restart;
      result_.checkpoint = state.iteration;
      result_.solved = residual <= tolerance_;
    }
    return residual;
  }

  const IntensityOperator<Scalar>& op_;
  const PhaseOptions& options_;
  Recorder recorder_;
  Reals<Scalar> b_;
  double scale_ = 1, tolerance_ = 0;
  bool done_ = false;
  PhaseRetrieval<Scalar> result_;
};

}  // namespace

void PhaseOptions::validate() const {
  require(method == "udu" || method == "bm", "method '", method, "' found, udu or bm expected");
  require(columns >= 0, "columns = ", columns, ", 0 or more expected");
  require(size > 0 && std::isfinite(size), "size = ", size, ", a positive number expected");
  require(max_iterations >= kFirstCheckpoint, "max_iterations = ", max_iterations, ", at least ",
          kFirstCheckpoint, " expected");
  require(restarts >= 1, "restarts = ", restarts, ", at least 1 expected");
  require(tolerance >= 0, "tolerance = ", tolerance, ", 0 or more expected");
}

template <typename Scalar>
void polish_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b, Vector<Scalar>& x,
                  const FitMonitor& monitor) {
  Stack<Scalar> Z(op.rows(), op.rows(), true, 1);
  Z.Z.col(0) = x;
  const Reals<Scalar> amplitudes = b.cwiseMax(0).cwiseSqrt();
  bool wanted = true;
  const FitMonitor watched = [&](const FitStep& step) {
    return wanted = wanted && (!monitor || monitor(step));
  };
  amplitude_flow(op, amplitudes, Z.Z, watched);
  if (wanted) fit_factors(op, b, Z, polish_options(10 * kEpsilon<Scalar>), watched);
  x = Z.Z.col(0);
}

template <typename Scalar>
Vector<Scalar> dominant_vector(const RowMatrix<Scalar>& U, const Reals<Scalar>& d) {
  if (d.size() == 0) return Vector<Scalar>::Zero(U.rows());
  const FactoredSvd<Scalar> svd = factored_eigen<Scalar>(U, d);
  return static_cast<RealOf<Scalar>>(std::sqrt(std::max(svd.s(0), 0.0))) * svd.U.col(0);
}

template <typename Scalar>
BasicRecovery<Scalar> rank_one_recovery(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                        const Vector<Scalar>& x) {
  BasicRecovery<Scalar> result;
  result.method = "udu";
  result.operator_name = op.name();
  result.rows = result.cols = op.rows();
  result.measurements = op.num_measurements();
  result.symmetric = result.polished = true;
  const RealOf<Scalar> length = x.norm();
  const bool something = length > 0;
  result.rank = something ? 1 : 0;
  result.U = something ? RowMatrix<Scalar>(x / length) : RowMatrix<Scalar>(op.rows(), 0);
  result.d = Reals<Scalar>::Constant(result.rank, length * length);
  result.spectrum = Vector<double>::Zero(std::min<Index>(2, op.rows()));
  result.spectrum(0) = static_cast<double>(length) * static_cast<double>(length);
  result.rank_gap = rank_gap(result.spectrum, result.rank);
  result.relative_residual = intensity_residual(op, b, x);
  result.objective = 0.5 * std::pow(result.relative_residual, 2) * squared_norm(b);
  Stack<Scalar> Z(op.rows(), op.rows(), true, result.rank);
  Z.Z = result.U;
  CertificateOptions options;
  options.tolerance = std::max(1e-6, 1e4 * kEpsilon<Scalar>);
  result.certificate =
      certify(op, b, Factorization<Scalar>(method_named("udu"), Z, result.d), options);
  return result;
}

template <typename Scalar>
double intensity_residual(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                          const Vector<Scalar>& x) {
  RowMatrix<Scalar> fields;
  op.project(RowMatrix<Scalar>(x), fields);
  const Reals<Scalar> residual = fields.col(0).cwiseAbs2() - b;
  return std::sqrt(squared_norm(residual) / squared_norm(b));
}

template <typename Scalar>
double phase_error(const Vector<Scalar>& x, const Vector<Scalar>& truth) {
  const Scalar inner = x.dot(truth);
  const RealOf<Scalar> size = std::abs(inner);
  const Scalar factor = size > 0 ? Scalar(inner / size) : Scalar(1);
  return static_cast<double>((factor * x - truth).norm()) / static_cast<double>(truth.norm());
}

template <typename Scalar>
Vector<Scalar> with_fixed_phase(const Vector<Scalar>& x) {
  Index at = 0;
  const RealOf<Scalar> size = x.size() > 0 ? x.cwiseAbs().maxCoeff(&at) : RealOf<Scalar>(0);
  if (!(size > 0)) return x;
  Vector<Scalar> result = (Eigen::numext::conj(x(at)) / size) * x;
  result(at) = size;
  return result;
}

template <typename Scalar>
PhaseRetrieval<Scalar> retrieve_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                      const PhaseOptions& options, const Observer& observer) {
  options.validate();
  require(b.size() == op.num_measurements(), "b has ", b.size(), " values, ", op.num_measurements(),
          " expected");
  const FlushToZero flush;
  return Retrieval<Scalar>(op, b, options, observer).run();
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template PhaseRetrieval<Scalar> retrieve_phase(const IntensityOperator<Scalar>&,               \
                                                 const Reals<Scalar>&, const PhaseOptions&,      \
                                                 const Observer&);                               \
  template void polish_phase(const IntensityOperator<Scalar>&, const Reals<Scalar>&,             \
                             Vector<Scalar>&, const FitMonitor&);                                \
  template Vector<Scalar> dominant_vector(const RowMatrix<Scalar>&, const Reals<Scalar>&);       \
  template BasicRecovery<Scalar> rank_one_recovery(const IntensityOperator<Scalar>&,             \
                                                   const Reals<Scalar>&, const Vector<Scalar>&); \
  template double intensity_residual(const IntensityOperator<Scalar>&, const Reals<Scalar>&,     \
                                     const Vector<Scalar>&);                                     \
  template double phase_error(const Vector<Scalar>&, const Vector<Scalar>&);                     \
  template Vector<Scalar> with_fixed_phase(const Vector<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
