// Datasets of a folder of images: labels, splits, sizes, formats, and each rejected argument.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using utils::image_dataset_from_directory, utils::image_datasets_from_directory;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

/// Images of a single colour: the colour of file i is i.
struct ColouredFiles : TemporaryFolder {
  explicit ColouredFiles(int count, const std::vector<std::string> &classes = {"cat", "dog"}) {
    for (int i = 0; i < count; ++i) {
      const fs::path folder = path / classes[static_cast<size_t>(i) % classes.size()];
      fs::create_directories(folder);
      utils::save_img((folder / (std::to_string(100 + i) + ".png")).string(), Tensor::full({6, 8, 3}, i),
                      {.scale = false});
    }
  }
  std::string name() const { return path.string(); }
};
struct ReadingThreads {
  explicit ReadingThreads(const char *count) { setenv("HALFTONE_NUM_THREADS", count, 1); }
  ~ReadingThreads() { unsetenv("HALFTONE_NUM_THREADS"); }
};
/// The arguments of a recorded dataset, in batches of 4.
utils::ImageDatasetArgs argumentsOf(const Json &json) {
  utils::ImageDatasetArgs args{.batch_size = 4};
  const auto word = [&](const char *key, auto &member) {
    using Word = std::remove_cvref_t<decltype(member)>;
    if (json.contains(key))
      member =
          choice<decltype([]<class E>(Choice<E>) { return E(); }(std::declval<Word>()))>(json[key].get<std::string>());
  };
  word("label_mode", args.label_mode);
  word("color_mode", args.color_mode);
  word("interpolation", args.interpolation);
  word("subset", args.subset);
  word("data_format", args.data_format);
  if (json.contains("labels"))
    args.labels = std::nullopt;
  if (json.contains("image_size"))
    args.image_size = json["image_size"].get<std::array<int64_t, 2>>();
  if (json.contains("seed"))
    args.seed = json["seed"].get<int64_t>();
  if (json.contains("validation_split"))
    args.validation_split = json["validation_split"].get<double>();
  args.class_names = json.value("class_names", std::vector<std::string>{});
  args.shuffle = json.value("shuffle", true);
  args.crop_to_aspect_ratio = json.value("crop_to_aspect_ratio", false);
  args.pad_to_aspect_ratio = json.value("pad_to_aspect_ratio", false);
  return args;
}

/// The colours of all images, and the contents of y.
std::pair<std::vector<double>, std::vector<double>> contents(const Dataset &dataset) {
  std::vector<double> colours, labels;
  for (const Batch &batch : dataset) {
    const std::vector<double> x = numbers(batch.x[0]);
    const auto each = x.size() / static_cast<size_t>(batch.x[0].shape()[0]);
    for (size_t i = 0; i < x.size(); i += each)
      colours.push_back(x[i]);
    if (batch.y.size() > 0)
      for (const double label : numbers(batch.y[0]))
        labels.push_back(label);
  }
  return {colours, labels};
}

} // namespace

TEST_CASE("Files, splits, labels and pixels are those of Keras's datasets") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/image_folder.jsonl");
  std::string line;
  std::getline(file, line);
  const TemporaryFolder folder;
  const Json first = Json::parse(line);
  for (const auto &[name, hex] : first["files"].items()) {
    fs::create_directories((folder.path / name).parent_path());
    std::string bytes;
    for (size_t i = 0; i < hex.get<std::string>().size(); i += 2)
      bytes.push_back(static_cast<char>(std::stoi(hex.get<std::string>().substr(i, 2), nullptr, 16)));
    folder.write(name, bytes);
  }
  size_t count = 0;
  for (; std::getline(file, line); ++count) {
    const Json row = Json::parse(line);
    INFO(row["args"].dump());
    const ImageDataset dataset = image_dataset_from_directory(folder.path.string(), argumentsOf(row["args"]));
    CHECK(dataset.class_names() == row["classes"].get<std::vector<std::string>>());
    std::vector<std::string> paths;
    for (const std::string &path : dataset.file_paths())
      paths.push_back(path.substr(folder.path.string().size() + 1));
    CHECK(paths == row["paths"].get<std::vector<std::string>>());
    if (!row.contains("images"))
      continue;
    const Batch batch = *dataset.begin();
    CHECK(batch.x[0].shape() == Shape(row["shape"].get<std::vector<int64_t>>()));
    const std::vector<double> found = numbers(batch.x[0]), expected = row["images"].get<std::vector<double>>();
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(std::abs(found[i] - expected[i]) <= 1e-5 * 255);
    if (!row["labels"].is_null())
      CHECK(numbers(batch.y[0]) == row["labels"].get<std::vector<double>>());
  }
  CHECK(count == 28);
}

