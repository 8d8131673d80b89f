// HDF5 files read through halftone-h5: chunked numbers, links, and files that are damaged in many places.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/H5File.h"
#include "halftone/Error.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using detail::Descriptor;
using detail::H5Entry;
using detail::H5File;

namespace {

H5File recordedFile(const std::string &name) {
  return H5File(Descriptor::reading(HALFTONE_SOURCE_DIR "/tests/data/keras/h5/" + name), name);
}

std::string bytesOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("The numbers of compressed and of chunked datasets are read as those in one piece") {
  const H5File file = recordedFile("compressed.h5");
  CHECK(file.count("a/vars") == 3);
  CHECK(file.find("a/vars/0")->offset == -1);
  CHECK(numbers(file.read("a/vars/0")) == numbers(counted({4, 3})));
  CHECK(file.find("a/vars/0")->shape == Shape{4, 3});
  CHECK(numbers(file.read("a/vars/1")) == std::vector<double>{1, -2, 0.5});
  CHECK(file.find("a/vars/2")->dtype == DType::bool_);
  CHECK(numbers(file.read("a/vars/2")) == std::vector<double>{1, 0});
}

TEST_CASE("A group may hold itself; a dataset with two names counts once") {
  const H5File file = recordedFile("cycles.h5");
  CHECK(file.count("a/vars") + file.count("b/vars") == 1);
}

TEST_CASE("A file whose numbers stand elsewhere is refused with the way in which they do") {
  const auto [name, words] = GENERATE(table<std::string, std::string>(
      {{"soft_link.h5", "found b as a soft link; expected the group or dataset itself"},
       {"external_link.h5", "found b as an external link; expected the group or dataset itself"},
       {"virtual.h5", "found the dataset a/vars/0 with numbers in other datasets (a virtual dataset)"},
       {"external.h5", "found the dataset a/vars/0 with numbers in another file (external storage)"}}));
  CHECK_THROWS_WITH(recordedFile(name), Contains("IOError: " + name) && Contains(words));
}

TEST_CASE("Datasets of types that Keras does not store have no dtype") {
  const H5File file = recordedFile("types.h5");
  CHECK(file.count("a/vars") == 2);
  CHECK(!file.find("a/vars/0")->dtype);
  CHECK(!file.find("a/vars/1")->dtype);
}

TEST_CASE("Each dtype comes back from a file that is laid out here, also with extents of 0 and without axes") {
  std::vector<H5Entry> entries{{.path = "vars", .name = "with a space"}};
  for (const DType dtype : {DType::bool_, uint8, DType::uint16, DType::uint32, DType::uint64, int8, DType::int16, int32,
                            int64, float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2})
    for (const Shape &shape : {Shape{}, Shape{0, 3}, Shape{1}, Shape{2, 1, 3}})
      entries.push_back(
          {.path = "vars/" + std::to_string(entries.size() - 1), .numbers = counted(shape).astype(dtype)});
  const detail::H5Image image(entries, "made");
  detail::Descriptor made = detail::Descriptor::memory("made");
  int64_t size = 0;
  for (const std::string_view chunk : image.chunks()) {
    made.writeAt(size, std::as_bytes(std::span(chunk)), "made");
    size += std::ssize(chunk);
  }
  const H5File file(std::move(made), "made");
  CHECK(file.count("vars") == std::ssize(entries) - 1);
  for (const H5Entry &entry : entries)
    if (entry.numbers.defined()) {
      INFO(entry.path);
      CHECK(file.find(entry.path)->shape == entry.numbers.shape());
      CHECK(file.find(entry.path)->dtype == entry.numbers.dtype());
      CHECK(numbers(file.read(entry.path)) == numbers(entry.numbers));
    }
}

TEST_CASE("A file with damaged bytes gives an error that names it, or a table that lies inside of it") {
  const TemporaryFolder folder;
  const std::string bytes = bytesOf(HALFTONE_SOURCE_DIR "/tests/data/keras/h5/cycles.h5");
  int64_t errors = 0;
  for (size_t place = 0; place < bytes.size(); place += 41) {
    INFO(place);
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0xff);
    const std::string path = folder.write("damaged.h5", damaged);
    try {
      const H5File file(Descriptor::reading(path), path);
      const detail::H5Array *array = file.find("a/vars/0");
      const bool isThere = array && array->dtype && array->shape == Shape{4, 3};
      const size_t read = isThere ? numbers(file.read("a/vars/0")).size() : 12;
      CHECK(read == 12);
    } catch (const Error &error) {
      ++errors;
      CHECK(error.kind() == ErrorKind::io_error);
      CHECK_THAT(error.what(), Contains("damaged.h5"));
    }
  }
  CHECK(errors > 0);
}

TEST_CASE("Without the program that reads HDF5 the error names it and the variable that can name its place") {
  ::setenv("HALFTONE_H5", "/nowhere/halftone-h5", 1);
  CHECK_THROWS_WITH(recordedFile("cycles.h5"),
                    Catch::Matchers::Contains("HALFTONE_H5=/nowhere/halftone-h5: expected the program halftone-h5: "));
  ::unsetenv("HALFTONE_H5");
  CHECK(recordedFile("cycles.h5").count("nothing") == 0);
}
