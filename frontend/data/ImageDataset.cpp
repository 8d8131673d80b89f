// Datasets from the images of a folder.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RandomSeeds.h"
#include "frontend/data/ImageFiles.h"
#include "frontend/data/ImageFolder.h"
#include "frontend/data/ImageScaling.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Extents.h"
#include "runtime/devices/CpuDevice.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <set>

namespace halftone {
using namespace detail;

ImageDataset::ImageDataset(Dataset dataset, std::vector<std::string> class_names, std::vector<std::string> file_paths)
    : Dataset(std::move(dataset)), classNames_(std::move(class_names)), filePaths_(std::move(file_paths)) {}

namespace {

using utils::ImageDatasetArgs;

void requireArguments(const ImageDatasetArgs &args) {
  const auto require = [](bool holds, const std::string &message) {
    if (!holds)
      throw Error(ErrorKind::value_error, message);
  };
  require(!args.labels.classes() || args.class_names.empty(),
          "You can only pass `class_names` if `labels=\"inferred\"`.");
  require(args.image_size[0] > 0 && args.image_size[1] > 0,
          fmt::format("Invalid `image_size` value. Expected a tuple of 2 integers. Received: image_size=({}, {})",
                      args.image_size[0], args.image_size[1]));
  require(!args.batch_size || *args.batch_size > 0,
          fmt::format("Argument `batch_size` must be positive. Received: batch_size={}", args.batch_size.value_or(0)));
  require(!args.crop_to_aspect_ratio || !args.pad_to_aspect_ratio,
          "Only one of `pad_to_aspect_ratio`, `crop_to_aspect_ratio` can be set to `True`.");
  const double split = args.validation_split.value_or(0.0);
  require(split == 0.0 || (split > 0.0 && split < 1.0),
          fmt::format("`validation_split` must be between 0 and 1, received: {}", split));
  require((split != 0.0) == (args.subset != Subset::none),
          "If `subset` is set, `validation_split` must be set, and inversely.");
  require(
      split == 0.0 || !args.shuffle || args.seed,
      "If using `validation_split` and shuffling the data, you must provide a `seed` argument, to make sure that there "
      "is no overlap between the training and validation subset.");
  require(!args.seed || (*args.seed >= 0 && *args.seed <= std::numeric_limits<uint32_t>::max()),
          fmt::format("Seed must be between 0 and 2**32 - 1. Received: seed={}", args.seed.value_or(0)));
}

/// The files of the folder, with the labels requested by the arguments.
ImageFolder labelled(const std::string &directory, const ImageDatasetArgs &args) {
  const bool isPlain = args.labels.are_none() || args.label_mode == LabelMode::none;
  if (!isPlain && !args.labels.classes())
    return filesByClass(directory, args.class_names, args.follow_links);
  if (isPlain && !args.class_names.empty())
    throw Error(ErrorKind::value_error, "When `labels=None` (no labels), argument `class_names` cannot be specified.");
  ImageFolder folder = filesOf(directory, args.follow_links);
  if (isPlain)
    return folder;
  folder.labels = *args.labels.classes();
  if (folder.labels.size() != folder.files.size())
    throw Error(ErrorKind::value_error,
                fmt::format("Expected the lengths of `labels` to match the number of files in the target directory. "
                            "len(labels) is {} while we found {} files in directory {}.",
                            folder.labels.size(), folder.files.size(), directory));
  for (const int64_t label : std::set<int64_t>(folder.labels.begin(), folder.labels.end()))
    folder.classNames.push_back(std::to_string(label));
  return folder;
}

template <class T> std::vector<T> taken(const std::vector<T> &list, const std::vector<int64_t> &order) {
  std::vector<T> result;
  for (size_t i = 0; i < list.size(); ++i)
    result.push_back(list[static_cast<size_t>(order[i])]);
  return result;
}
ImageFolder part(const ImageFolder &folder, size_t begin, size_t end) {
  const auto cut = [&](const auto &list) {
    const auto first = list.begin() + static_cast<ptrdiff_t>(begin), last = list.begin() + static_cast<ptrdiff_t>(end);
    return list.empty() ? list : std::remove_cvref_t<decltype(list)>(first, last);
  };
  return {cut(folder.files), cut(folder.labels), folder.classNames};
}

/// Reads image i of a folder.
Tensor imageOf(const ImageFolder &folder, size_t i, const ImageDatasetArgs &args) {
  const Pixels pixels = readImage(folder.files[i], args.color_mode);
  const int64_t height = args.image_size[0], width = args.image_size[1], channels = pixels.channels;
  const bool isFirst = args.data_format == DataFormat::channels_first;
  Tensor image = // allocated first, to reject sizes that do not fit in memory
      TensorAccess::allocate(DType::float32, isFirst ? Shape{channels, height, width} : Shape{height, width, channels});
  const std::vector<float> numbers = scaled(pixels, {.size = args.image_size,
                                                     .interpolation = args.interpolation,
                                                     .cropsToRatio = args.crop_to_aspect_ratio,
                                                     .padsToRatio = args.pad_to_aspect_ratio});
  auto *to = reinterpret_cast<float *>(TensorAccess::mutableData(image));
  if (!isFirst)
    std::ranges::copy(numbers, to);
  else
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t at = 0; at < height * width; ++at)
        *to++ = numbers[static_cast<size_t>(at * channels + c)];
  return image;
}
Tensor labelOf(const ImageFolder &folder, size_t i, LabelMode mode) {
  const int64_t label = folder.labels[i], classes = std::ssize(folder.classNames);
  if (mode == LabelMode::integer)
    return Tensor(std::vector<double>{static_cast<double>(label)}, Shape{1}).astype(int32).reshape(Shape());
  if (mode == LabelMode::binary)
    return Tensor(std::vector<float>{static_cast<float>(label)}, Shape{1});
  std::vector<float> vector(static_cast<size_t>(classes), 0.0f);
  if (label >= 0 && label < classes)
    vector[static_cast<size_t>(label)] = 1.0f;
  return Tensor(std::move(vector), Shape{classes});
}

ImageDataset datasetOf(ImageFolder folder, const std::string &directory, const char *kind, const ImageDatasetArgs &args,
                       bool shuffles) {
  if (folder.files.empty())
    throw Error(ErrorKind::value_error, fmt::format("No {}images found in directory {}. Allowed formats: ('.jpeg', "
                                                    "'.jpg', '.png')",
                                                    kind, directory));
  std::vector<int64_t> indices(folder.files.size());
  std::iota(indices.begin(), indices.end(), 0);
  Dataset dataset(Tensor(std::move(indices), Shape{std::ssize(folder.files)}));
  if (shuffles)
    dataset = dataset.shuffle(args.batch_size ? extentProduct(*args.batch_size, 8) : 1024, args.seed);
  const auto shared = std::make_shared<const ImageFolder>(std::move(folder));
  const auto read = [shared, args](const Batch &element) {
    const auto i = static_cast<size_t>(element.x[0].to_vector<int64_t>().at(0));
    Batch batch{.x = imageOf(*shared, i, args)};
    if (!shared->labels.empty())
      batch.y = labelOf(*shared, i, args.label_mode);
    return batch;
  };
  dataset = dataset.map(read, {.num_parallel_calls = defaultThreadCount().valueOrThrow()});
  if (args.batch_size)
    dataset = dataset.batch(*args.batch_size);
  return {dataset.prefetch(1), shared->classNames, shared->files};
}

/// The training and validation subsets; without a split, all files and none.
std::array<ImageFolder, 2> splitFolder(const std::string &directory, ImageDatasetArgs &args) {
  requireArguments(args);
  if (!args.seed)
    args.seed = static_cast<uint32_t>(nextSeed());
  ImageFolder folder = labelled(directory, args);
  if (args.label_mode == LabelMode::binary && !folder.labels.empty() && folder.classNames.size() != 2)
    throw Error(ErrorKind::value_error,
                fmt::format("When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: "
                            "class_names=[{}]",
                            fmt::join(folder.classNames, ", ")));
  if (args.shuffle) {
    const std::vector<int64_t> order = shuffledAsInNumPy(std::ssize(folder.files), static_cast<uint32_t>(*args.seed));
    folder.files = taken(folder.files, order);
    folder.labels = taken(folder.labels, order);
  }
  const size_t count = folder.files.size();
  const auto held = static_cast<size_t>(args.validation_split.value_or(0.0) * static_cast<double>(count));
  return {part(folder, 0, count - held), part(folder, count - held, count)};
}

} // namespace

namespace utils {

ImageDataset image_dataset_from_directory(const std::string &directory, const ImageDatasetArgs &given) {
  if (given.subset == Subset::both)
    throw Error(ErrorKind::value_error, "`subset` \"both\" creates two datasets: use image_datasets_from_directory()");
  ImageDatasetArgs args = given;
  auto [training, validation] = splitFolder(directory, args);
  return datasetOf(args.subset == Subset::validation ? std::move(validation) : std::move(training), directory, "", args,
                   args.shuffle);
}

std::array<ImageDataset, 2> image_datasets_from_directory(const std::string &directory, const ImageDatasetArgs &given) {
  if (given.subset != Subset::both)
    throw Error(ErrorKind::value_error, fmt::format("image_datasets_from_directory() creates the datasets of `subset` "
                                                    "\"both\". Received: subset=\"{}\"",
                                                    given.subset.word()));
  ImageDatasetArgs args = given;
  auto [training, validation] = splitFolder(directory, args);
  return {datasetOf(std::move(training), directory, "training ", args, args.shuffle),
          datasetOf(std::move(validation), directory, "validation ", args, false)};
}

} // namespace utils
} // namespace halftone
