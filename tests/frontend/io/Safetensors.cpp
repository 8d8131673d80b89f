// safetensors files: writing and reading every dtype, files of other writers, and headers that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/Safetensors.h"
#include "halftone/Saving.h"
#include "runtime/TensorAccess.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using detail::Safetensors;

namespace {

constexpr DType everyDType[] = {DType::bool_,   DType::uint8,         DType::uint16,     DType::uint32,
                                DType::uint64,  DType::int8,          DType::int16,      DType::int32,
                                DType::int64,   DType::float16,       DType::bfloat16,   DType::float32,
                                DType::float64, DType::float8_e4m3fn, DType::float8_e5m2};

std::string bytesOf(const Tensor &tensor) {
  return {reinterpret_cast<const char *>(TensorAccess::data(tensor)), static_cast<size_t>(TensorAccess::bytes(tensor))};
}
/// A tensor whose bytes count up; floats include NaNs, infinities and subnormal numbers.
Tensor patterned(const Shape &shape, DType dtype) {
  Tensor tensor = Tensor::zeros(shape, dtype);
  std::byte *data = TensorAccess::mutableData(tensor);
  for (int64_t i = 0; i < TensorAccess::bytes(tensor); ++i)
    data[i] = static_cast<std::byte>(dtype == DType::bool_ ? i % 2 : 255 - i * 7);
  return tensor;
}

std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
/// A file with this header and `dataBytes` bytes of data, which count from 0.
std::string fileOf(const std::string &header, size_t dataBytes) {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char *>(&length), sizeof length);
  bytes += header;
  for (size_t i = 0; i < dataBytes; ++i)
    bytes += static_cast<char>(i);
  return bytes;
}

} // namespace

TEST_CASE("safetensors files keep every dtype, extents of 0 and 1, scalars and the order of the tensors", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "all.safetensors";
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (DType dtype : everyDType)
    for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 0, 5}, Shape{1, 3, 1, 7}})
      tensors.emplace_back(std::string(name(dtype)) + shape.str(), patterned(shape, dtype));
  tensors.emplace_back("", Tensor::scalar(1.0f));
  tensors.emplace_back("\"quotes\" \\ \n \xc3\xa4", Tensor::scalar(2.0f));
  save_safetensors(path, tensors);
  const auto loaded = load_safetensors(path);
  REQUIRE(loaded.size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    INFO(tensors[i].first);
    CHECK(loaded[i].first == tensors[i].first);
    CHECK(loaded[i].second.dtype() == tensors[i].second.dtype());
    CHECK(loaded[i].second.shape() == tensors[i].second.shape());
    CHECK(bytesOf(loaded[i].second) == bytesOf(tensors[i].second));
    CHECK(reinterpret_cast<uintptr_t>(TensorAccess::data(loaded[i].second)) %
              static_cast<uintptr_t>(itemsize(loaded[i].second.dtype())) ==
          0);
  }
  save_safetensors(path, {});
  CHECK(load_safetensors(path).empty());
  CHECK(folder.entries() == 1);
}

TEST_CASE("A safetensors file has the names, dtypes and ranges that the format defines", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.safetensors";
  detail::writeSafetensors(path, {.metadata = {{"key", "\"value\""}},
                                  .tensors = {{"flag", Tensor::zeros({3}, DType::bool_)},
                                              {"w", Tensor({1, 2, 3, 4}, {2, 2})},
                                              {"h", Tensor::zeros({}, bfloat16)}}});
  const std::string bytes = contents(path);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  CHECK((8 + length) % 64 == 0);
  CHECK(nlohmann::json::parse(bytes.substr(8, length)) ==
        nlohmann::json::parse(R"({"__metadata__": {"key": "\"value\""},
          "flag": {"dtype": "BOOL", "shape": [3], "data_offsets": [18, 21]},
          "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
          "h": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]}})"));
  CHECK(bytes.size() == 8 + length + 21);
  float last = 0;
  std::memcpy(&last, bytes.data() + 8 + length + 12, sizeof last);
  CHECK(last == 4.0f);
  CHECK(detail::readSafetensors(path).metadata == std::map<std::string, std::string>{{"key", "\"value\""}});
}

