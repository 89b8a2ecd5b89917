// SPDX-License-Identifier: MIT
// udv ptycho on a made-up microscope; its data are written as .mat, .npz and HDF5.
#include <matio.h>
#include <tiffio.h>

#include <cmath>
#include <csignal>
#include <thread>

#include "cli/support.hpp"
#include "support/real_data.hpp"
#include "udv/io/png.hpp"
#include "udv/recover/operators/imaging.hpp"

namespace udv::cli {
namespace ptycho_test {

using Complex = std::complex<float>;

constexpr Index kLow = 32, kHigh = 64, kImages = 25;
constexpr double kNa = 0.1, kPixel = 1.8e-6, kWavelength = 532e-9;

const char* const kSetup =
    "[optics]\nwavelength_nm = 532\nna = 0.1\nsample_pixel_um = 1.8\nled_pitch_mm = 4\n"
    "led_distance_mm = 90\nupsampling = 2\n"
    "[leds]\norder = \"spiral\"\n[data]\nvariable = \"images\"\nkind = \"intensity\"\n";

// Intensities of a sample with a dark square and a bump of phase, rows x cols x images.
std::vector<double> images(Index low = kLow) {
  const Index high = 2 * low;
  Optics optics;
  optics.wavelength_m = kWavelength;
  optics.numerical_aperture = kNa;
  optics.pixel_m = kPixel;
  optics.led_pitch_mm = 4;
  optics.led_distance_mm = 90;
  const auto lights = illuminations(optics, spiral_order(kImages));
  const PtychographyOperator<Complex> op(high, high, spectrum_windows(optics, low, low, lights),
                                         pupil(optics, low, low));
  Vector<Complex> image(high * high);
  for (Index r = 0; r < high; ++r)
    for (Index c = 0; c < high; ++c) {
      const bool square = r > 10 && r < 25 && c > 30 && c < 50;
      const double bump = std::exp(-(std::pow(r - 40.0, 2) + std::pow(c - 20.0, 2)) / 60.0);
      image(r * high + c) = std::polar(square ? 0.4f : 1.0f, float(bump));
    }
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(op.from_image(image)), fields);
  std::vector<double> values(static_cast<size_t>(fields.size()));
  for (Index l = 0; l < kImages; ++l)
    for (Index i = 0; i < low * low; ++i)
      values[static_cast<size_t>(i * kImages + l)] = std::norm(fields(l * low * low + i, 0));
  return values;
}

// MATLAB keeps the first index running fastest.
void write_mat(const std::filesystem::path& path, const std::vector<double>& values) {
  std::vector<double> turned(values.size());
  for (size_t r = 0; r < kLow; ++r)
    for (size_t c = 0; c < kLow; ++c)
      for (size_t l = 0; l < kImages; ++l)
        turned[(l * kLow + c) * kLow + r] = values[(r * kLow + c) * kImages + l];
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  size_t shape[3] = {kLow, kLow, kImages};
  matvar_t* variable =
      Mat_VarCreate("images", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, shape, turned.data(), 0);
  Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE);
  Mat_VarFree(variable);
  Mat_Close(file);
}

struct Lab {
  Cli cli;
  std::vector<double> values = images();

  Lab() {
    cli.write("setup.toml", kSetup);
    write_mat(cli.path("data.mat"), values);
  }
  Outcome run(const std::string& flags = "", const std::string& data = "data.mat") const {
    return cli.run("ptycho " + data + " --setup setup.toml --out out --force --quiet " + flags);
  }
};

TEST(Ptycho, SaysThatTheComponentOfADeviceIsMissing) {
  const Lab lab;
  setenv("UDV_CUDA_MODULE", "nowhere.so", 1);
  for (const char* flags : {"--device cuda", "--device cuda --method udu --step 0.1"}) {
    const Outcome outcome = lab.run(flags);
    EXPECT_EQ(outcome.code, 2) << outcome;
    for (const char* word : {"--device", "component cuda", "nowhere.so"})
      EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome;
  }
  unsetenv("UDV_CUDA_MODULE");
}

