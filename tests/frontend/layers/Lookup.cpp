// StringLookup and IntegerLookup: vocabularies given, adapted, set and read from files, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "frontend/io/StoredZip.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {
Tensor words(std::vector<std::string> list) { return Tensor(std::move(list)); }
using Words = std::vector<std::string>;
} // namespace

TEST_CASE("The vocabulary has the most frequent terms first, equal ones in falling order") {
  const StringLookup lookup({.max_tokens = 4});
  lookup.adapt(words({"b", "a", "c", "a", "d"}));
  CHECK(lookup.get_vocabulary() == Words{"[UNK]", "a", "d", "c"});
  CHECK(lookup.get_vocabulary(false) == Words{"a", "d", "c"});
  CHECK(lookup.vocabulary_size() == 4);
  lookup.adapt(Dataset(words({"x", "y", "y", "z"})).batch(2).repeat(), 2); // replaces the vocabulary
  CHECK(lookup.get_vocabulary() == Words{"[UNK]", "y", "z", "x"});
  lookup.adapt(words({}));
  CHECK(lookup.vocabulary_size() == 4); // without data the vocabulary is unchanged
}

TEST_CASE("A layer keeps its arguments") {
  const StringLookup lookup({.max_tokens = 9,
                             .num_oov_indices = 2,
                             .mask_token = "m",
                             .oov_token = "?",
                             .vocabulary = {"a", "b"},
                             .idf_weights = {0.5, 1.5},
                             .invert = false,
                             .output_mode = OutputMode::tf_idf,
                             .pad_to_max_tokens = true,
                             .trainable = false,
                             .dtype = "float32",
                             .name = "words"});
  CHECK(lookup.name() == "words");
  CHECK_FALSE(lookup.trainable());
  CHECK(lookup.get_vocabulary() == Words{"?", "?", "a", "b"});
  const Tensor counted = lookup(Tensor(Words{"a", "a", "m", "b"}, {1, 4}));
  CHECK(numbers(counted) == std::vector<double>{0, 0, 1, 1.5, 0, 0, 0, 0, 0});
  const IntegerLookup numbers({.max_tokens = 9,
                               .num_oov_indices = 2,
                               .mask_token = 0,
                               .oov_token = -7,
                               .vocabulary = {5, 6},
                               .idf_weights = {},
                               .invert = false,
                               .output_mode = "int",
                               .pad_to_max_tokens = false,
                               .trainable = false,
                               .dtype = "float32",
                               .name = "ids"});
  CHECK(numbers.get_vocabulary() == std::vector<int64_t>{0, -7, -7, 5, 6});
  CHECK(numbers(Tensor({0, 5, 6, -3, 4}, int32)).to_vector<int64_t>() == std::vector<int64_t>{0, 3, 4, 2, 1});
}

TEST_CASE("Indices give strings back, on data alone") {
  const StringLookup back({.vocabulary = {"a", "b"}, .invert = true});
  CHECK(back(Tensor({{1, 2}, {0, 9}}, int64)).to_vector<std::string>() == Words{"a", "b", "[UNK]", "[UNK]"});
  CHECK(back(Tensor({{1, 2}, {0, 9}}, int64)).shape() == Shape{2, 2});
  Input x({2}, {.dtype = int64});
  CHECK_THAT(errorOf([&] { (void)back(x); }), StartsWith("NotImplementedError"));
}

TEST_CASE("A file has a term on each line, and a model file has the terms") {
  std::ofstream("terms.txt") << "one\r\ntwo\nthree\n";
  const StringLookup lookup({.vocabulary = Vocabulary<std::string>::file("terms.txt")});
  CHECK(lookup.get_vocabulary() == Words{"[UNK]", "one", "two", "three"});
  Input text({1}, {.dtype = DType::string});
  Model({text}, {lookup(text)}).save("terms.keras", {.overwrite = true});
  CHECK(numbers(load_model("terms.keras").predict(words({"two", "?"}), {.verbose = 0})) == std::vector<double>{2, 0});
  std::ofstream("numbers.txt") << "7\n-2\nx3\n";
  CHECK_THAT(errorOf([] { (void)IntegerLookup({.vocabulary = Vocabulary<int64_t>::file("numbers.txt")}); }),
             StartsWith("ValueError") && Contains("'x3' on line 3"));
  CHECK_THAT(errorOf([] { (void)StringLookup({.vocabulary = Vocabulary<std::string>::file("none.txt")}); }),
             Contains("none.txt"));
}

