// IMDB and Reuters: the sequences that Keras reads from the same archives, words, and damaged files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/TextDatasets.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/RecordedJson.h"
#include <random>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

const std::string texts = HALFTONE_SOURCE_DIR "/tests/data/keras/texts";

std::optional<int64_t> countOf(const Json &arguments, const char *name, std::optional<int64_t> otherwise) {
  if (!arguments.contains(name))
    return otherwise;
  return arguments[name].is_null() ? std::nullopt : std::optional(arguments[name].get<int64_t>());
}
template <class Args> Args argsOf(const Json &arguments) {
  return {.num_words = countOf(arguments, "num_words", {}),
          .skip_top = *countOf(arguments, "skip_top", 0),
          .maxlen = countOf(arguments, "maxlen", {}),
          .seed = *countOf(arguments, "seed", 113),
          .start_char = countOf(arguments, "start_char", 1),
          .oov_char = countOf(arguments, "oov_char", 2),
          .index_from = *countOf(arguments, "index_from", 3)};
}
std::string bytesOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("Sequences and labels are those that Keras reads") {
  int64_t calls = 0;
  for (const std::string &line : recordedLines("texts.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row["dataset"] << " " << row["arguments"]);
    datasets::Sequences found;
    if (row["dataset"] == "imdb") {
      found = datasets::imdb(texts, argsOf<datasets::IMDBArgs>(row["arguments"]));
    } else {
      auto args = argsOf<datasets::ReutersArgs>(row["arguments"]);
      if (row["arguments"].contains("test_split"))
        args.test_split = row["arguments"]["test_split"].get<double>();
      found = datasets::reuters(texts, args);
    }
    CHECK(Json(found.x_train) == row["x_train"]);
    CHECK(Json(found.x_test) == row["x_test"]);
    CHECK(Json(found.y_train.to_vector<int64_t>()) == row["y_train"]);
    CHECK(Json(found.y_test.to_vector<int64_t>()) == row["y_test"]);
    ++calls;
  }
  CHECK(calls == 20);
}

TEST_CASE("The words of both data sets have their indices, and the topics their names") {
  using Words = std::vector<std::pair<std::string, int64_t>>;
  CHECK(datasets::imdb_word_index(texts) == Words{{"fawn", 34701}, {"the", 1}, {"imdb", 7}, {"d'été", 3}});
  CHECK(datasets::reuters_word_index(texts)[2] == std::pair<std::string, int64_t>("reuters", 7));
  CHECK(datasets::reuters_label_names().size() == 46);
  CHECK(datasets::reuters_label_names()[45] == "lead");
}

TEST_CASE("Missing and foreign files are IOErrors that name the file, the expected contents and those found") {
  const TemporaryFolder folder;
  const auto imdb = [&] { return errorOf([&] { (void)datasets::imdb(folder.path.string()); }); };
  CHECK_THAT(imdb(), Contains("IOError") && Contains("imdb.npz: No such file or directory"));
  folder.write("imdb.npz", "no zip");
  CHECK_THAT(imdb(), Contains("IOError") && Contains("expected an .npz archive, a zip with x_train.npy; found"));
  folder.write("imdb.npz", bytesOf(texts + "/reuters.npz"));
  CHECK_THAT(imdb(), Contains("IOError") && Contains("a zip with x_train.npy; found: No such file"));
  const auto words = [&](const std::string &text) {
    folder.write("imdb_word_index.json", text);
    return errorOf([&] { (void)datasets::imdb_word_index(folder.path.string()); });
  };
  CHECK_THAT(words("[]"), Contains("IOError") && Contains("expected a JSON object of words, found another value"));
  CHECK_THAT(words("{\"a\": 1.5}"), Contains("IOError") && Contains("expected an integer for each word"));
  CHECK_THAT(words("{\"a\": "), Contains("IOError") && Contains("expected a JSON object of words"));
  CHECK_THAT(errorOf([] { (void)datasets::imdb(texts, {.maxlen = 1}); }),
             Contains("ValueError: After filtering for sequences shorter than maxlen=1"));
  CHECK_THAT(errorOf([] { (void)datasets::imdb(texts, {.seed = -1}); }),
             Contains("ValueError: Seed must be between 0 and"));
  CHECK_THAT(errorOf([] { (void)datasets::reuters(texts, {.test_split = 1.5}); }),
             Contains("ValueError: test_split must be a fraction"));
}

TEST_CASE("Damaged archives end in one error, or are read") {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  for (const char *name : {"imdb", "reuters"}) {
    const std::string whole = bytesOf(texts + "/" + name + ".npz");
    int64_t refused = 0;
    for (int i = 0; i < 500; ++i) {
      std::string bytes = whole;
      for (uint32_t edits = 1 + random() % 3; edits > 0; --edits)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (i % 5 == 0)
        bytes.resize(random() % bytes.size());
      folder.write(std::string(name) + ".npz", bytes);
      const std::string error = errorOf([&] {
        name[0] == 'i' ? (void)datasets::imdb(folder.path.string()) : (void)datasets::reuters(folder.path.string());
      });
      refused += !error.empty();
      CHECK((error.empty() || error.starts_with("IOError")));
    }
    CHECK(refused > 300);
  }
}
