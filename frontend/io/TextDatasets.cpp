// Reads IMDB and Reuters in Keras's format: .npz archives of lists of word indices, and JSON files of words.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/TextDatasets.h"
#include "frontend/base/RefuseFile.h"
#include "frontend/io/KerasArchive.h"
#include "frontend/io/ObjectArrays.h"
#include "runtime/Npy.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/JsonText.h"
#include "runtime/base/OpenFile.h"
#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>
#include <random>

namespace halftone {
using namespace detail;

namespace {

std::string fileIn(const std::string &directory, const std::string &name) {
  checkPath(directory).orThrow();
  return (std::filesystem::path(directory) / name).string();
}

/// Sequences with their labels.
struct Labelled {
  std::vector<std::vector<int64_t>> x;
  std::vector<int64_t> y;
};

Labelled readLabelled(const KerasArchive &archive, const std::string &x, const std::string &y, int64_t classes) {
  const auto member = [&](const std::string &name, auto read) {
    const FileRange range = archive.data(name, maxTextBytes);
    const std::shared_ptr<MappedFile> mapped = range.file.mapped(archive.path());
    const std::span<const std::byte> bytes = mapped->bytes();
    return read(archive.path() + ": " + name,
                bytes.subspan(static_cast<size_t>(range.offset), static_cast<size_t>(range.bytes)));
  };
  Labelled all{.x = member(x, readIntegerLists), .y = {}};
  const Tensor labels = member(y, readNpy);
  const auto refuse = [&](const std::string &expected, const std::string &found) {
    refuseFile(archive.path() + ": " + y, expected, found);
  };
  if (is_float(labels.dtype()) || labels.shape() != Shape{std::ssize(all.x)})
    refuse(fmt::format("an integer for each of {} sequences", all.x.size()),
           fmt::format("{} {}", name(labels.dtype()), labels.shape().str()));
  all.y = labels.astype(DType::int64).to_vector<int64_t>();
  for (const int64_t label : all.y)
    if (label < 0 || label >= classes)
      refuse(fmt::format("labels from 0 to {}", classes - 1), fmt::format("{}", label));
  return all;
}

/// NumPy's RandomState(seed).shuffle() of integers: a Fisher-Yates shuffle from the end, with masked rejection
/// sampling. One state may shuffle several lists.
class NumpyShuffle {
public:
  explicit NumpyShuffle(int64_t seed) : engine_(static_cast<uint32_t>(seed)) {
    if (seed < 0 || seed > INT64_C(0xffffffff))
      throw Error(ErrorKind::value_error, fmt::format("Seed must be between 0 and 2**32 - 1, got {}", seed));
  }
  Labelled operator()(Labelled all) {
    Labelled shuffled;
    std::vector<size_t> order(all.x.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[upTo(static_cast<uint32_t>(i))]);
    for (const size_t i : order) {
      shuffled.x.push_back(std::move(all.x[i]));
      shuffled.y.push_back(all.y[i]);
    }
    return shuffled;
  }

private:
  uint32_t upTo(uint32_t most) {
    const auto mask = static_cast<uint32_t>(std::bit_ceil(uint64_t{most} + 1) - 1);
    for (;;)
      if (const uint32_t draw = static_cast<uint32_t>(engine_()) & mask; draw <= most)
        return draw;
  }
  std::mt19937 engine_;
};

/// Shifts the word indices, prepends the start index to each sequence, and drops sequences that are too long.
template <class Args> Labelled prepared(Labelled all, const Args &args) {
  Labelled kept;
  for (size_t i = 0; i < all.x.size(); ++i) {
    std::vector<int64_t> words;
    if (args.start_char)
      words.push_back(*args.start_char);
    for (const int64_t word : all.x[i])
      words.push_back(static_cast<int64_t>(static_cast<uint64_t>(word) + static_cast<uint64_t>(args.index_from)));
    if (args.maxlen.value_or(0) > 0 && std::ssize(words) >= *args.maxlen)
      continue;
    kept.x.push_back(std::move(words));
    kept.y.push_back(all.y[i]);
  }
  return kept;
}

int64_t largestIn(const Labelled &all) {
  int64_t largest = 0;
  for (const std::vector<int64_t> &words : all.x)
    for (const int64_t word : words)
      largest = std::max(largest, word);
  return largest;
}
/// Replaces the rarest and the most frequent words.
template <class Args> void limitWords(Labelled &all, int64_t numWords, const Args &args) {
  for (std::vector<int64_t> &words : all.x) {
    const auto isOut = [&](int64_t word) { return word < args.skip_top || word >= numWords; };
    if (args.oov_char)
      std::ranges::replace_if(words, isOut, *args.oov_char);
    else
      std::erase_if(words, isOut);
  }
}

Tensor labelTensor(const std::vector<int64_t> &labels) { return Tensor(labels); }

std::vector<std::pair<std::string, int64_t>> readWordIndex(const std::string &path) {
  const std::string text = readFile(path, maxJsonBytes).valueOrThrow();
  std::vector<std::pair<std::string, int64_t>> words;
  try {
    const nlohmann::ordered_json json = parseJson(text);
    if (!json.is_object())
      refuseFile(path, "a JSON object of words", "another value");
    for (const auto &[word, index] : json.items()) {
      if (!index.is_number_integer())
        refuseFile(path, "an integer for each word", fmt::format("another value for '{}'", word));
      words.emplace_back(word, index.template get<int64_t>());
    }
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::value_error)
      throw;
    refuseFile(path, "a JSON object of words", error.message());
  }
  return words;
}

} // namespace

