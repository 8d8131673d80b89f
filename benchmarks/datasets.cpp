// Throughput of image and text datasets, and the overlap of reading with the steps of fit().
// SPDX-License-Identifier: Apache-2.0
#include "BareDecoders.h"
#include "Folder.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include "halftone/Halftone.h"
#include <algorithm>
#include <atomic>
#include <ctime>
#include <fmt/format.h>
#include <thread>
#include <unordered_map>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int64_t height = 240, width = 320, files = 384, batchSize = 32;
constexpr int rounds = 7;

/// Smooth shades with a little noise, like a photo: about 20 KB as JPEG, about 100 KB as PNG.
Tensor picture(int64_t number) {
  std::vector<float> pixels;
  pixels.reserve(static_cast<size_t>(height * width * 3));
  uint32_t noise = static_cast<uint32_t>(number) + 1;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column)
      for (int64_t colour = 0; colour < 3; ++colour) {
        noise = noise * 1664525 + 1013904223;
        pixels.push_back(static_cast<float>(row) * 0.4f + static_cast<float>(column + colour * number % 60) * 0.3f +
                         static_cast<float>(noise >> 24) / 40.0f);
      }
  return Tensor(std::move(pixels), Shape{height, width, 3});
}

/// Writes the files of a format to two folders, one per class.
std::vector<std::string> makeFiles(const std::filesystem::path &folder, const std::string &format) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < files; ++i) {
    const std::filesystem::path sub = folder / format / (i % 2 ? "a" : "b");
    std::filesystem::create_directories(sub);
    paths.push_back((sub / fmt::format("{}.{}", i, format)).string());
    utils::save_img(paths.back(), picture(i), {.scale = false});
  }
  return paths;
}

/// Calls f for each path, on as many threads as there are cores.
void inThreads(const std::vector<std::string> &paths, const std::function<void(const std::string &)> &f) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < coreCount(); ++i)
    threads.emplace_back([&] {
      for (size_t at = next++; at < paths.size(); at = next++)
        f(paths[at]);
    });
}

std::string perSecond(double seconds, int64_t count, const char *what) {
  return fmt::format("{:.0f} {}/s", static_cast<double>(count) / seconds, what);
}

/// Decoding alone, compared with a bare loop over the library.
void decoding(Table &table, const std::vector<std::string> &paths, const char *format) {
  const std::string what = fmt::format("load_img of {} files in {} threads", format, coreCount());
  if (!table.wants(what))
    return;
  const auto ours =
      contestant("load_img", [&] { inThreads(paths, [](const std::string &path) { utils::load_img(path); }); });
  const auto bare = contestant("bare loop", [&] {
    inThreads(paths, [](const std::string &path) {
      thread_local std::vector<uint8_t> pixels;
      decodeBare(path, pixels);
    });
  });
  const std::vector<double> seconds = race({ours, bare}, rounds, 0.5);
  table.add({what, perSecond(seconds[0], files, "files"), "a bare loop " + perSecond(seconds[1], files, "files"),
             seconds[1] / seconds[0], 0.9, 0.97});
}

double processorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double processorSecondsOf(const std::function<void()> &work) {
  const double before = processorSeconds();
  work();
  return processorSeconds() - before;
}

void readAll(const Dataset &dataset) {
  for (const Batch &batch : dataset)
    (void)batch;
}