TEST(Ptycho, RecoversAndPredictsHeldOutImages) {
  const Lab lab;
  const Outcome outcome = lab.run("--holdout-leds 3");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const Json run = lab.cli.run_json();
  EXPECT_LE(run["held_out_residual"], 0.05);
  EXPECT_LE(run["amplitude_residual"], 0.02);
  EXPECT_EQ(run["scalar"], "complex64");
  EXPECT_EQ(run["rank"], 1);
  EXPECT_EQ(run["leds"].size(), 25u);
  EXPECT_EQ(run["candidates"], (Json{"flat", "dynamics", "modulus"}));
  const io::ComplexArray x = io::read_complex_npy(lab.cli.path("out/x.npy"));
  EXPECT_EQ(x.shape, (std::vector<Index>{kHigh, kHigh}));
  const auto picture = io::read_png_gray(lab.cli.path("out/amplitude.png"));
  EXPECT_EQ(picture.rows(), kHigh);
  EXPECT_LT(picture(18, 40), 100);  // the dark square
  EXPECT_GT(picture(50, 50), 150);
  EXPECT_EQ(io::read_png_gray(lab.cli.path("out/phase.png")).cols(), kHigh);
}

TEST(Ptycho, ReadsNpzToTheSameBytes) {
  const Lab lab;
  io::Array array{{kLow, kLow, kImages}, lab.values};
  io::write_npz(lab.cli.path("data.npz"), {{"images", array}});
  EXPECT_EQ(lab.run("--candidates flat").code, 0);
  const std::string of_mat = lab.cli.text("out/x.npy");
  EXPECT_EQ(lab.run("--candidates flat", "data.npz").code, 0);
  EXPECT_EQ(lab.cli.text("out/x.npy"), of_mat);
}

TEST(Ptycho, RunsThePapersAlgorithmWithSnapshots) {
  const Lab lab;
  const Outcome outcome =
      lab.run("--method udu --step 0.1 --max-rank 4 --max-iterations 20 --snapshots 0,10,20");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_EQ(lab.cli.run_json()["iterations"], 20);
  for (const char* name : {"amplitude-000000.png", "amplitude-000010.png", "phase-000020.png"})
    EXPECT_TRUE(lab.cli.exists(std::string("out/") + name)) << name;
}

TEST(Ptycho, GoesOnAfterAnInterruptToTheSameBytes) {
  const Lab lab;
  const std::string flags = "--step 0.1 --max-rank 6 --max-iterations 1500";
  EXPECT_EQ(lab.run(flags).code, 4);
  const std::string whole = lab.cli.text("out/U.npy");
  const std::string words = "ptycho data.mat --setup setup.toml --out cut --quiet " + flags;
  EXPECT_EQ(lab.cli.run(words + " --time-limit 0.05").code, 4);
  const Outcome resumed = lab.cli.run(words + " --resume");
  EXPECT_EQ(resumed.code, 4) << resumed;
  EXPECT_TRUE(lab.cli.text("cut/U.npy") == whole);
}

TEST(Ptycho, NamesTheVariablesThatAreThere) {
  const Lab lab;
  std::string setup = kSetup;
  setup.replace(setup.find("\"images\""), 8, "\"pictures\"");
  lab.cli.write("setup.toml", setup);
  const Outcome outcome = lab.run();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "udv: data.mat: variable 'pictures' not there; found: images (32 x 32 x 25 double)\n");
}

TEST(Ptycho, NamesANegativePixel) {
  Lab lab;
  lab.values[(2 * kLow + 5) * kImages + 7] = -2;
  write_mat(lab.cli.path("data.mat"), lab.values);
  EXPECT_EQ(lab.run().err,
            "udv: data.mat: variable 'images': image 8, pixel (2, 5) is -2, a number of at least 0 "
            "expected\n");
}

TEST(Ptycho, LeavesOutEmptyImagesUnlessToldToKeepThem) {
  Lab lab;
  for (size_t i = 0; i < kLow * kLow; ++i) lab.values[i * kImages + 4] = 0;
  write_mat(lab.cli.path("data.mat"), lab.values);
  const Outcome kept = lab.run("--drop-bad off --candidates flat");
  EXPECT_NE(kept.err.find("image 5 is all zero; the option drop-bad leaves such images out\n"),
            std::string::npos)
      << kept;
  EXPECT_EQ(lab.cli.run_json()["leds"].size(), 25u);
  const Outcome dropped = lab.run("--drop-bad --candidates flat --force");
  EXPECT_EQ(dropped.code, 0);
  EXPECT_EQ(lab.cli.run_json()["leds"].size(), 24u);
}