TEST_CASE("Images come in batches with the labels of their folders") {
  const ColouredFiles files(7);
  const ImageDataset plain =
      image_dataset_from_directory(files.name(), {.batch_size = 3, .image_size = {4, 5}, .shuffle = false});
  CHECK(plain.class_names() == std::vector<std::string>{"cat", "dog"});
  CHECK(plain.file_paths().size() == 7);
  CHECK(plain.cardinality() == 3);
  const Batch first = *plain.begin();
  CHECK(first.x[0].shape() == Shape{3, 4, 5, 3});
  CHECK(first.x[0].dtype() == float32);
  CHECK(first.y[0].dtype() == int32);
  CHECK(contents(plain) ==
        std::pair<std::vector<double>, std::vector<double>>{{0, 2, 4, 6, 1, 3, 5}, {0, 0, 0, 0, 1, 1, 1}});
  const Batch binary = *image_dataset_from_directory(files.name(), {.label_mode = "binary", .shuffle = false}).begin();
  CHECK(binary.x[0].shape() == Shape{7, 256, 256, 3});
  CHECK(binary.y[0].shape() == Shape{7, 1});
  CHECK(binary.y[0].dtype() == float32);
  const Batch categorical =
      *image_dataset_from_directory(files.name(),
                                    {.label_mode = "categorical", .class_names = {"dog", "cat"}, .shuffle = false})
           .begin();
  CHECK(numbers(categorical.y[0]) == std::vector<double>{1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1});
  const ImageDataset bare = image_dataset_from_directory(files.name(), {.labels = std::nullopt, .shuffle = false});
  CHECK((*bare.begin()).y.size() == 0);
  CHECK(bare.class_names().empty());
  const ImageDataset own =
      image_dataset_from_directory(files.name(), {.labels = {5, 5, 5, 5, 9, 9, 9}, .shuffle = false});
  CHECK(own.class_names() == std::vector<std::string>{"5", "9"});
  CHECK(contents(own).second == std::vector<double>{5, 5, 5, 5, 9, 9, 9});
  const ImageDataset single = image_dataset_from_directory(files.name(), {.color_mode = "grayscale",
                                                                          .batch_size = {},
                                                                          .image_size = {3, 2},
                                                                          .shuffle = false,
                                                                          .data_format = "channels_first"});
  CHECK((*single.begin()).x[0].shape() == Shape{1, 3, 2});
}

TEST_CASE("The parts of a split have no file in common, and shuffling keeps labels beside images") {
  const ColouredFiles files(11);
  const utils::ImageDatasetArgs args{.image_size = {2, 2}, .seed = 7, .validation_split = 0.3, .subset = "both"};
  const auto [training, validation] = image_datasets_from_directory(files.name(), args);
  utils::ImageDatasetArgs one = args;
  one.subset = "validation";
  CHECK(validation.file_paths() == image_dataset_from_directory(files.name(), one).file_paths());
  one.subset = "training";
  CHECK(training.file_paths() == image_dataset_from_directory(files.name(), one).file_paths());
  CHECK(validation.file_paths().size() == 3);
  const auto [trained, labels] = contents(training);
  const auto [held, heldLabels] = contents(validation);
  std::set<double> all(trained.begin(), trained.end());
  all.insert(held.begin(), held.end());
  CHECK(all.size() == 11);
  CHECK(trained.size() == 8);
  for (size_t i = 0; i < trained.size(); ++i)
    CHECK(labels[i] == std::fmod(trained[i], 2.0));
  CHECK(contents(training).first != trained); // each pass has another order
  CHECK(contents(validation).first == held);
}