TEST_CASE("A file of every dtype that the Python package safetensors wrote is read", "[files]") {
  const Safetensors recorded =
      detail::readSafetensors(HALFTONE_SOURCE_DIR "/tests/data/safetensors/every_dtype.safetensors");
  CHECK(recorded.metadata.at("written by") == "safetensors 0.8.0");
  std::map<std::string, Tensor> tensors(recorded.tensors.begin(), recorded.tensors.end());
  CHECK(tensors.size() == std::size(everyDType) + 2);
  for (DType dtype : everyDType) {
    INFO(name(dtype));
    const Tensor &tensor = tensors[std::string(name(dtype))];
    REQUIRE(tensor.defined());
    CHECK(tensor.dtype() == dtype);
    CHECK(tensor.shape() == Shape{3});
    std::string expected = dtype == DType::bool_ ? std::string("\1\0\1", 3) : "";
    for (int64_t i = 1; dtype != DType::bool_ && i <= 3 * itemsize(dtype); ++i)
      expected += static_cast<char>(i);
    CHECK(bytesOf(tensor) == expected);
  }
  CHECK(tensors["empty"].shape() == Shape{0, 3});
  CHECK(tensors["empty"].dtype() == DType::int16);
  CHECK(tensors["scalar"].shape() == Shape{});
  CHECK(bytesOf(tensors["scalar"]) == "\1\2\3\4");
}

TEST_CASE("Data of any order and alignment are read, and empty tensors may share a place", "[files]") {
  TemporaryFolder folder;
  const auto tensors =
      load_safetensors(folder.write("a", fileOf(R"( {"late":{"shape":[1],"data_offsets":[1,5],"dtype":"I32"},
                       "none":{"dtype":"F64","shape":[0,9223372036854775807,4],"data_offsets":[1,1]},
                       "early":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}   )",
                                                5)));
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].first == "late");
  CHECK(tensors[0].second.item<int32_t>() == 0x04030201);
  CHECK(tensors[1].second.shape() == Shape{0, 9223372036854775807, 4});
  CHECK(tensors[2].second.item<uint8_t>() == 0);
  CHECK(load_safetensors(folder.write("b", fileOf("{}", 0))).empty());
  CHECK(load_safetensors(folder.write("c", fileOf(R"({"__metadata__":{}})", 0))).empty());
}

TEST_CASE("Loaded tensors keep their values when the file is replaced, and writes to them do not reach it", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.safetensors";
  save_safetensors(path, {{"w", Tensor({1, 2}, {2})}});
  auto loaded = load_safetensors(path);
  loaded[0].second.mutable_span<float>()[0] = 7.0f;
  CHECK(load_safetensors(path)[0].second.to_vector<float>() == std::vector<float>{1, 2});
  save_safetensors(path, {{"v", loaded[0].second + 1.0}, loaded[0]});
  CHECK(load_safetensors(path)[0].second.to_vector<float>() == std::vector<float>{8, 3});
  CHECK(load_safetensors(path)[1].second.to_vector<float>() == std::vector<float>{7, 2});
  CHECK(loaded[0].second.to_vector<float>() == std::vector<float>{7, 2});
}

TEST_CASE("A safetensors file may have further fields, no metadata and complex numbers, as in the reference library",
          "[files]") {
  TemporaryFolder folder;
  const std::string header = R"({"__metadata__":null,"z":{"more":[{"shape":[1]},null,-1,2.5,"a",true],"dtype":"C64",)"
                             R"("shape":[2],"data_offsets":[0,16],"stride":{}},)"
                             R"("e":{"shape":[0,4611686018427387904,16],"dtype":"U8","data_offsets":[16,16]}})";
  const auto read = load_safetensors(folder.write("more.safetensors", fileOf(header, 16)));
  REQUIRE(read.size() == 2);
  CHECK(read[0].second.dtype() == DType::complex64);
  CHECK(read[0].second.shape() == Shape{2});
  CHECK(read[1].second.shape() == Shape{0, 4611686018427387904, 16});
}