TEST(Ptycho, ReportsLedsThatContradictTheModel) {
  Lab lab;
  for (size_t i = 0; i < kLow * kLow; ++i) lab.values[i * kImages + 2] *= 0.2;
  write_mat(lab.cli.path("data.mat"), lab.values);
  const Outcome told = lab.run("--candidates flat --drop-bad off --calibrate off");
  EXPECT_EQ(told.err,
            "udv: warning: LED 3 contradicts the model (far too dark or too bright for the "
            "place); the option drop-bad leaves such images out\n");
  EXPECT_EQ(lab.cli.run_json()["contradicting_leds"], Json{3});
  lab.run("--candidates flat");
  EXPECT_EQ(lab.cli.run_json()["leds"].size(), 24u);
  EXPECT_EQ(lab.cli.run_json()["left_out_leds"], Json{3});
  EXPECT_EQ(lab.cli.run_json()["left_out_reasons"], Json{"contradicts the model"});
}

// The sentence that the page begins with.
TEST(Ptycho, ImagesThatAreNoneAreExplainedPoorly) {
  Lab lab;
  for (size_t i = 0; i < lab.values.size(); ++i)
    lab.values[i] = i * 2654435761u % 1009 < 30 ? 100 + double(i % 7) : 0.1;
  write_mat(lab.cli.path("data.mat"), lab.values);
  const Outcome outcome = lab.run("--candidates flat --drop-bad off");
  EXPECT_NE(outcome.err.find("the images do not fit the model"), std::string::npos) << outcome;
  EXPECT_TRUE(std::string(lab.cli.run_json()["verdict"]).starts_with("explains the data poorly"))
      << lab.cli.run_json()["verdict"];
}

TEST(Ptycho, SaysWhichLedLeavesTheSpectrum) {
  const Lab lab;
  std::string setup = kSetup;
  setup.replace(setup.find("led_pitch_mm = 4"), 16, "led_pitch_mm = 30");
  lab.cli.write("setup.toml", setup);
  const Outcome outcome = lab.run();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("LED 2"), std::string::npos) << outcome;
}

// What a setup with one line changed is refused with.
std::string refusal(const Lab& lab, const std::string& line, const std::string& instead) {
  std::string setup = kSetup;
  setup.replace(setup.find(line), line.size(), instead);
  lab.cli.write("setup.toml", setup);
  const Outcome outcome = lab.run();
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_FALSE(lab.cli.exists("out"));
  return outcome.err;
}

TEST(Ptycho, SetupsThatCannotBeAreRefused) {
  const Lab lab;
  EXPECT_NE(refusal(lab, "wavelength_nm = 532", "wavelength_nm = 5.32")
                .find("udv: setup.toml: [optics] na, wavelength_nm and the pixel size: NA 0.1, "),
            std::string::npos);
  EXPECT_EQ(refusal(lab, "sample_pixel_um = 1.8", "sample_pixel_um = 1e6"),
            "udv: setup.toml:4: [optics] sample_pixel_um: 1e+06 found, micrometres from 0.0001 to "
            "1000 expected\n");
  EXPECT_NE(refusal(lab, "led_distance_mm", "led_distanse_mm").find("did you mean led_distance_mm"),
            std::string::npos);
  EXPECT_EQ(refusal(lab, "order = \"spiral\"", "list = [[0, 0], [1, 0]]"),
            "udv: setup.toml:8: [leds]: places of 2 LEDs found, 25 expected, one for each image\n");
  EXPECT_NE(refusal(lab, "kind = \"intensity\"", "kind = \"intensity\"\nimage_axis = \"first\"")
                .find("32 images of 32 x 25 found, square ones expected"),
            std::string::npos);
}

