// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <cmath>

#include "cli/support.hpp"
#include "udv/core/random.hpp"
#include "udv/io/npy.hpp"

namespace udv::cli {
namespace phase_test {

using Complex = std::complex<double>;

template <typename Scalar>
struct Measured {
  RowMatrix<Scalar> A;
  Vector<Scalar> x;
  Vector<double> b;
};

template <typename Scalar>
Measured<Scalar> measured(Index n, Index p) {
  Measured<Scalar> m;
  Random random(21, 0);
  m.A.resize(n, p);
  m.x.resize(p);
  random.fill_normal(m.A);
  random.fill_normal(m.x);
  m.b = (m.A * m.x).cwiseAbs2();
  return m;
}

template <typename Scalar>
void write(const Cli& cli, const Measured<Scalar>& m) {
  cli.write("A.npy", io::npy_bytes({m.A.rows(), m.A.cols()}, m.A.data()));
  cli.write("b.npy", io::npy_bytes({m.b.size()}, m.b.data()));
  cli.write("x.npy", io::npy_bytes({m.x.size()}, m.x.data()));
}

Outcome phase(const Cli& cli, const std::string& flags = "") {
  return cli.run("phase A.npy b.npy --out out --force --quiet " + flags);
}

TEST(Phase, RecoversARealVector) {
  const Cli cli;
  write(cli, measured<double>(160, 32));
  EXPECT_EQ(phase(cli, "--truth x.npy").code, 0);
  const Json run = cli.run_json();
  EXPECT_LE(run["relative_error"], 1e-9);
  EXPECT_EQ(run["rank"], 1);
  EXPECT_EQ(run["scalar"], "float64");
  EXPECT_EQ(run["certificate"]["verdict"], "global");
  const io::Array x = io::read_npy(cli.path("out/x.npy"));
  EXPECT_GT(*std::max_element(x.values.begin(), x.values.end()),
            -*std::min_element(x.values.begin(), x.values.end()));
}

TEST(Phase, RecoversAComplexVectorWithItsLargestEntryReal) {
  const Cli cli;
  const auto m = measured<Complex>(200, 32);
  write(cli, m);
  EXPECT_EQ(phase(cli, "--truth x.npy").code, 0);
  EXPECT_LE(cli.run_json()["relative_error"], 1e-9);
  EXPECT_EQ(cli.run_json()["scalar"], "complex128");
  const io::ComplexArray x = io::read_complex_npy(cli.path("out/x.npy"));
  EXPECT_TRUE(x.is_complex);
  const auto largest = *std::max_element(x.values.begin(), x.values.end(),
                                         [](auto a, auto b) { return std::abs(a) < std::abs(b); });
  EXPECT_EQ(largest.imag(), 0);
  EXPECT_GT(largest.real(), 0);
}

TEST(Phase, RunsThePapersAlgorithm) {
  const Cli cli;
  write(cli, measured<double>(160, 16));
  EXPECT_EQ(phase(cli, "--truth x.npy --polish off --max-iterations 200").code, 4);
  EXPECT_EQ(cli.run_json()["iterations"], 200);
  EXPECT_TRUE(cli.exists("out/x.npy"));
}

TEST(Phase, TakesMasks) {
  const Cli cli;
  Random random(3, 0);
  RowMatrix<Complex> masks(6, 64);
  RowMatrix<Complex> x(64, 1);
  random.fill_normal(masks);
  random.fill_normal(x);
  Vector<double> b(6 * 64);
  // |sum_jk m_jk x_jk exp(-2 pi i (j r + k c) / 8)|^2, as numpy.fft.fft2
  for (Index l = 0; l < 6; ++l)
    for (Index r = 0; r < 8; ++r)
      for (Index c = 0; c < 8; ++c) {
        Complex sum = 0;
        for (Index j = 0; j < 8; ++j)
          for (Index k = 0; k < 8; ++k)
            sum += masks(l, 8 * j + k) * x(8 * j + k, 0) *
                   std::polar(1.0, -2 * M_PI * double(j * r + k * c) / 8);
        b(l * 64 + 8 * r + c) = std::norm(sum);
      }
  cli.write("A.npy", io::npy_bytes({6, 8, 8}, masks.data()));
  cli.write("b.npy", io::npy_bytes({6, 8, 8}, b.data()));
  cli.write("x.npy", io::npy_bytes({8, 8}, x.data()));
  EXPECT_EQ(phase(cli, "--map masks --truth x.npy").code, 0);
  EXPECT_LE(cli.run_json()["relative_error"], 1e-9);
  const auto refused = [&](const std::string& words) {
    const Outcome outcome = cli.run("phase A.npy b.npy --map masks --truth x.npy --out no");
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome;
  };
  cli.write("x.npy", io::npy_bytes({4, 16}, x.data()));
  refused("x.npy: shape 4 x 16 found, 8 x 8 as the masks have expected");
  cli.write("b.npy", io::npy_bytes({8, 6, 8}, b.data()));
  refused("b.npy: shape 8 x 6 x 8 found, 6 x 8 x 8 as the masks have expected");
  cli.write("b.npy", io::npy_bytes({6 * 64}, b.data()));
  // A pixel that no mask sees.
  masks.col(27).setZero();
  cli.write("A.npy", io::npy_bytes({6, 8, 8}, masks.data()));
  const Outcome dark = phase(cli, "--map masks");
  EXPECT_NE(dark.err.find("1 of 64 entries of x are in no measurement"), std::string::npos) << dark;
}

TEST(Phase, SameSeedSameBytesForAnyThreads) {
  const Cli cli;
  write(cli, measured<Complex>(120, 24));
  EXPECT_EQ(cli.run("phase A.npy b.npy --quiet --out one --threads 1").code, 0);
  EXPECT_EQ(cli.run("phase A.npy b.npy --quiet --out two --threads 2").code, 0);
  EXPECT_EQ(cli.text("one/x.npy"), cli.text("two/x.npy"));
}

TEST(Phase, StoppedBeforeTheFirstAnswerLeavesZeroAndSaysSo) {
  const Cli cli;
  write(cli, measured<double>(80, 16));
  EXPECT_EQ(phase(cli, "--time-limit 1e-9").code, 4);
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 0);
  EXPECT_EQ(run["relative_residual"], 1);
  EXPECT_EQ(run["stop_reason"], "time limit");
  EXPECT_EQ(io::read_npy(cli.path("out/x.npy")).values, std::vector<double>(16, 0.0));
}

// Rows 0..7, 8..15, ...: nearly parallel, the usual first step is far too long for them.
TEST(Phase, RecoversFromRowsThatAreFarFromRandom) {
  const Cli cli;
  auto m = measured<double>(40, 8);
  for (Index i = 0; i < m.A.size(); ++i) m.A.data()[i] = static_cast<double>(i);
  m.b = (m.A * m.x).cwiseAbs2();
  write(cli, m);
  EXPECT_EQ(phase(cli).code, 0);
  EXPECT_LE(cli.run_json()["relative_residual"], 1e-12);
}

TEST(Phase, TakesTheMethodAndRefusesWhatTheAutoModeDoesNotRead) {
  const Cli cli;
  write(cli, measured<double>(160, 16));
  EXPECT_EQ(phase(cli, "--method bm").code, 0);
  EXPECT_EQ(cli.run_json()["method"], "bm");
  for (const std::string flag : {"--alpha 2", "--scale none", "--noise 1", "--max-iterations 5"}) {
    const Outcome outcome = phase(cli, flag);
    EXPECT_EQ(outcome.code, 2) << outcome;
    EXPECT_EQ(outcome.err.find(flag.substr(0, flag.find(' '))), 0u) << outcome;
  }
}

struct BadCase {
  std::string name;
  std::function<void(const Cli&, Measured<double>&)> spoil;
  std::string expected;
};

TEST(Phase, NamesWhatIsWrong) {
  const std::vector<BadCase> cases{
      {"negative", [](const Cli&, auto& m) { m.b(3) = -1; },
       "udv: b.npy: value 3 is -1, an intensity is not negative\n"},
      {"nan", [](const Cli&, auto& m) { m.A(0, 1) = std::nan(""); },
       "udv: A.npy: value 1 (in row-major order) is not finite\n"},
      {"short", [](const Cli&, auto& m) { m.b.conservativeResize(5); },
       "udv: b.npy: shape 5 found, 40 intensities expected\n"},
      {"huge", [](const Cli&, auto& m) { m.A(0, 0) = 1e80; },
       "udv: A.npy: the largest magnitude is 1e+80, between 1e-70 and 1e+70 expected\n"},
      {"zero", [](const Cli&, auto& m) { m.b.setZero(); },
       "udv: b.npy: all 40 intensities are zero\n"},
  };
  for (const BadCase& item : cases) {
    const Cli cli;
    auto m = measured<double>(40, 8);
    item.spoil(cli, m);
    write(cli, m);
    const Outcome outcome = phase(cli);
    EXPECT_EQ(outcome.code, 3) << item.name;
    EXPECT_EQ(outcome.err, item.expected);
    EXPECT_FALSE(cli.exists("out")) << item.name;
  }
}

TEST(Phase, RefusesComplexIntensitiesAndWrongShapes) {
  const Cli cli;
  auto m = measured<double>(40, 8);
  write(cli, m);
  const Vector<Complex> b = m.b.cast<Complex>();
  cli.write("c.npy", io::npy_bytes({40}, b.data()));
  EXPECT_EQ(cli.run("phase A.npy c.npy --out out").err,
            "udv: c.npy: complex numbers found, intensities (real numbers) expected\n");
  EXPECT_EQ(cli.run("phase b.npy b.npy --out out").err,
            "udv: b.npy: shape 40 found, measurements x unknowns expected\n");
  EXPECT_EQ(cli.run("phase A.npy b.npy --truth b.npy --out out").err,
            "udv: b.npy: shape 40 found, 8 values expected\n");
  EXPECT_EQ(cli.run("phase A.npy b.npy --restarts 0").code, 2);
}

TEST(Phase, MuchNoiseIsNoFailure) {
  const Cli cli;
  auto m = measured<Complex>(256, 32);
  Random random(5, 0);
  const double sigma = 0.1 * m.b.norm() / 16;
  for (auto& value : m.b) value = std::max(0.0, value + sigma * random.normal());
  write(cli, m);
  EXPECT_EQ(phase(cli, "--truth x.npy").code, 0);
  EXPECT_EQ(cli.run_json()["stop_reason"], "converged");
}

// A pattern of 32 x 32 samples of an image of 16 x 16.
struct Pattern {
  RowMatrix<double> image = RowMatrix<double>::Zero(32, 32), intensities{32, 32};
  RowMatrix<double> support = RowMatrix<double>::Zero(32, 32);

