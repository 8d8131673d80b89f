// CIFAR-10 and CIFAR-100: the order of pixels and channels, both folders, and malformed files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// A record whose three channels begin with these bytes; the other bytes form a ramp.
std::string record(int label, const std::string &firsts) {
  std::string bytes(1, static_cast<char>(label));
  for (char first : firsts) {
    bytes += first;
    for (int i = 1; i < 1024; ++i)
      bytes += static_cast<char>(i);
  }
  return bytes;
}
void writeAll(const TemporaryFolder &folder, const std::string &inside = "") {
  std::filesystem::create_directories(folder / inside);
  for (int batch = 1; batch <= 5; ++batch)
    folder.write(inside + "data_batch_" + std::to_string(batch) + ".bin", record(batch, "abc") + record(0, "xyz"));
  folder.write(inside + "test_batch.bin", record(9, "rgb"));
}

} // namespace

TEST_CASE("CIFAR-10 is read with its channels last, from its folder or the one around it") {
  const TemporaryFolder folder;
  writeAll(folder, "cifar-10-batches-bin/");
  for (const char *place : {"", "cifar-10-batches-bin"}) {
    const datasets::Arrays arrays = datasets::cifar10(folder / place);
    CHECK(arrays.x_train.shape() == Shape{10, 32, 32, 3});
    CHECK(arrays.y_train.shape() == Shape{10, 1});
    CHECK(arrays.y_train.to_vector<uint8_t>() == std::vector<uint8_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0});
    CHECK(arrays.x_test.dtype() == uint8);
    CHECK(arrays.y_test.to_vector<uint8_t>() == std::vector<uint8_t>{9});
    const std::vector<uint8_t> x = arrays.x_test.to_vector<uint8_t>();
    CHECK(std::string(x.begin(), x.begin() + 3) == "rgb");
    CHECK(std::vector<int>(x.begin() + 3, x.begin() + 9) == std::vector<int>{1, 1, 1, 2, 2, 2});
  }
}

TEST_CASE("A bad file of CIFAR-10 is an IOError that names it, the expected contents and those found") {
  const TemporaryFolder folder;
  const auto error = [&] { return errorOf([&] { (void)datasets::cifar10(folder.path.string()); }); };
  CHECK_THAT(error(), Contains("IOError: cannot read ") && Contains("data_batch_1.bin: No such file or directory"));
  writeAll(folder);
  CHECK(error().empty());
  folder.write("data_batch_3.bin", record(1, "abc") + "x");
  CHECK_THAT(error(), Contains("data_batch_3.bin': expected records of 3073 bytes, found 3074 bytes"));
  folder.write("data_batch_3.bin", "");
  CHECK_THAT(error(), Contains("data_batch_3.bin': expected records of 3073 bytes, found 0 bytes"));
  folder.write("data_batch_3.bin", record(1, "abc") + record(10, "abc"));
  CHECK_THAT(error(), Contains("data_batch_3.bin': expected labels from 0 to 9, found 10 at record 1"));
}

TEST_CASE("CIFAR-100 is read with its fine or its coarse labels, and other ones are refused") {
  const TemporaryFolder folder;
  const auto two = [](char coarse, char fine) { return coarse + record(fine, "rgb"); };
  folder.write("train.bin", two(3, 99) + two(19, 0));
  folder.write("test.bin", two(0, 50));
  const datasets::Arrays fine = datasets::cifar100(folder.path.string()),
                         coarse = datasets::cifar100(folder.path.string(), "coarse");
  CHECK(fine.x_train.shape() == Shape{2, 32, 32, 3});
  CHECK(fine.y_train.shape() == Shape{2, 1});
  CHECK(fine.y_train.to_vector<uint8_t>() == std::vector<uint8_t>{99, 0});
  CHECK(coarse.y_train.to_vector<uint8_t>() == std::vector<uint8_t>{3, 19});
  CHECK(coarse.x_test.to_vector<uint8_t>() == fine.x_test.to_vector<uint8_t>());
  CHECK(fine.x_test.to_vector<uint8_t>()[1] == 'g');
  std::filesystem::create_directories(folder / "cifar-100-binary");
  folder.write("cifar-100-binary/train.bin", two(3, 100));
  const auto error = [&](Choice<CifarLabels> mode) {
    return errorOf([&] { (void)datasets::cifar100(folder / "cifar-100-binary", mode); });
  };
  CHECK_THAT(error("fine"),
             Contains("IOError") && Contains("train.bin': expected labels from 0 to 99, found 100 at record 0"));
  CHECK_THAT(error("coarse"), Contains("test.bin: No such file or directory"));
  folder.write("cifar-100-binary/train.bin", two(20, 1));
  CHECK_THAT(error("coarse"), Contains("expected labels from 0 to 19, found 20 at record 0"));
  folder.write("cifar-100-binary/train.bin", "x");
  CHECK_THAT(error("fine"), Contains("expected records of 3074 bytes, found 1 bytes"));
}