TEST(Ptycho, PlacesInMillimetresOrApertureOfAFileAreAnOrderToo) {
  const Lab lab;
  ASSERT_EQ(lab.run("--candidates flat --calibrate off").code, 0);
  const std::string spiral = lab.cli.text("out/windows.npy");
  std::string millimetres = "x_mm,y_mm\n";
  for (const GridPoint& led : spiral_order(kImages))
    millimetres += std::to_string(4 * led.x) + "," + std::to_string(4 * led.y) + "\n";
  lab.cli.write("leds.csv", millimetres);
  std::string setup = kSetup;
  setup.replace(setup.find("order = \"spiral\""), 16, "file = \"leds.csv\"");
  setup.replace(setup.find("led_pitch_mm = 4\n"), 17, "");
  lab.cli.write("setup.toml", setup);
  ASSERT_EQ(lab.run("--candidates flat --calibrate off").code, 0);
  EXPECT_EQ(lab.cli.text("out/windows.npy"), spiral);
}

TEST(Ptycho, PlacesAsNumericalAperturesAreAnOrderToo) {
  const Lab lab;
  ASSERT_EQ(lab.run("--candidates flat --calibrate off").code, 0);
  const std::string spiral = lab.cli.text("out/windows.npy");
  std::string apertures = "na_x,na_y\n";
  for (const GridPoint& led : spiral_order(kImages)) {
    const double radius = 4 * std::hypot(led.x, led.y), angle = std::atan2(led.y, led.x);
    const double na = std::sin(std::atan2(radius, 90.0));
    apertures +=
        std::to_string(na * std::cos(angle)) + "," + std::to_string(na * std::sin(angle)) + "\n";
  }
  lab.cli.write("leds.csv", apertures);
  std::string setup = kSetup;
  setup.replace(setup.find("order = \"spiral\""), 16, "file = \"leds.csv\"");
  setup.replace(setup.find("led_pitch_mm = 4\n"), 17, "");
  setup.replace(setup.find("led_distance_mm = 90\n"), 21, "");
  lab.cli.write("setup.toml", setup);
  const Outcome outcome = lab.run("--candidates flat --calibrate off");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(lab.cli.text("out/windows.npy"), spiral);
}

// What is known of a photon and a detector, where CXI files have it.
TEST(Ptycho, GuessesASetupFromTheNamesOfCxiFiles) {
  const Lab lab;
  io::write_npz(lab.cli.path("data.npz"),
                {{"entry_1/data_1/data", {{kLow, kLow, kImages}, lab.values}},
                 {"entry_1/instrument_1/source_1/energy", {{}, {3.7339e-19}}},
                 {"entry_1/instrument_1/detector_1/distance", {{}, {0.2}}},
                 {"entry_1/instrument_1/detector_1/x_pixel_size", {{}, {6.5e-6}}}});
  const Outcome outcome = lab.cli.run("ptycho data.npz --guess");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const std::string setup = lab.cli.text("data.toml");
  EXPECT_NE(setup.find("wavelength_nm = 532.0"), std::string::npos) << setup;
  EXPECT_NE(setup.find("x_pixel_size\", scale = 1e+06 }"), std::string::npos) << setup;
  EXPECT_NE(setup.find("# magnification =   # MISSING"), std::string::npos) << setup;
  EXPECT_NE(setup.find("the detector's distance, not that of the LEDs"), std::string::npos);
  EXPECT_NE(setup.find("variable = \"entry_1/data_1/data\""), std::string::npos);
  EXPECT_NE(lab.cli.run("ptycho data.npz --guess").err.find("replace it (force)"),
            std::string::npos);
}

// 9 images of 8 x 8 pixels with a note.
void write_ome_tiff(const std::filesystem::path& path, const std::string& pixel_size) {
  TIFF* const file = TIFFOpen(path.c_str(), "w");
  const std::vector<std::uint16_t> line(8, 5);
  for (int page = 0; page < 9; ++page) {
    if (page == 0)
      TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION,
                   ("<OME><Objective LensNA=\"0.1\"/><Pixels " + pixel_size +
                    "><Channel EmissionWavelength=\"532\"/></Pixels></OME>")
                       .c_str());
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, 8);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, 8);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    for (std::uint32_t r = 0; r < 8; ++r)
      TIFFWriteScanline(file, const_cast<std::uint16_t*>(line.data()), r, 0);
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

