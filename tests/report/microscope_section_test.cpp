// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "report/sections.hpp"
#include "udv/io/png.hpp"

namespace udv::report {
namespace microscope_section_test {

// The answer first; what is wrong with it before anything that only experts look at.
TEST(MicroscopeSection, BeginsWithThePictureAndItsWarnings) {
  io::TemporaryFolder folder;
  folder.write("run.json", R"({"command": "ptycho", "amplitude_residual": 0.02, "vortices": 0,
    "phase_bowl": 0.1, "warnings": ["the setup says A; the images show B, which is used"],
    "config": {"seed": 1}})");
  const RowMatrix<std::uint16_t> picture = RowMatrix<std::uint16_t>::Ones(8, 8);
  for (const char* const name : {"amplitude.png", "phase.png", "raw.png", "leds.png", "pupil.png"})
    io::write_png16(folder / name, picture);
  const Json section = run_section(read_run(folder / "", "run"), true, {});
  std::vector<std::string> titles;
  for (const Json& block : section["blocks"]) titles.push_back(block.value("title", ""));
  ASSERT_GE(titles.size(), 4u);
  EXPECT_EQ(titles[0], "Recovered image");
  EXPECT_EQ(titles[1], "How good it is");
  EXPECT_EQ(titles[2], "Warning");
  EXPECT_EQ(titles[3], "LEDs and pupil");
  EXPECT_EQ(std::count(titles.begin(), titles.end(), "Warning"), 1);
}

}  // namespace microscope_section_test
}  // namespace udv::report
