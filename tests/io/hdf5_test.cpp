// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <complex>

#include "damaged_files.hpp"
#include "io/hdf5_handle.hpp"
#include "udv/io/file.hpp"

/// For the leak sanitizer: after damaged files HDF5 loses some memory of its own.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}

namespace udv::io {
namespace hdf5_test {

using detail::Hdf5Handle;
using Shape = std::vector<Index>;
using Sizes = std::vector<hsize_t>;
using Values = std::vector<std::complex<double>>;

// Before any test writes through HDF5: what damaged files leave behind is no matter at the end.
[[maybe_unused]] const herr_t kNoClosingWords = H5dont_atexit();

/// An HDF5 file that HDF5's own interface writes.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose) {}

  hid_t get() const { return file_.get(); }

  /// Writes values of `memory_type`; the file's type is the same unless told otherwise.
  void add(const char* name, hid_t memory_type, const Sizes& shape, const void* values,
           hid_t file_type = H5I_INVALID_HID, hid_t properties = H5P_DEFAULT) const {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                           &H5Sclose);
    const hid_t type = file_type < 0 ? memory_type : file_type;
    const Hdf5Handle dataset(
        H5Dcreate2(get(), name, type, space.get(), H5P_DEFAULT, properties, H5P_DEFAULT),
        &H5Dclose);
    if (values) H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }

  void add_group(const char* name) const {
    H5Gclose(H5Gcreate2(get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }

 private:
  Hdf5Handle file_;
};

template <typename Real>
Hdf5Handle complex_type(const char* real, const char* imag, hid_t part) {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 2 * sizeof(Real)), &H5Tclose);
  H5Tinsert(type.get(), real, 0, part);
  H5Tinsert(type.get(), imag, sizeof(Real), part);
  return type;
}