TEST(Ptycho, GuessesASetupFromOmeXml) {
  const Cli cli;
  write_ome_tiff(cli.path("stack.ome.tif"), "PhysicalSizeX=\"1845\" PhysicalSizeXUnit=\"nm\"");
  const Outcome outcome = cli.run("ptycho stack.ome.tif --guess --setup setup.toml");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const std::string setup = cli.text("setup.toml");
  EXPECT_NE(setup.find("wavelength_nm = 532  "), std::string::npos) << setup;
  EXPECT_NE(setup.find("na = 0.1  "), std::string::npos) << setup;
  EXPECT_NE(setup.find("sample_pixel_um = 1.845  "), std::string::npos) << setup;
  EXPECT_NE(setup.find("rows = 3\ncols = 3"), std::string::npos) << setup;
  // In capitals, in a folder, beside a hidden copy, in millimetres.
  std::filesystem::create_directory(cli.path("cells"));
  cli.write("cells/._a.TIF", "no picture");
  write_ome_tiff(cli.path("cells/a.TIF"), "PhysicalSizeX=\"0.0023\" PhysicalSizeXUnit=\"mm\"");
  const Outcome folder = cli.run("ptycho cells/a.TIF --guess --setup folder.toml");
  EXPECT_EQ(folder.code, 0) << folder;
  EXPECT_NE(cli.text("folder.toml").find("sample_pixel_um = 2.3  "), std::string::npos)
      << cli.text("folder.toml");
  EXPECT_NE(cli.text("folder.toml").find("image_axis = \"first\""), std::string::npos);
}

// Names come from the file; they must not end up as keys of the setup.
TEST(Ptycho, GuessesNoSetupFromNamesThatAreNoNames) {
  const Lab lab;
  io::write_npz(lab.cli.path("data.npz"),
                {{"images\"\nna = \"", {{kLow, kLow, kImages}, lab.values}}});
  const Outcome outcome = lab.cli.run("ptycho data.npz --guess");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("a name without quotes"), std::string::npos) << outcome;
  EXPECT_FALSE(lab.cli.exists("data.toml"));
}

TEST(Ptycho, GuessesASetup) {
  const Lab lab;
  io::write_npz(lab.cli.path("data.npz"), {{"images", {{kLow, kLow, kImages}, lab.values}},
                                           {"wavelength", {{}, {532e-9}}},
                                           {"NA", {{}, {0.1}}}});
  const Outcome outcome = lab.cli.run("ptycho data.npz --guess");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const std::string setup = lab.cli.text("data.toml");
  EXPECT_NE(setup.find("wavelength_nm = { variable = \"wavelength\", scale = 1e+09 }"),
            std::string::npos)
      << setup;
  EXPECT_NE(setup.find("na = { variable = \"NA\" }"), std::string::npos);
  EXPECT_NE(setup.find("# led_pitch_mm =   # MISSING"), std::string::npos);
  EXPECT_NE(setup.find("image_axis = \"last\""), std::string::npos);
  EXPECT_NE(outcome.out.find("led_distance_mm"), std::string::npos) << outcome;
  EXPECT_EQ(lab.cli.run("ptycho data.npz --guess").code, 2);
  EXPECT_EQ(lab.cli.run("ptycho data.npz").code, 2);
}

TEST(Ptycho, PixelsOfAMaskAreNotUsed) {
  Lab lab;
  const double hole = std::nan("");
  for (size_t l = 0; l < kImages; ++l) lab.values[(5 * kLow + 7) * kImages + l] = hole;
  write_mat(lab.cli.path("data.mat"), lab.values);
  EXPECT_EQ(lab.run("--candidates flat").err,
            "udv: data.mat: variable 'images': image 1, pixel (5, 7) is nan, a number of at least "
            "0 expected\n");
  RowMatrix<double> mask = RowMatrix<double>::Zero(kLow, kLow);
  mask(5, 7) = 1;
  io::write_npy(lab.cli.path("mask.npy"), mask);
  EXPECT_EQ(lab.run("--candidates flat --mask mask.npy").code, 0);
  EXPECT_LE(lab.cli.run_json()["amplitude_residual"], 0.05);
  io::write_npy(lab.cli.path("mask.npy"), RowMatrix<double>(RowMatrix<double>::Zero(16, 64)));
  EXPECT_EQ(lab.run("--candidates flat --mask mask.npy").err,
            "udv: mask.npy: a mask of 16 x 64 found, 32 x 32 expected, as the images\n");
}

