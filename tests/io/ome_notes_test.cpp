// SPDX-License-Identifier: MIT
#include "io/ome_notes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace udv::io::detail {
namespace ome_notes_test {

TEST(OmeNotes, GiveNumbersOfAttributes) {
  const std::string notes =
      "<OME><Objective LensNA=\"none\"/><Objective LensNA=\"0.1\"/><Pixels PhysicalSizeX=\"1845\" "
      "PhysicalSizeXUnit=\"nm\" Y=\"1e999\" Z=\"3";
  EXPECT_EQ(number_attribute(notes, "LensNA"), 0.1);
  EXPECT_EQ(number_attribute(notes, "PhysicalSizeX"), 1845);
  for (const char* name : {"PhysicalSizeXUnit", "Y", "Z", "LensN", "EmissionWavelength"})
    EXPECT_FALSE(number_attribute(notes, name)) << name;
}

// A regular expression took a frame of the stack for each character.
TEST(OmeNotes, MayBeLong) {
  const std::string digits(1'000'000, '1');
  EXPECT_FALSE(number_attribute("NA=\"" + digits + "\"", "NA"));
  EXPECT_EQ(number_attribute("NA=\"" + digits + "\" NA=\"0.5\"", "NA"), 0.5);
}

}  // namespace ome_notes_test
}  // namespace udv::io::detail
