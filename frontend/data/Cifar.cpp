// Reads the binary version of CIFAR-10: records of a label and an image, its three channels one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RefuseFile.h"
#include "halftone/Data.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/OpenFile.h"
#include <filesystem>

using namespace halftone;

static constexpr int64_t side = 32, channels = 3, pixels = side * side, recordBytes = 1 + pixels * channels;

namespace {
/// The records of one or more files.
struct Records {
  std::vector<uint8_t> images, labels;

  void read(const std::filesystem::path &file) {
    const std::string path = file.string();
    const std::string data = readFile(path, detail::mostCifarBytes).valueOrThrow();
    const int64_t bytes = std::ssize(data);
    if (bytes == 0 || bytes % recordBytes != 0)
      detail::refuseFile(path, fmt::format("records of {} bytes", recordBytes), fmt::format("{} bytes", bytes));
    if (!fitsMemory(bytes))
      detail::refuseFile(path, "room for its images", memoryShortage(bytes));
    images.reserve(images.size() + static_cast<size_t>(bytes));
    for (int64_t begin = 0; begin < bytes; begin += recordBytes)
      add(path, reinterpret_cast<const uint8_t *>(data.data()) + begin, begin / recordBytes);
  }
  Tensor x() { return Tensor(std::move(images), {labels.size(), side, side, channels}); }
  Tensor y() {
    const size_t count = labels.size();
    return Tensor(std::move(labels), {count, 1});
  }

private:
  void add(const std::string &path, const uint8_t *record, int64_t index) {
    if (record[0] > 9)
      detail::refuseFile(path, "labels from 0 to 9", fmt::format("{} at record {}", record[0], index));
    labels.push_back(record[0]);
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t channel = 0; channel < channels; ++channel)
        images.push_back(record[1 + channel * pixels + pixel]);
  }
};
} // namespace

datasets::Arrays datasets::cifar10(const std::string &directory) {
  checkPath(directory).orThrow();
  std::filesystem::path folder = directory;
  std::error_code error;
  if (std::filesystem::is_directory(folder / "cifar-10-batches-bin", error))
    folder /= "cifar-10-batches-bin";
  Records train, test;
  for (int batch = 1; batch <= 5; ++batch)
    train.read(folder / fmt::format("data_batch_{}.bin", batch));
  test.read(folder / "test_batch.bin");
  Tensor forTraining = train.x(), forTests = test.x(); // each before its labels are taken
  return {std::move(forTraining), train.y(), std::move(forTests), test.y()};
}