TEST_CASE("A model file without its vocabulary, or with one that cannot be, gives one error that names the file") {
  const StringLookup lookup;
  lookup.adapt(words({"a", "b"}));
  Input text({1}, {.dtype = DType::string});
  Model({text}, {lookup(text)}).save("whole.keras", {.overwrite = true});
  const detail::KerasArchive whole("whole.keras");
  const std::string metadata = whole.text("metadata.json"), config = whole.text("config.json"),
                    weights = whole.text("model.weights.h5"), asset = "assets/layers/string_lookup/vocabulary.txt";
  CHECK(whole.text(asset) == "[UNK]\nb\na");
  const auto loaded = [&](const std::optional<std::string> &vocabulary) {
    std::vector<detail::ZipMember> members{
        {"metadata.json", {metadata}}, {"config.json", {config}}, {"model.weights.h5", {weights}}};
    if (vocabulary)
      members.push_back({asset, {*vocabulary}});
    detail::writeStoredZip("damaged.keras", members).orThrow();
    return load_model("damaged.keras");
  };
  CHECK(numbers(loaded("[UNK]\nx\r\ny\n\n").predict(words({"y", "x"}), {.verbose = 0})) == std::vector<double>{2, 1});
  CHECK_THAT(errorOf([&] { (void)loaded({}); }), StartsWith("IOError") && Contains("damaged.keras") && Contains(asset));
  CHECK_THAT(errorOf([&] { (void)loaded("[UNK]\nx\nx"); }),
             StartsWith("ValueError: damaged.keras: " + asset) && Contains("repeated term"));
  const StringLookup lastIsEmpty;
  lastIsEmpty.adapt(words({"a", ""}));
  Model({text}, {lastIsEmpty(text)}).save("empty.keras", {.overwrite = true});
  CHECK(numbers(load_model("empty.keras").predict(words({"", "a", "b"}), {.verbose = 0})) ==
        std::vector<double>{2, 1, 0});
  lookup.set_vocabulary({std::string(size_t{33} << 20, 'a')});
  CHECK_THAT(errorOf([&] { Model({text}, {lookup(text)}).save("large.keras"); }),
             Contains("a file holds at most 32 MiB of it"));
  lookup.set_vocabulary({"two\nlines"});
  CHECK_THAT(errorOf([&] { Model({text}, {lookup(text)}).save("lines.keras"); }), Contains("the end of a line"));
}

TEST_CASE("A vocabulary that cannot be is refused, and the old one stays") {
  const StringLookup lookup({.max_tokens = 4, .mask_token = "m", .vocabulary = {"a", "b"}});
  const auto refused = [&](const Words &terms) { return errorOf([&] { lookup.set_vocabulary(terms); }); };
  CHECK_THAT(refused({}), StartsWith("ValueError: Cannot set an empty vocabulary"));
  CHECK_THAT(refused({"x", "y", "x"}), Contains("at least one repeated term") && Contains("['x']"));
  CHECK_THAT(refused({"x", "m"}),
             Contains("reserved mask token at unexpected location") && Contains("vocabulary index 1"));
  CHECK_THAT(refused({"x", "y", "z"}), Contains("Received vocabulary size is 5; `max_tokens` is 4"));
  CHECK_THAT(errorOf([&] { lookup.set_vocabulary({"x"}, {1.0}); }), Contains("`idf_weights` should only be set"));
  CHECK(lookup.get_vocabulary() == Words{"m", "[UNK]", "a", "b"});
  CHECK_THAT(errorOf([&] { lookup.adapt(words({"x"})); }), Contains("Cannot adapt layer"));
  lookup.set_vocabulary({"m", "[UNK]", "q"});
  CHECK(lookup.get_vocabulary() == Words{"m", "[UNK]", "q"});
}

TEST_CASE("Arguments that exclude each other are refused with the layer's name") {
  const auto refused = [](const StringLookupArgs &args) { return errorOf([&] { (void)StringLookup(args); }); };
  CHECK_THAT(refused({.max_tokens = 1}), StartsWith("ValueError") && Contains("`max_tokens` must be greater than 1"));
  CHECK_THAT(refused({.pad_to_max_tokens = true}), Contains("must set `max_tokens`"));
  CHECK_THAT(refused({.num_oov_indices = -1}), Contains("`num_oov_indices`"));
  CHECK_THAT(refused({.num_oov_indices = INT64_MAX}), Contains("`num_oov_indices` is too large"));
  CHECK_THAT(refused({.max_tokens = INT64_MAX, .output_mode = "tf_idf", .pad_to_max_tokens = true}),
             Contains("`max_tokens` is too large"));
  CHECK_THAT(refused({.invert = true, .output_mode = "count"}), Contains("`output_mode` must be `'int'`"));
  CHECK_THAT(refused({.vocabulary = {"a"}, .output_mode = "tf_idf"}), Contains("`idf_weights` argument must also"));
  CHECK_THAT(refused({.vocabulary = {"a"}, .idf_weights = {1, 2}, .output_mode = "tf_idf"}),
             Contains("len(idf_weights) is 2; len(vocabulary) is 1"));
  CHECK_THAT(refused({.oov_token = "u", .vocabulary = {"a", "u"}, .invert = true}), Contains("reserved OOV token"));
}