/// A matrix in a group, packed; complex numbers; text.
std::string mixed_bytes() {
  const TemporaryFolder folder;
  {
    const Hdf5Writer writer(folder / "x.h5");
    const double matrix[] = {0, 1, 2, 3, 4, 5};
    const float numbers[] = {1, -1, 2, 0.5};
    const Hdf5Handle packed(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
    const hsize_t chunk[] = {2, 2};
    H5Pset_chunk(packed.get(), 2, chunk);
    H5Pset_deflate(packed.get(), 9);
    writer.add_group("g");
    writer.add("g/a", H5T_NATIVE_DOUBLE, {2, 3}, matrix, -1, packed.get());
    const Hdf5Handle type = complex_type<float>("r", "i", H5T_NATIVE_FLOAT);
    writer.add("z", type.get(), {2}, numbers);
    const Hdf5Handle text(H5Tcopy(H5T_C_S1), &H5Tclose);
    H5Tset_size(text.get(), 5);
    writer.add("t", text.get(), {1}, "hello");
  }
  return read_bytes(folder / "x.h5");
}

std::string error_of(const std::string& bytes, const std::string& variable = "z") {
  const TemporaryFolder folder;
  const auto path = folder.write("x.h5", bytes);
  return folder.error_of([&] { VariableFile(path).read(variable); });
}

TEST(Hdf5, KeepsShapeAndOrderOfArraysInGroups) {
  const TemporaryFolder folder;
  const VariableFile file(folder.write("x.h5", mixed_bytes()));
  const ComplexArray array = file.read("g/a");
  EXPECT_FALSE(array.is_complex);
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_EQ(array.values, (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(file.has("g"));
  EXPECT_FALSE(file.has("/g/a"));
}

TEST(Hdf5, ReadsComplexNumbersOfBothSpellings) {
  const TemporaryFolder folder;
  const double numbers[] = {1, -1, 2, 0.5};
  {
    const Hdf5Writer writer(folder / "x.hdf5");
    writer.add("python", complex_type<double>("r", "i", H5T_NATIVE_DOUBLE).get(), {2}, numbers);
    writer.add("matlab", complex_type<double>("real", "imag", H5T_NATIVE_DOUBLE).get(), {2},
               numbers);
    writer.add("other", complex_type<double>("x", "y", H5T_NATIVE_DOUBLE).get(), {2}, numbers);
  }
  const VariableFile file(folder / "x.hdf5");
  for (const char* name : {"python", "matlab"}) {
    EXPECT_TRUE(file.read(name).is_complex);
    EXPECT_EQ(file.read(name).values, (Values{{1, -1}, {2, 0.5}}));
  }
  EXPECT_EQ(folder.error_of([&] { file.read("other"); }),
            "x.hdf5: variable 'other': 2 compound found, booleans, integers, floats or complex "
            "numbers expected");
}

TEST(Hdf5, ReadsEveryKindOfNumber) {
  const TemporaryFolder folder;
  const std::int32_t numbers[] = {0, 1, 100};
  const std::int8_t booleans[] = {0, 1, 1};
  {
    const Hdf5Writer writer(folder / "x.h5");
    for (const auto& [name, type] :
         {std::pair("i1", H5T_STD_I8LE), std::pair("i2", H5T_STD_I16BE),
          std::pair("u4", H5T_STD_U32BE), std::pair("u8", H5T_STD_U64LE),
          std::pair("f4", H5T_IEEE_F32BE), std::pair("f8", H5T_IEEE_F64LE)}) {
      writer.add(name, H5T_NATIVE_INT32, {3}, numbers, type);
    }
    const Hdf5Handle boolean(H5Tenum_create(H5T_NATIVE_INT8), &H5Tclose);
    H5Tenum_insert(boolean.get(), "FALSE", &booleans[0]);
    H5Tenum_insert(boolean.get(), "TRUE", &booleans[1]);
    writer.add("b", boolean.get(), {3}, booleans);
  }
  const VariableFile file(folder / "x.h5");
  for (const char* name : {"i1", "i2", "u4", "u8", "f4", "f8"}) {
    EXPECT_EQ(file.read(name).values, (Values{0, 1, 100})) << name;
  }
  EXPECT_EQ(file.read("b").values, (Values{0, 1, 1}));
  EXPECT_EQ(folder.error_of([&] { file.read("x"); }),
            "x.h5: variable 'x' not there; found: b (3 bool), f4 (3 float32), f8 (3 float64), i1 "
            "(3 int8), i2 (3 int16), u4 (3 uint32), u8 (3 uint64)");
}

TEST(Hdf5, ReadsAScalarAndAnEmptyArray) {
  const TemporaryFolder folder;
  const double value = 4.5;
  {
    const Hdf5Writer writer(folder / "x.h5");
    writer.add("s", H5T_NATIVE_DOUBLE, {}, &value);
    writer.add("e", H5T_NATIVE_DOUBLE, {0, 3}, nullptr);
  }
  const VariableFile file(folder / "x.h5");
  EXPECT_EQ(file.read("s").shape, Shape{});
  EXPECT_EQ(file.read("s").values, Values{4.5});
  EXPECT_EQ(file.read("e").shape, (Shape{0, 3}));
}

TEST(Hdf5, RefusesTextAndNamesWhatIsThere) {
  EXPECT_EQ(error_of(mixed_bytes(), "t"),
            "x.h5: variable 't': 1 string found, booleans, integers, floats or complex numbers "
            "expected");
  EXPECT_EQ(error_of(mixed_bytes(), "b"),
            "x.h5: variable 'b' not there; found: g/a (2 x 3 float64), t (1 string), z (2 "
            "complex64)");
}

TEST(Hdf5, RefusesAnArrayFarLargerThanItsFile) {
  const TemporaryFolder folder;
  Hdf5Writer(folder / "x.h5").add("a", H5T_NATIVE_DOUBLE, {1000000, 1000000}, nullptr);
  const std::string error = folder.error_of([&] { VariableFile(folder / "x.h5").read("a"); });
  EXPECT_TRUE(error.starts_with("x.h5: variable 'a': 1000000 x 1000000 numbers announced"))
      << error;
}

TEST(Hdf5, RefusesForeignAndMissingFiles) {
  const TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { VariableFile(folder / "no.h5"); }),
            "no.h5: no such file, a file to read expected");
  const std::string expected = "x.h5: an HDF5 file expected, but HDF5 says: ";
  for (const std::string& bytes : {std::string(), std::string("1,2,3\n"), random_bytes(5000)}) {
    EXPECT_TRUE(error_of(bytes).starts_with(expected)) << error_of(bytes);
  }
}

TEST(Hdf5, RefusesAFileCutAnywhere) {
  const std::string bytes = mixed_bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 97) {
    EXPECT_NE(error_of(bytes.substr(0, length)), "no error") << length;
  }
}

TEST(Hdf5, SurvivesFlippedBytes) {
  expect_survives_flipped_bytes("x.h5", mixed_bytes(), read_everything);
}

TEST(Hdf5, LeavesTheErrorPrinterOfOthersAlone) {
  H5E_auto2_t before = nullptr;
  H5E_auto2_t after = nullptr;
  void* client_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &client_data);
  ::testing::internal::CaptureStderr();
  error_of("no HDF5 at all");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  H5Eget_auto2(H5E_DEFAULT, &after, &client_data);
  EXPECT_EQ(before, after);
}

}  // namespace hdf5_test
}  // namespace udv::io