  Pattern() {
    Random random(4, 0);
    support.topLeftCorner(16, 16).setOnes();
    for (int block = 0; block < 10; ++block) {
      const Index top = random.below(13), left = random.below(13);
      for (Index r = top; r < top + 3; ++r)
        for (Index c = left; c < left + 3; ++c) image(r, c) += random.uniform();
    }
    const auto wave = [](Index k) { return std::polar(1.0, -2 * M_PI * double(k % 32) / 32); };
    for (Index u = 0; u < 32; ++u)
      for (Index v = 0; v < 32; ++v) {
        Complex sum = 0;
        for (Index r = 0; r < 16; ++r)
          for (Index c = 0; c < 16; ++c) sum += image(r, c) * wave(u * r + v * c);
        intensities(u, v) = std::norm(sum);
      }
  }
  void write(const Cli& cli) const {
    cli.write("F.npy", io::npy_bytes({32, 32}, intensities.data()));
    cli.write("S.npy", io::npy_bytes({32, 32}, support.data()));
    cli.write("x.npy", io::npy_bytes({32, 32}, image.data()));
  }
};

TEST(Phase, RecoversAnImageFromOnePattern) {
  const Cli cli;
  Pattern().write(cli);
  const Outcome outcome =
      cli.run("phase --fourier F.npy --support S.npy --nonnegative --truth x.npy --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_LE(cli.run_json()["relative_error"], 1e-6);
  EXPECT_EQ(cli.run_json()["certificate"]["unique"], false);
  EXPECT_NE(outcome.err.find("inverted copy"), std::string::npos) << outcome;
  const io::ComplexArray x = io::read_complex_npy(cli.path("out/x.npy"));
  EXPECT_EQ(x.shape, (std::vector<Index>{32, 32}));
  EXPECT_EQ(cli.run("phase --fourier F.npy --nonnegative --truth x.npy --out half --quiet").code,
            0);
  EXPECT_EQ(cli.text("half/x.npy"), cli.text("out/x.npy"));
}

TEST(Phase, APatternWithFrequency0InTheMiddleIsRefused) {
  const Cli cli;
  Pattern made;
  RowMatrix<double> shifted(32, 32);
  for (Index u = 0; u < 32; ++u)
    for (Index v = 0; v < 32; ++v) shifted((u + 16) % 32, (v + 16) % 32) = made.intensities(u, v);
  made.intensities = shifted;
  made.write(cli);
  const Outcome outcome = cli.run("phase --fourier F.npy --nonnegative --out no");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "udv: F.npy: the largest value stands in the middle, at (16, 16), expected at (0, 0), "
            "where fft2 has frequency 0: use ifftshift\n");
  EXPECT_FALSE(cli.exists("no"));
}

TEST(Phase, NamesWhatIsWrongWithAPatternOrASupport) {
  const Cli cli;
  Pattern made;
  made.write(cli);
  write(cli, measured<double>(40, 8));
  const auto refused = [&](const std::string& flags, int code, const std::string& words) {
    const Outcome outcome = cli.run("phase " + flags + " --out no");
    EXPECT_EQ(outcome.code, code) << outcome;
    EXPECT_EQ(outcome.err, words + "\n") << outcome;
    EXPECT_FALSE(cli.exists("no"));
  };
  refused("--fourier b.npy", 3,
          "udv: b.npy: shape 40 found, rows x columns of one diffraction pattern expected");
  refused("--fourier F.npy --support x.npy", 3,
          "udv: x.npy: shape 8 found, 32 x 32 as x has expected");
  refused("A.npy b.npy --support S.npy", 3, "udv: S.npy: shape 32 x 32 found, 8 as x has expected");
  made.support.setZero();
  made.intensities(1, 2) = -3;
  made.write(cli);
  refused("--fourier F.npy", 3, "udv: F.npy: value 34 is -3, an intensity is not negative");
  made.intensities(1, 2) = std::nan("");
  made.write(cli);
  refused("--fourier F.npy", 3, "udv: F.npy: value 34 (in row-major order) is not finite");
  made.intensities(1, 2) = 1;
  made.write(cli);
  refused("--fourier F.npy --support S.npy", 3,
          "udv: S.npy: all values are zero, at least one entry of x that may differ expected");
  EXPECT_EQ(cli.run("phase").code, 2);
  EXPECT_EQ(cli.run("phase A.npy").code, 2);
  EXPECT_EQ(cli.run("phase A.npy b.npy --fourier F.npy").code, 2);
  EXPECT_EQ(cli.run("phase A.npy b.npy --nonnegative --polish off").code, 2);
}

// One mask of zeros and ones is a support, too.
TEST(Phase, OfOneMaskLeavesFiniteNumbers) {
  const Cli cli;
  const Pattern made;
  made.write(cli);
  cli.write("A.npy", io::npy_bytes({1, 32, 32}, made.support.data()));
  const Outcome outcome =
      cli.run("phase A.npy F.npy --map masks --nonnegative --truth x.npy --out out");
  EXPECT_EQ(outcome.out.find("nan"), std::string::npos) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 1);
}

// A time limit of nothing stops a run after its first step; each leg with a little more gets
// further.
TEST(Phase, StoppedAgainAndAgainEndsWithTheSameBytes) {
  const Cli cli;
  write(cli, measured<Complex>(160, 32));
  ASSERT_EQ(cli.run("phase A.npy b.npy --out whole --quiet").code, 0);
  ASSERT_EQ(phase(cli, "--time-limit 1e-9").code, 4);
  EXPECT_TRUE(cli.exists("out/checkpoint.bin"));
  ASSERT_EQ(phase(cli, "--time-limit 1e-3 --resume").code % 4, 0);
  ASSERT_EQ(phase(cli, "--resume").code, 0);
  for (const std::string name : {"x.npy", "U.npy", "d.npy"})
    EXPECT_EQ(cli.text("out/" + name), cli.text("whole/" + name)) << name;
  EXPECT_EQ(cli.run_json()["iterations"], cli.run_json("whole")["iterations"]);
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));
}

}  // namespace phase_test
}  // namespace udv::cli