TEST_CASE("Without an unknown token an unknown term is an error, and a mode of vectors needs to know their length") {
  const StringLookup strict({.num_oov_indices = 0, .vocabulary = {"a"}});
  CHECK_THAT(errorOf([&] { (void)strict(words({"a", "b"})); }), StartsWith("ValueError") && Contains("OOV value 'b'"));
  CHECK(numbers(strict(words({"a"}))) == std::vector<double>{0});
  const StringLookup vectors({.output_mode = "multi_hot"});
  CHECK_THAT(errorOf([&] { (void)vectors(words({"a"})); }), StartsWith("RuntimeError"));
  const StringLookup masks({.num_oov_indices = 0, .mask_token = "", .output_mode = "multi_hot"});
  masks.adapt(words({""})); // no term remains
  CHECK_THAT(errorOf([&] { (void)masks(words({""})); }), StartsWith("RuntimeError"));
  masks.adapt(words({"", "a"}));
  CHECK(numbers(masks(words({"", "a"}))) == std::vector<double>{1});
  vectors.adapt(words({"a", "b"}));
  CHECK_THAT(errorOf([&] { vectors.adapt(words({"a"})); }),
             StartsWith("RuntimeError") && Contains("Old vocab size is 3"));
  CHECK(vectors.vocabulary_size() == 3);
  CHECK_THAT(errorOf([&] { (void)vectors(Tensor(Words{"a"}, {1, 1, 1})); }), Contains("at most 2 axes"));
}

TEST_CASE("Files of weights and checkpoints leave the vocabularies that the program has made") {
  const TemporaryFolder folder;
  const auto modelOf = [](const Words &vocabulary, double start) {
    const StringLookup lookup;
    lookup.set_vocabulary(vocabulary);
    Input text({}, {.dtype = DType::string});
    const Model model({text},
                      {Embedding(4, 2, {.embeddings_initializer = initializers::Constant(start)})(lookup(text))});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    return std::pair(model, lookup);
  };
  const auto [saved, terms] = modelOf({"a", "b", "c"}, 1.0);
  saved.set_weights({counted({4, 2})});
  const Tensor text = words({"c", "b", "?"});
  for (const char *file : {"it.weights.h5", "it.safetensors", "it.ckpt"}) {
    INFO(file);
    const bool isCheckpoint = std::string(file).ends_with(".ckpt");
    const auto read = [&](const Model &model) {
      isCheckpoint ? (void)Checkpoint(model).restore(folder / file) : model.load_weights(folder / file);
    };
    isCheckpoint ? Checkpoint(saved).save(folder / file) : saved.save_weights(folder / file);
    const auto [same, sameTerms] = modelOf({"a", "b", "c"}, 2.0);
    read(same);
    CHECK(numbers(same.predict(text, {.verbose = 0})) == numbers(saved.predict(text, {.verbose = 0})));
    const auto [other, otherTerms] = modelOf({"c", "b", "a"}, 2.0);
    read(other);
    CHECK(otherTerms.get_vocabulary(false) == Words{"c", "b", "a"});
    CHECK(numbers(other.predict(text, {.verbose = 0})) == std::vector<double>{2, 3, 4, 5, 0, 1});
  }
}

TEST_CASE("Each of many terms is found, and no other, whatever bits they have in common") {
  for (const int64_t factor : {int64_t(1), int64_t(1) << 32, int64_t(1) << 40, int64_t(0x9e3779b9)}) {
    std::vector<int64_t> terms, others;
    for (int64_t i = 0; i < 5000; ++i) {
      terms.push_back((i - 2500) * factor);
      others.push_back((i + 2500) * factor);
    }
    const IntegerLookup lookup({.mask_token = {}, .vocabulary = terms});
    const std::vector<int64_t> found = lookup(Tensor(terms)).to_vector<int64_t>();
    for (size_t i = 0; i < found.size(); ++i)
      REQUIRE(found[i] == static_cast<int64_t>(i) + 1);
    CHECK(lookup(Tensor(others)).to_vector<int64_t>() == std::vector<int64_t>(5000, 0));
  }
  Words all, others;
  for (int i = 0; i < 5000; ++i) {
    all.push_back("term " + std::to_string(i));
    others.push_back("term  " + std::to_string(i));
  }
  const StringLookup lookup({.vocabulary = all});
  const std::vector<int64_t> found = lookup(words(all)).to_vector<int64_t>();
  for (size_t i = 0; i < found.size(); ++i)
    REQUIRE(found[i] == static_cast<int64_t>(i) + 1);
  CHECK(lookup(words(others)).to_vector<int64_t>() == std::vector<int64_t>(5000, 0));
}
