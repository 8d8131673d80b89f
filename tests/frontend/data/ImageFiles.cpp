// Image files: pixels as Pillow reads them, written files, arrays, hostile bytes, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageCodecs.h"
#include "runtime/base/OpenFile.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

/// Returns true if this machine has libturbojpeg, which Halftone needs only for JPEG files.
bool readsJpeg() {
  static const bool has = openLibrary("libturbojpeg.so.0", RTLD_NOW).isOk();
  return has;
}
std::string bytesOf(const std::string &hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}
std::vector<Json> recordedFiles() {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/image_files.jsonl");
  std::vector<Json> rows;
  for (std::string line; std::getline(file, line);)
    rows.push_back(Json::parse(line));
  return rows;
}
int distanceOf(const Tensor &image, const std::string &pixels) {
  const std::vector<uint8_t> found = image.to_vector<uint8_t>();
  REQUIRE(found.size() == pixels.size());
  int most = 0;
  for (size_t i = 0; i < found.size(); ++i)
    most = std::max(most, std::abs(found[i] - static_cast<uint8_t>(pixels[i])));
  return most;
}

} // namespace

TEST_CASE("load_img gives Pillow's pixels in each mode and by each filter") {
  const TemporaryFolder folder;
  size_t png = 0, jpeg = 0;
  for (const Json &row : recordedFiles()) {
    INFO(row["kind"] << " " << row["mode"] << " " << row["size"] << " " << row["filter"] << " " << row["shape"]);
    const bool isJpeg = row["kind"] == "jpeg";
    const std::string path = folder.write("image", bytesOf(row["bytes"]));
    utils::LoadImgArgs args{.color_mode = choice<ColorMode>(row["mode"].get<std::string>()),
                            .keep_aspect_ratio = row["keep"].get<bool>()};
    if (!row["size"].is_null()) {
      args.target_size = row["size"].get<std::array<int64_t, 2>>();
      args.interpolation = choice<Resample>(row["filter"].get<std::string>());
    }
    if (isJpeg && !readsJpeg()) {
      CHECK_THROWS_WITH(utils::load_img(path, args),
                        Contains("libturbojpeg.so.0, which Debian's package libturbojpeg0"));
      continue;
    }
    const Tensor image = utils::load_img(path, args);
    CHECK(image.dtype() == uint8);
    CHECK(image.shape() == Shape(row["shape"].get<std::vector<int64_t>>()));
    CHECK(distanceOf(image, bytesOf(row["pixels"])) <= row["tolerance"].get<int>());
    ++(isJpeg ? jpeg : png);
  }
  CHECK(png >= 100);
  CHECK(jpeg == (readsJpeg() ? 45 : 0));
}

TEST_CASE("save_img writes what load_img reads") {
  const TemporaryFolder folder;
  std::mt19937 random(3);
  for (const int64_t channels : {1, 3, 4})
    for (const auto &[height, width] : {std::pair<int64_t, int64_t>{1, 1}, {5, 7}, {64, 3}}) {
      std::vector<uint8_t> pixels;
      for (int64_t i = 0; i < height * width * channels; ++i)
        pixels.push_back(static_cast<uint8_t>(random()));
      const Tensor image(pixels, {height, width, channels});
      const std::string path = folder / "image.png";
      utils::save_img(path, image, {.scale = false});
      const auto mode = channels == 1 ? ColorMode::grayscale : channels == 3 ? ColorMode::rgb : ColorMode::rgba;
      CHECK(utils::load_img(path, {.color_mode = mode}).to_vector<uint8_t>() == pixels);
    }
  std::vector<float> smooth;
  for (int i = 0; i < 32 * 32; ++i)
    smooth.push_back(static_cast<float>(100 + 3 * (i % 32) + 2 * (i / 32)));
  const Tensor ramp(smooth, {32, 32, 1});
  const std::string path = folder / "image.JPG";
  if (!readsJpeg()) {
    CHECK_THROWS_WITH(utils::save_img(path, ramp), Contains("libturbojpeg0"));
    return;
  }
  utils::save_img(path, ramp, {.scale = false});
  const std::vector<double> back = numbers(utils::load_img(path, {.color_mode = "grayscale"}));
  for (size_t i = 0; i < back.size(); ++i)
    CHECK(std::abs(back[i] - smooth[i]) <= 3.0);
  utils::save_img(path, Tensor::ones({8, 8, 4}), {.file_format = "jpeg", .scale = false});
  CHECK(utils::load_img(path).shape() == Shape{8, 8, 3});
}