TEST_CASE("Images are scaled as by tf.image: nearest pixels, sums of neighbours, cut or padded to the ratio") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path / "a");
  utils::save_img((folder.path / "a" / "1.png").string(), Tensor({0.0f, 10.0f, 20.0f, 30.0f}, {1, 4, 1}),
                  {.scale = false});
  const auto scaled = [&](utils::ImageDatasetArgs args) {
    args.color_mode = "grayscale";
    return numbers((*image_dataset_from_directory(folder.path.string(), args).begin()).x[0]);
  };
  CHECK(near(scaled({.image_size = {1, 2}}), {5, 25}));
  CHECK(near(scaled({.image_size = {2, 4}}), {0, 10, 20, 30, 0, 10, 20, 30}));
  CHECK(near(scaled({.image_size = {1, 8}}), {0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30}));
  CHECK(scaled({.image_size = {1, 2}, .interpolation = "nearest"}) == std::vector<double>{10, 30});
  CHECK(near(scaled({.image_size = {1, 1}, .crop_to_aspect_ratio = true}), {10}));
  CHECK(near(scaled({.image_size = {4, 4}, .pad_to_aspect_ratio = true}),
             {0, 0, 0, 0, 0, 10, 20, 30, 0, 0, 0, 0, 0, 0, 0, 0}));
  double sum = 0;
  for (const double each : scaled({.image_size = {1, 8}, .interpolation = "bicubic"}))
    sum += each;
  CHECK(sum == Approx(120));
}

TEST_CASE("Arguments of image datasets that do not fit are refused in Keras's words") {
  const ColouredFiles files(6, {"a", "b", "c"});
  const auto refused = [&](const utils::ImageDatasetArgs &args) {
    return errorOf([&] { (void)image_dataset_from_directory(files.name(), args); });
  };
  CHECK_THAT(refused({.labels = {0, 1}}), Contains("ValueError: Expected the lengths of `labels` to match"));
  CHECK_THAT(refused({.labels = {0, 1, 0, 1, 0, 1}, .class_names = {"a"}}),
             Contains("You can only pass `class_names`"));
  CHECK_THAT(refused({.labels = std::nullopt, .class_names = {"a"}}), Contains("When `labels=None`"));
  CHECK_THAT(refused({.label_mode = "binary"}), Contains("there must be exactly 2 class_names"));
  CHECK_THAT(refused({.class_names = {"d"}}), Contains("did not match the names of the subdirectories"));
  CHECK_THAT(refused({.class_names = {"a", "b", "a"}}), Contains("must not contain duplicates"));
  CHECK_THAT(refused({.batch_size = 0}), Contains("`batch_size` must be positive"));
  CHECK_THAT(refused({.image_size = {0, 3}}), Contains("Invalid `image_size` value"));
  CHECK_THAT(refused({.validation_split = 1.5, .subset = "training"}),
             Contains("must be between 0 and 1, received: 1.5"));
  CHECK_THAT(refused({.validation_split = NAN, .subset = "training"}), Contains("must be between 0 and 1"));
  CHECK_THAT(refused({.validation_split = 0.5}), Contains("If `subset` is set, `validation_split` must be set"));
  CHECK_THAT(refused({.subset = "training"}), Contains("and inversely"));
  CHECK_THAT(refused({.validation_split = 0.5, .subset = "training"}), Contains("you must provide a `seed` argument"));
  CHECK_THAT(refused({.seed = -1}), Contains("Seed must be between 0 and 2**32 - 1"));
  CHECK_THAT(refused({.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}), Contains("Only one of"));
  CHECK_THAT(refused({.seed = 1, .validation_split = 0.5, .subset = "both"}),
             Contains("image_datasets_from_directory"));
  CHECK_THAT(refused({.shuffle = false, .validation_split = 0.1, .subset = "validation", .follow_links = true}),
             Contains("No images found in directory"));
  CHECK_THROWS_WITH(image_datasets_from_directory(files.name(), {}), Contains("subset=\"none\""));
  CHECK_THROWS_WITH(image_dataset_from_directory((files.path / "a").string(), {}), Contains("No images found"));
  CHECK_THAT(errorOf([&] { (void)image_dataset_from_directory((files.path / "absent").string(), {}); }),
             Contains("Cannot read the folder"));
}