TEST_CASE("A damaged safetensors file gives one error that names the file, the expected contents and those found",
          "[files]") {
  TemporaryFolder folder;
  const std::string entry = R"("dtype":"U8","shape":[4],"data_offsets":[0,4])";
  const auto one = [](const std::string &fields) { return fileOf("{\"w\":{" + fields + "}}", 4); };
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "{\"a\":";
  std::string dims = "1";
  for (int i = 0; i < 64; ++i)
    dims += ",1";
  const std::pair<std::string, const char *> cases[] = {
      {"", "of at least 8 bytes, found 0 bytes"},
      {"1234567", "found 7 bytes"},
      {fileOf("{}", 0).substr(0, 9), "a header of at most 1 bytes, found a header of 2"},
      {std::string(8, '\xff') + "{}", "a header of 18446744073709551615"},
      {fileOf("", 4), "a header in JSON, found unexpected text at byte"},
      {fileOf("{\"w\":", 0), "a header in JSON"},
      {fileOf("{} x", 0), "a header in JSON"},
      {fileOf("{\"\xff\":1}", 0), "a header in JSON"},
      {fileOf("[]", 0), "a header that is an object, found a list"},
      {fileOf("1e999", 0), "a header in JSON"},
      {fileOf("null", 0), "a header that is an object, found null"},
      {fileOf(deep, 0), "a header in JSON, found unexpected text at byte"},
      {fileOf("{\"w\":[]}", 0), "an object for \"w\", found a list"},
      {fileOf("{\"w\":1}", 0), "an object for \"w\", found the number 1"},
      {fileOf(R"({"__metadata__":{"a":1}})", 0), "texts in __metadata__, found the number 1"},
      {fileOf(R"({"__metadata__":{"a":{}}})", 0), "texts in __metadata__, found an object"},
      {fileOf(R"({"__metadata__":{"a":"","a":""}})", 0), "found \"a\" twice"},
      {fileOf(R"({"__metadata__":{},"__metadata__":{}})", 0), "one __metadata__, found another one"},
      {one(""), "dtype, shape and data_offsets for \"w\", found fewer fields"},
      {one(R"("dtype":"U8","shape":[4])"), "found fewer fields"},
      {one(entry + R"(,"dtype":"U8")"), "each once, for \"w\", found \"dtype\""},
      {one(R"("stride":{"dtype":[8]},"shape":[4],"data_offsets":[0,4])"), "found fewer fields"},
      {one(R"("dtype":"C128","shape":[4],"data_offsets":[0,4])"), "a dtype of BOOL, U8, "},
      {one(entry) + std::string(1, '\0'), "4 bytes of data, as the header declares, found 5 bytes"},
      {fileOf("{\"w\":{" + entry + "}}" + std::string(2, '\0'), 4), "a header in JSON, found a zero byte at byte 53"},
      {fileOf("\xef\xbb\xbf{\"w\":{" + entry + "}}", 4), "a header in JSON, found a byte order mark"},
      {fileOf(R"({"__metadata__":null,"__metadata__":{}})", 0), "one __metadata__, found another one"},
      {one(R"("dtype":8,"shape":[4],"data_offsets":[0,4])"), "the text of a dtype for \"w\", found the number 8"},
      {one(R"("dtype":"U8","shape":4,"data_offsets":[0,4])"), "as shape for \"w\", found the number 4"},
      {one(R"("dtype":"U8","shape":[[4]],"data_offsets":[0,4])"), "as shape for \"w\", found a list"},
      {one(R"("dtype":"U8","shape":[-4],"data_offsets":[0,4])"), "found the number -4"},
      {one(R"("dtype":"U8","shape":[4.0],"data_offsets":[0,4])"), "found a number with a fraction"},
      {one(R"("dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,4])"),
       "found the number 9223372036854775808"},
      {one(R"("dtype":"U8","shape":["4"],"data_offsets":[0,4])"), "found the text \"4\""},
      {one(R"("dtype":"U8","shape":[true],"data_offsets":[0,4])"), "found a bool"},
      {one(R"("dtype":"U8","shape":[)" + dims + R"(],"data_offsets":[0,4])"), "at most 64 dimensions for \"w\""},
      {one(R"("dtype":"U8","shape":[4],"data_offsets":[0])"), "a list of two numbers"},
      {one(R"("dtype":"U8","shape":[4],"data_offsets":[0,4,4])"), "found more than two numbers"},
      {one(R"("dtype":"U8","shape":[4],"data_offsets":[4,0])"), "a range within 4 bytes of data for \"w\""},
      {one(R"("dtype":"U8","shape":[5],"data_offsets":[0,5])"), "found the range 0 to 5"},
      {one(R"("dtype":"U8","shape":[3],"data_offsets":[0,4])"), "3 bytes for \"w\" of shape (3,) in uint8"},
      {one(R"("dtype":"F32","shape":[4],"data_offsets":[0,4])"), "16 bytes for \"w\""},
      {one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4])"), "more than 2^61 bytes"},
      {one(R"("dtype":"U8","shape":[4611686018427387904,16,0],"data_offsets":[0,0])"), "more than 2^61 bytes"},
      {one(R"("dtype":"U8","shape":[3],"data_offsets":[0,3])"),
       "3 bytes of data, as the header declares, found 4 bytes"},
      {one(R"("dtype":"U8","shape":[3],"data_offsets":[1,4])"),
       "begins at byte 0 of the data, found \"w\", which begins at 1"},
      {fileOf("{}", 4), "0 bytes of data, as the header declares, found 4 bytes"},
      {fileOf("{\"w\":{" + entry + "},\"w\":{" + entry + "}}", 4), "tensors with unique names, found \"w\" twice"},
      {fileOf("{\"w\":{" + entry + "},\"v\":{" + entry + "}}", 4), "begins at byte 4 of the data, found"},
  };
  for (const auto &[bytes, expected] : cases) {
    INFO(bytes.substr(0, 200));
    const std::string path = folder.write("bad.safetensors", bytes);
    const std::string error = errorOf([&] { (void)load_safetensors(path); });
    CHECK_THAT(error, Contains("IOError: Cannot read '" + path + "': expected ") || Contains("Cannot read '" + path));
    CHECK_THAT(error, Contains(expected));
    CHECK(error.size() < 600);
  }
  CHECK_THAT(errorOf([&] { (void)load_safetensors(folder / "absent"); }),
             Contains("absent: No such file or directory"));
  CHECK_THAT(errorOf([&] { (void)load_safetensors(folder.path); }), Contains(": Is a directory"));
}