TEST_CASE("Images and arrays become each other as in Keras") {
  const Tensor image(std::vector<uint8_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110}, {2, 2, 3});
  const Tensor array = utils::img_to_array(image);
  CHECK(array.dtype() == float32);
  CHECK(numbers(array) == numbers(image));
  const Tensor first = utils::img_to_array(image, {.data_format = DataFormat::channels_first, .dtype = float64});
  CHECK(first.dtype() == float64);
  CHECK(first.shape() == Shape{3, 2, 2});
  CHECK(numbers(first) == std::vector<double>{0, 30, 60, 90, 10, 40, 70, 100, 20, 50, 80, 110});
  CHECK(numbers(utils::array_to_img(first, {.data_format = "channels_first", .scale = false})) == numbers(image));
  CHECK(numbers(utils::array_to_img(Tensor({-1.0f, 0.0f, 1.0f, 3.0f}, {2, 2, 1}))) ==
        std::vector<double>{0, 63, 127, 255});
  CHECK(numbers(utils::array_to_img(Tensor({4.0f, 4.0f}, {2, 1, 1}))) == std::vector<double>{0, 0});
  CHECK(numbers(utils::array_to_img(Tensor({-5.0f, 300.0f, NAN, 2.9f}, {2, 2, 1}), {.scale = false})) ==
        std::vector<double>{0, 255, 0, 2});
  CHECK(utils::img_to_array(Tensor::zeros({4, 5}, uint8)).shape() == Shape{4, 5, 1});
  CHECK_THROWS_WITH(utils::img_to_array(Tensor::zeros({4})), Contains("Unsupported image shape: (4,)"));
  CHECK_THROWS_WITH(utils::array_to_img(Tensor::zeros({4, 4})), Contains("Expected image array to have rank 3"));
  CHECK_THROWS_WITH(utils::array_to_img(Tensor::zeros({4, 4, 2})), Contains("Unsupported channel number: 2"));
  CHECK_THROWS_WITH(utils::array_to_img(Tensor::zeros({0, 4, 3})), Contains("an image with at least one pixel"));
}

TEST_CASE("Damaged, foreign and missing files are one error, and an error writes nothing") {
  const TemporaryFolder folder;
  const std::string whole = bytesOf(recordedFiles()[0]["bytes"]);
  const auto refused = [&](const std::string &bytes) {
    return errorOf([&] { (void)utils::load_img(folder.write("x", bytes)); });
  };
  CHECK_THAT(refused(""), Contains("expected a PNG or JPEG file, found an empty file"));
  CHECK_THAT(refused("GIF89a"), Contains("expected a PNG or JPEG file"));
  for (size_t size = 8; size + 1 < whole.size(); size += 5)
    CHECK_THAT(refused(whole.substr(0, size)), Contains("expected a complete PNG file"));
  std::string huge = whole;
  huge[16] = '\x7f';
  CHECK_THAT(refused(huge), Contains("expected 1 to 178956970 pixels"));
  CHECK_THAT(errorOf([&] { (void)utils::load_img(folder / "absent.png"); }), Contains("absent.png"));
  CHECK_THROWS_WITH(utils::load_img(folder.write("x", whole), {.target_size = {{0, 4}}}),
                    Contains("Argument `target_size` must be a height and a width, both positive"));
  constexpr int64_t large = int64_t{1} << 62;
  for (const bool cuts : {false, true})
    CHECK_THROWS_WITH(
        utils::load_img(folder.write("x", whole), {.target_size = {{large, large}}, .keep_aspect_ratio = cuts}),
        Contains("more elements than 63 bits can count"));
  const std::string path = folder / "out.gif";
  CHECK_THROWS_WITH(utils::save_img(path, Tensor::ones({2, 2, 3})), Contains("expected 'png', 'jpg' or 'jpeg'"));
  CHECK_THROWS_WITH(utils::save_img(path, Tensor::ones({2, 2}), {.file_format = "png"}), Contains("rank 3"));
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_THROWS_WITH(detail::CodecLibrary("libabsent.so.0", "libabsent0", "a.png"),
                    Contains("'a.png' needs the library libabsent.so.0, which Debian's package libabsent0 installs"));
  const detail::CodecLibrary standard("libc.so.6", "libc6", "a.png");
  void (*function)() = nullptr;
  CHECK_THROWS_WITH(standard.find(function, "no_such_function"), Contains("which lacks no_such_function"));
}

namespace {

/// A file with some bytes changed, truncated or repeated.
std::string mutantOf(std::string bytes, std::mt19937 &random) {
  for (uint32_t edits = 1 + random() % 4; edits > 0; --edits)
    if (const uint32_t kind = random() % 4; kind == 0)
      bytes.resize(4 + random() % bytes.size());
    else if (kind == 1)
      bytes.insert(random() % bytes.size(), bytes.substr(random() % bytes.size(), random() % 40));
    else
      bytes[random() % bytes.size()] = static_cast<char>(random());
  return bytes;
}

/// `count` mutants of each file format.
void checkMutants(int count) {
  const TemporaryFolder folder;
  std::mt19937 random(static_cast<uint32_t>(count));
  std::map<std::string, std::set<std::string>> files;
  for (const Json &row : recordedFiles())
    files[row["kind"]].insert(bytesOf(row["bytes"]));
  for (const auto &[kind, originals] : files) {
    const std::vector<std::string> list(originals.begin(), originals.end());
    int read = 0, refused = 0;
    for (int i = 0; i < count; ++i)
      try {
        const Tensor image = utils::load_img(folder.write("mutant", mutantOf(list[random() % list.size()], random)));
        CHECK(image.shape()[-1] == 3);
        ++read;
      } catch (const Error &error) {
        CHECK(error.kind() == ErrorKind::io_error);
        ++refused;
      }
    CHECK(read + refused == count);
    CHECK(refused > 0);
  }
}

} // namespace

TEST_CASE("Mutants of image files are decoded, or are one error") { checkMutants(60); }
TEST_CASE("Five hundred mutants of each kind of image file are decoded, or are one error", "[.mutants]") {
  checkMutants(500);
}