datasets::Sequences datasets::imdb(const std::string &directory, const IMDBArgs &args) {
  const KerasArchive archive(fileIn(directory, "imdb.npz"), "an .npz archive", "x_train.npy");
  NumpyShuffle shuffle(args.seed);
  Labelled train = shuffle(readLabelled(archive, "x_train.npy", "y_train.npy", 2));
  Labelled test = shuffle(readLabelled(archive, "x_test.npy", "y_test.npy", 2));
  train = prepared(std::move(train), args);
  test = prepared(std::move(test), args);
  if (args.maxlen.value_or(0) > 0 && (train.x.empty() || test.x.empty()))
    throw Error(ErrorKind::value_error,
                fmt::format("After filtering for sequences shorter than maxlen={}, no sequence was "
                            "kept. Increase maxlen.",
                            *args.maxlen));
  const int64_t given = args.num_words.value_or(0);
  const int64_t numWords = given != 0 ? given : std::max(largestIn(train), largestIn(test));
  limitWords(train, numWords, args);
  limitWords(test, numWords, args);
  return {std::move(train.x), labelTensor(train.y), std::move(test.x), labelTensor(test.y)};
}

datasets::Sequences datasets::reuters(const std::string &directory, const ReutersArgs &args) {
  if (!(args.test_split >= 0.0 && args.test_split <= 1.0))
    throw Error(ErrorKind::value_error,
                fmt::format("test_split must be a fraction from 0 to 1, got {}", args.test_split));
  const KerasArchive archive(fileIn(directory, "reuters.npz"), "an .npz archive", "x.npy");
  NumpyShuffle shuffle(args.seed);
  Labelled all = prepared(shuffle(readLabelled(archive, "x.npy", "y.npy", std::ssize(reuters_label_names()))), args);
  const int64_t given = args.num_words.value_or(0);
  limitWords(all, given != 0 ? given : largestIn(all), args);
  const auto first = static_cast<std::ptrdiff_t>(static_cast<double>(all.x.size()) * (1.0 - args.test_split));
  Sequences parts{{all.x.begin(), all.x.begin() + first},
                  labelTensor({all.y.begin(), all.y.begin() + first}),
                  {all.x.begin() + first, all.x.end()},
                  labelTensor({all.y.begin() + first, all.y.end()})};
  return parts;
}

std::vector<std::pair<std::string, int64_t>> datasets::imdb_word_index(const std::string &directory) {
  return readWordIndex(fileIn(directory, "imdb_word_index.json"));
}
std::vector<std::pair<std::string, int64_t>> datasets::reuters_word_index(const std::string &directory) {
  return readWordIndex(fileIn(directory, "reuters_word_index.json"));
}

std::vector<std::string> datasets::reuters_label_names() {
  return {"cocoa",     "grain",        "veg-oil", "earn",       "acq",      "wheat",    "copper",
          "housing",   "money-supply", "coffee",  "sugar",      "trade",    "reserves", "ship",
          "cotton",    "carcass",      "crude",   "nat-gas",    "cpi",      "money-fx", "interest",
          "gnp",       "meal-feed",    "alum",    "oilseed",    "gold",     "tin",      "strategic-metal",
          "livestock", "retail",       "ipi",     "iron-steel", "rubber",   "heat",     "jobs",
          "lei",       "bop",          "zinc",    "orange",     "pet-chem", "dlr",      "gas",
          "silver",    "wpi",          "hog",     "lead"};
}

} // namespace halftone