TEST_CASE("Headers of too many tensors or texts are refused, and not written", "[files]") {
  TemporaryFolder folder;
  std::string tensors = "{", texts = R"({"__metadata__":{)";
  for (size_t i = 0; i <= detail::maxTensors; ++i)
    tensors += std::string(i ? "," : "") + R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  for (size_t i = 0; i <= detail::maxTexts; ++i)
    texts += std::string(i ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  const std::string path = folder.write("many.safetensors", fileOf(tensors + "}", 0));
  CHECK_THAT(errorOf([&] { (void)load_safetensors(path); }), Contains(path + "': expected at most 262144 tensors"));
  folder.write("many.safetensors", fileOf(texts + "}}", 0));
  CHECK_THAT(errorOf([&] { (void)load_safetensors(path); }), Contains(path + "': expected at most 1048576 texts"));
  const Tensor empty = Tensor::zeros({0});
  const std::vector<std::pair<std::string, Tensor>> many(detail::maxTensors + 1, {"a", empty});
  CHECK_THAT(errorOf([&] { save_safetensors(path, many); }), Contains("at most 262144 tensors and 1048576 texts"));
}

TEST_CASE("Tensors that a safetensors file cannot hold are refused, and the old file stays", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder.write("a.safetensors", "old");
  const Tensor one = Tensor::scalar(1.0f);
  CHECK_THAT(errorOf([&] { save_safetensors(path, {{"w", Tensor()}}); }),
             Contains("ValueError: safetensors: the tensor \"w\" is undefined"));
  CHECK_THAT(errorOf([&] { save_safetensors(path, {{"w", one}, {"w", one}}); }), Contains("Received: \"w\" twice"));
  CHECK_THAT(errorOf([&] { save_safetensors(path, {{"__metadata__", one}}); }), Contains("other than __metadata__"));
  CHECK_THAT(errorOf([&] { save_safetensors(path, {{"\xff", one}}); }), Contains("is not UTF-8"));
  CHECK(contents(path) == "old");
  CHECK_THAT(errorOf([&] { save_safetensors(folder / "no/such", {{"w", one}}); }),
             Contains("no/such: No such file or directory"));
  CHECK(folder.entries() == 1);
}
