// Reads the binary versions of CIFAR-10 and CIFAR-100: records of labels and an image with planar channels.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RefuseFile.h"
#include "halftone/Data.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/OpenFile.h"
#include <filesystem>

using namespace halftone;

static constexpr int64_t side = 32, channels = 3, pixels = side * side, imageBytes = pixels * channels;

namespace {
/// The labels of a record: their number, the index of the label to read, and its number of classes.
struct CifarForm {
  int64_t labels, label, classes;
};

/// The records of one or more files.
struct Records {
  CifarForm form;
  std::vector<uint8_t> images{}, labels{};

  void read(const std::filesystem::path &file) {
    const std::string path = file.string();
    const std::string data = readFile(path, detail::maxCifarBytes).valueOrThrow();
    const int64_t bytes = std::ssize(data), recordBytes = form.labels + imageBytes;
    if (bytes == 0 || bytes % recordBytes != 0)
      detail::refuseFile(path, fmt::format("records of {} bytes", recordBytes), fmt::format("{} bytes", bytes));
    if (!fitsMemory(bytes))
      detail::refuseFile(path, "enough memory for its images", memoryShortage(bytes));
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
    const uint8_t label = record[form.label];
    if (label >= form.classes)
      detail::refuseFile(path, fmt::format("labels from 0 to {}", form.classes - 1),
                         fmt::format("{} at record {}", label, index));
    labels.push_back(label);
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      for (int64_t channel = 0; channel < channels; ++channel)
        images.push_back(record[form.labels + channel * pixels + pixel]);
  }
};
} // namespace

/// The directory, or its subfolder that extracting the distributed archive creates.
static std::filesystem::path folderOf(const std::string &directory, const char *inside) {
  checkPath(directory).orThrow();
  const std::filesystem::path folder = directory;
  std::error_code error;
  return std::filesystem::is_directory(folder / inside, error) ? folder / inside : folder;
}

static datasets::Arrays arraysOf(Records train, Records test) {
  Tensor forTraining = train.x(), forTests = test.x(); // before y(), which takes the labels
  return {std::move(forTraining), train.y(), std::move(forTests), test.y()};
}

datasets::Arrays datasets::cifar10(const std::string &directory) {
  const std::filesystem::path folder = folderOf(directory, "cifar-10-batches-bin");
  constexpr CifarForm form{.labels = 1, .label = 0, .classes = 10};
  Records train{form}, test{form};
  for (int batch = 1; batch <= 5; ++batch)
    train.read(folder / fmt::format("data_batch_{}.bin", batch));
  test.read(folder / "test_batch.bin");
  return arraysOf(std::move(train), std::move(test));
}

datasets::Arrays datasets::cifar100(const std::string &directory, Choice<CifarLabels> label_mode) {
  const std::filesystem::path folder = folderOf(directory, "cifar-100-binary");
  const bool isFine = label_mode == CifarLabels::fine;
  const CifarForm form{.labels = 2, .label = isFine ? 1 : 0, .classes = isFine ? 100 : 20};
  Records train{form}, test{form};
  train.read(folder / "train.bin");
  test.read(folder / "test.bin");
  return arraysOf(std::move(train), std::move(test));
}
