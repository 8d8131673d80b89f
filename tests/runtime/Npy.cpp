// .npy files: round trips, files written by NumPy, and malformed files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace halftone;

namespace {
struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("halftone-npy-" + std::to_string(getpid()) + ".npy")).string();
  void write(const std::string &bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};
} // namespace

static Tensor fixture(const std::string &stem) {
  return Tensor::load_npy(HALFTONE_SOURCE_DIR "/tests/data/npy/" + stem + ".npy");
}
static std::vector<double> values(const Tensor &t) { return t.astype(float64).to_vector<double>(); }

static std::string errorOf(const std::string &path) {
  try {
    (void)Tensor::load_npy(path);
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("Files that NumPy wrote are read") {
  const std::vector<double> six{0, 1, 2, 3, 4, 5};
  const struct {
    const char *stem;
    DType dtype;
  } rows[] = {{"float32", DType::float32},
              {"big_endian", DType::float64},
              {"fortran", DType::int32},
              {"version2", DType::uint16},
              {"version3", DType::uint64}};
  for (const auto &row : rows) {
    INFO(row.stem);
    const Tensor t = fixture(row.stem);
    CHECK(t.dtype() == row.dtype);
    CHECK(t.shape() == Shape{2, 3});
    CHECK(values(t) == six);
    CHECK(reinterpret_cast<uintptr_t>(TensorAccess::data(t)) % 64 == 0);
  }
  CHECK(fixture("bool").dtype() == DType::bool_);
  CHECK(values(fixture("bool")) == std::vector<double>{1, 0, 1, 0, 1, 0});
  CHECK(fixture("int64").to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2, 3, 4});
  CHECK(fixture("scalar").shape() == Shape{});
  CHECK(values(fixture("scalar")) == std::vector<double>{1.5});
  CHECK(fixture("empty").shape() == Shape{0, 3});
  CHECK(fixture("bfloat16").dtype() == bfloat16);
  CHECK(values(fixture("bfloat16")) == std::vector<double>{1, 2.5});
  CHECK(fixture("float8_e5m2").dtype() == float8_e5m2);
  CHECK(values(fixture("float8_e5m2")) == std::vector<double>{1, 2.5});
}

TEST_CASE("Every dtype and rank comes back from a .npy file bit for bit") {
  const TemporaryFile file;
  for (DType dtype : {DType::bool_, DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::int8,
                      DType::int16, DType::int32, DType::int64, DType::float16, DType::bfloat16, DType::float32,
                      DType::float64, DType::float8_e4m3fn, DType::float8_e5m2})
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 2}, Shape{1, 1, 2, 1}}) {
      INFO(name(dtype) << " " << shape.str());
      const Tensor t = Tensor::full(shape, 1.75, dtype);
      t.save_npy(file.path);
      const Tensor back = Tensor::load_npy(file.path);
      CHECK(back.dtype() == dtype);
      CHECK(back.shape() == shape);
      CHECK(std::memcmp(TensorAccess::data(back), TensorAccess::data(t), size_t(TensorAccess::bytes(t))) == 0);
      CHECK((file.read().size() - size_t(TensorAccess::bytes(t))) % 64 == 0);
    }
}

TEST_CASE("save_npy writes the bytes that NumPy writes") {
  const TemporaryFile file;
  fixture("float32").save_npy(file.path);
  std::ifstream numpy(HALFTONE_SOURCE_DIR "/tests/data/npy/float32.npy", std::ios::binary);
  CHECK(file.read() == std::string(std::istreambuf_iterator<char>(numpy), {}));
  Tensor({0, 1, 2}, {3}).slice(1, 3).save_npy(file.path); // a view
  CHECK(values(Tensor::load_npy(file.path)) == std::vector<double>{1, 2});
}

TEST_CASE("A .npy file of a kind that tensors cannot hold is refused") {
  for (const char *stem : {"complex64", "string", "object", "struct"}) {
    const std::string path = std::string(HALFTONE_SOURCE_DIR "/tests/data/npy/") + stem + ".npy";
    CHECK_THAT(errorOf(path), Catch::StartsWith("IOError: Cannot read '" + path + "' as .npy: expected a "));
  }
}