TEST(Ptycho, SnapshotsAreForTheGradientMethod) {
  const Lab lab;
  EXPECT_EQ(lab.run("--snapshots 0,10").code, 2);
  EXPECT_EQ(lab.run("--step 0.1 --snapshots 0,x").code, 2);
}

// The real data set, where it is at hand.
TEST(Ptycho, PredictsHeldOutImagesOfTheBloodSmear) {
  const auto data = testing::data_file("ptychography/bloodsmear_green.mat");
  UDV_NEEDS(data, "ptychography");
  const Cli cli;
  const std::string setup = std::string(UDV_EXAMPLES) + "/bloodsmear.toml";
  const Outcome outcome = cli.run("ptycho " + data.string() + " --setup " + setup +
                                  " --out out --quiet --holdout-leds 8 --candidates flat");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_LE(cli.run_json()["held_out_residual"], 0.105);
}

// 4 tiles; each of them starts with the pupil of one before it.
struct TiledLab {
  Cli cli;

  TiledLab() {
    cli.write("setup.toml", kSetup);
    io::write_npz(cli.path("data.npz"), {{"images", {{56, 56, kImages}, images(56)}}});
  }
  Outcome run(const std::string& flags) const {
    return cli.run(
        "ptycho data.npz --setup setup.toml --quiet --tile 32 --candidates flat --calibrate off " +
        flags);
  }
};

TEST(Ptycho, ATiledRunThatWasStoppedEndsWithTheSameBytes) {
  const TiledLab lab;
  const Outcome whole = lab.run("--out whole");
  ASSERT_EQ(whole.code, 0) << whole;
  EXPECT_GE(lab.cli.run_json("whole")["tiles"], 4);
  ASSERT_EQ(lab.run("--out cut --time-limit 1e-9").code, 4);
  EXPECT_TRUE(lab.cli.exists("cut/checkpoint.bin"));
  ASSERT_EQ(lab.run("--out cut --time-limit 0.3 --resume").code % 4, 0);
  ASSERT_EQ(lab.run("--out cut --resume").code, 0);
  for (const std::string name : {"x.npy", "pupil.npy", "phase.png"})
    EXPECT_EQ(lab.cli.text("cut/" + name), lab.cli.text("whole/" + name)) << name;
}

// At a time limit there is an answer, after Ctrl-C a picture that a resumed run takes away.
TEST(Ptycho, KeepsTheBestImageSoFar) {
  const TiledLab lab;
  const std::string words =
      "ptycho data.npz --setup setup.toml --quiet --tile off --calibrate off --out ";
  ASSERT_EQ(lab.cli.run(words + "limit --time-limit 0.2").code, 4);
  EXPECT_TRUE(lab.cli.exists("limit/amplitude.png"));
  EXPECT_TRUE(lab.cli.exists("limit/x.npy"));
  EXPECT_LT(lab.cli.run_json("limit")["amplitude_residual"], 1);
  const auto process = lab.cli.start(words + "out");
  ASSERT_TRUE(process->catches(SIGINT));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process->send(SIGINT);
  if (process->wait().code != 130) GTEST_SKIP() << "the run was faster";
  EXPECT_TRUE(lab.cli.exists("out/so-far-amplitude.png"));
  ASSERT_EQ(lab.cli.run(words + "out --resume").code, 0);
  EXPECT_FALSE(lab.cli.exists("out/so-far-amplitude.png"));
  EXPECT_TRUE(lab.cli.exists("out/amplitude.png"));
}

TEST(Ptycho, StoppedAgainAndAgainEndsWithTheSameBytes) {
  const Lab lab;
  ASSERT_EQ(lab.cli.run("ptycho data.mat --setup setup.toml --out whole --quiet").code, 0);
  ASSERT_EQ(lab.run("--time-limit 1e-9").code, 4);
  EXPECT_TRUE(lab.cli.exists("out/checkpoint.bin"));
  ASSERT_EQ(lab.run("--time-limit 0.02 --resume").code % 4, 0);
  ASSERT_EQ(lab.run("--resume").code, 0);
  for (const std::string name : {"x.npy", "pupil.npy", "phase.png"})
    EXPECT_EQ(lab.cli.text("out/" + name), lab.cli.text("whole/" + name)) << name;
  EXPECT_FALSE(lab.cli.exists("out/checkpoint.bin"));
}

}  // namespace ptycho_test
}  // namespace udv::cli