TEST_CASE("Images that no memory holds are an error of the batch that reads them, whatever its size") {
  const ColouredFiles files(2);
  constexpr int64_t large = int64_t{1} << 62;
  const ImageDataset dataset =
      image_dataset_from_directory(files.name(), {.batch_size = large, .image_size = {large, large}, .seed = 1});
  CHECK_THROWS_WITH(dataset.begin(), Contains("more elements than 63 bits can count"));
}

TEST_CASE("A damaged file is an error of the batch that reads it") {
  const ColouredFiles files(2);
  std::filesystem::resize_file(image_dataset_from_directory(files.name(), {.shuffle = false}).file_paths()[1], 20);
  const ImageDataset dataset =
      image_dataset_from_directory(files.name(), {.batch_size = 1, .image_size = {2, 2}, .shuffle = false});
  auto at = dataset.begin();
  CHECK((*at).x[0].shape()[0] == 1);
  CHECK_THROWS_WITH(++at, Contains("101.png': expected a complete PNG file"));
}

TEST_CASE("The batches of a folder's images do not depend on the number of threads that read them") {
  const ColouredFiles files(23);
  const auto pass = [&](const char *threads) {
    const ReadingThreads count(threads);
    const ImageDataset dataset = image_dataset_from_directory(files.name(), {.batch_size = 5, .seed = 3});
    CHECK(dataset.cardinality() == 5);
    CHECK(dataset.unbatch().cardinality() == 23);
    const auto first = contents(dataset);
    return std::pair(first, contents(dataset));
  };
  const auto alone = pass("1");
  CHECK(alone.first != alone.second);
  CHECK(pass("2") == alone);
  CHECK(pass("4") == alone);
  const ThreadLimit none(0);
  CHECK(pass("4") == alone);
}

TEST_CASE("A number of threads that is none is an error of the call that makes a dataset of images") {
  const ColouredFiles files(2);
  const ReadingThreads count("many");
  CHECK_THROWS_WITH(image_dataset_from_directory(files.name(), {}), Contains("HALFTONE_NUM_THREADS=many"));
}

TEST_CASE("fit on a folder with a damaged file ends with the error of its batch, and can be called again") {
  const ColouredFiles files(12);
  const utils::ImageDatasetArgs args{.batch_size = 2, .image_size = {2, 2}, .shuffle = false};
  const ImageDataset dataset = image_dataset_from_directory(files.name(), args);
  const std::string &path = dataset.file_paths()[7];
  const auto size = fs::file_size(path);
  std::ifstream whole(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  fs::resize_file(path, size / 2);
  const Sequential model({Input({2, 2, 3}), layers::Flatten(), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  struct Count : Callback {
    int64_t steps = 0;
    void on_train_batch_end(int64_t, const Logs &) override { ++steps; }
  };
  const auto count = std::make_shared<Count>();
  CHECK_THROWS_WITH(model.fit(dataset, {.verbose = 0, .callbacks = {count}}),
                    Contains(fs::path(path).filename().string()));
  CHECK(count->steps == 3);
  std::ofstream(path, std::ios::binary) << bytes;
  model.fit(dataset, {.verbose = 0, .callbacks = {count}});
  CHECK(count->steps == 9);
}