TEST_CASE("A .npy file cut off anywhere is an IOError that names it") {
  const TemporaryFile file;
  Tensor({1, 2, 3, 4}, {2, 2}).save_npy(file.path);
  const std::string whole = file.read();
  REQUIRE(errorOf(file.path) == "no error");
  for (size_t length = 0; length < whole.size(); ++length) {
    file.write(whole.substr(0, length));
    const std::string text = errorOf(file.path);
    if (text.rfind("IOError: Cannot read '" + file.path + "'", 0) != 0)
      FAIL("cut to " << length << " bytes: " << text);
  }
  file.write(whole + "x");
  CHECK_THAT(errorOf(file.path),
             Catch::Contains("expected 16 bytes of data for shape (2, 2) of float32, found 17 bytes"));
}

TEST_CASE("A .npy file with a bad header is refused") {
  const TemporaryFile file;
  const auto with = [&](const std::string &header) {
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header;
    file.write(bytes);
    return errorOf(file.path);
  };
  CHECK(with("{'descr':'|u1','fortran_order':False,'shape':(0,)}") == "no error");
  CHECK(with("{\"shape\": (0L,), \"fortran_order\": False, \"descr\": \"|u1\"}") == "no error");
  CHECK(with("{'descr':'|u1','fortran_order':False,'shape':(0,)} # as a comment\n ") == "no error");
  for (const char *header : {"{'descr':'|u1','fortran_order':False,'shape':(0,)} junk",
                             "{'descr':'|u1','fortran_order':False,'shape':(0,)}}",
                             "{'descr':'|u1','fortran_order':False,'shape':(0,)} # comment\njunk",
                             "{'descr':'|u1','fortran_order':False,'shape':(0,),'shape':(0,)}",
                             "{'descr':'<f4','descr':'|u1','fortran_order':False,'shape':(0,)}",
                             "{'descr':'|u1','fortran_order':True,'fortran_order':False,'shape':(0,)}",
                             "{'descr':'|u1','fortran_order':False,'shape':(0)}",
                             "",
                             "{",
                             "{}",
                             "{'descr': '<f4'}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2",
                             "[1]",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
                             "{'descr': 'f4', 'fortran_order': False, 'shape': (0,)}",
                             "{'descr': '', 'fortran_order': False, 'shape': (0,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), 'x': 1}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
                             "{'descr': '<f4"}) {
    INFO(header);
    CHECK_THAT(with(header), Catch::StartsWith("IOError: Cannot read '" + file.path + "'"));
  }
  file.write("not a numpy file");
  CHECK_THAT(errorOf(file.path), Catch::Contains("expected the .npy magic"));
  CHECK_THAT(errorOf("/nowhere/at/all.npy"), Catch::Contains("cannot read /nowhere/at/all.npy: No such file"));
  CHECK_THAT(errorOf("/tmp"), Catch::StartsWith("IOError"));
}

TEST_CASE("save_npy to a path that cannot be written is an IOError") {
  CHECK_THROWS_WITH(Tensor::ones({2}).save_npy("/nowhere/at/all.npy"),
                    Catch::StartsWith("IOError: cannot write /nowhere/at/all.npy: No such file"));
}

TEST_CASE("A header of more than 64 KiB is written in format 2.0, and read") {
  TemporaryFile file;
  for (const int64_t rank : {21000, 30000}) { // headers shorter and longer than 2^16 bytes
    const Tensor tensor = Tensor::full({1}, 3).reshape(Shape(std::vector<int64_t>(static_cast<size_t>(rank), 1)));
    tensor.save_npy(file.path);
    char start[8] = {};
    std::ifstream(file.path, std::ios::binary).read(start, sizeof start);
    CHECK(start[6] == (rank > 21800 ? 2 : 1));
    const Tensor same = Tensor::load_npy(file.path);
    CHECK(same.shape() == tensor.shape());
    CHECK(same.span<float>()[0] == 3);
  }
}