/// A small convolutional net.
Model imageModel() {
  const Sequential model({Input({height, width, 3}), layers::Rescaling(1.0 / 255),
                          layers::Conv2D(16, 3, {.strides = 2, .activation = "relu"}),
                          layers::Conv2D(32, 3, {.strides = 2, .activation = "relu"}), layers::GlobalAveragePooling2D(),
                          layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

/// The wall time of an epoch, compared with the processor time of reading the data and of the steps, divided by the
/// cores.
void epoch(Table &table, const std::string &what, const Model &model, const Dataset &data, const Dataset &inMemory) {
  if (!table.wants(what))
    return;
  const FitArgs once{.verbose = 0};
  model.fit(inMemory, once);
  std::vector<double> walls, bounds, ratios;
  for (int round = 0; round < rounds; ++round) {
    const double reading = processorSecondsOf([&] { readAll(data); });
    const double stepping = processorSecondsOf([&] { model.fit(inMemory, once); });
    walls.push_back(secondsOf([&] { model.fit(data, once); }));
    bounds.push_back((reading + stepping) / coreCount());
    ratios.push_back(walls.back() / bounds.back());
  }
  Row row{what, milliseconds(median(walls)), "both on all cores " + milliseconds(median(bounds)), median(ratios), 1.1,
          1.03};
  row.atMost = true;
  table.add(row);
}

/// Texts whose word frequencies resemble those of a natural language.
std::vector<std::string> makeTexts(int64_t count, int64_t words) {
  uint64_t state = 1;
  std::vector<std::string> texts(static_cast<size_t>(count));
  for (std::string &text : texts)
    for (int64_t i = 0; i < words; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const uint64_t draw = (state >> 33) % 20000;
      text += fmt::format("{}w{}", i ? " " : "", draw * draw % 20000 * draw / 20000);
    }
  return texts;
}

/// Tokenizing and hashing, compared with a minimal loop that finds each token or hashes each string.
void strings(Table &table) {
  constexpr int64_t count = 2000, words = 60;
  const std::vector<std::string> texts = makeTexts(count, words);
  const Tensor tensor(texts);
  layers::TextVectorization vectorize({.max_tokens = 20000, .output_sequence_length = words});
  vectorize.adapt(tensor);
  std::unordered_map<std::string, int64_t> places;
  for (const std::string &term : vectorize.get_vocabulary())
    places.emplace(term, std::ssize(places));
  const auto loop = [&] {
    std::vector<int64_t> rows;
    for (const std::string &text : texts)
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(' ', at), text.size());
        const auto found = places.find(text.substr(at, end - at));
        rows.push_back(found == places.end() ? 1 : found->second);
        at = end + 1;
      }
    return rows;
  };
  const auto add = [&](const char *what, int64_t tokens, const std::vector<double> &seconds, const char *peer) {
    table.add({what, perSecond(seconds[0], tokens, "tokens"), peer + perSecond(seconds[1], tokens, "tokens"),
               seconds[1] / seconds[0], 0.5, 1.0});
  };
  if (const char *what = "TextVectorization of 20000 terms"; table.wants(what))
    add(what, count * words,
        race({contestant("layer", [&] { (void)vectorize(tensor); }), contestant("loop", [&] { (void)loop(); })}, rounds,
             0.3),
        "std::unordered_map ");
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < count * words; ++i)
    tokens.push_back(fmt::format("city{}", i % 30000));
  const Tensor cities(tokens);
  const layers::Hashing hash(1000);
  if (const char *what = "Hashing"; table.wants(what))
    add(what, count * words,
        race({contestant("layer", [&] { (void)hash(cities); }),
              contestant("loop",
                         [&] {
                           std::vector<int64_t> bins;
                           for (const std::string &token : tokens)
                             bins.push_back(static_cast<int64_t>(std::hash<std::string>()(token) % 1000));
                         })},
             rounds, 0.3),
        "std::hash ");
}

void run(Table &table) {
  const Folder folder;
  for (const char *format : {"jpg", "png"}) {
    const std::vector<std::string> paths = makeFiles(folder.path(), format);
    decoding(table, paths, format);
    const Dataset data = utils::image_dataset_from_directory(
        (folder.path() / format).string(), {.batch_size = batchSize, .image_size = {height, width}, .shuffle = false});
    const Dataset inMemory = data.cache();
    readAll(inMemory);
    epoch(table, fmt::format("an epoch of {} files", format), imageModel(), data, inMemory);
  }
  strings(table);
}

} // namespace

int main() {
  return runProgram("datasets",
                    "images and texts as batches, beside bare loops, and epochs beside the work of all cores", run);
}
