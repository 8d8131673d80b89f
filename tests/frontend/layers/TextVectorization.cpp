// TextVectorization: arguments, lengths, files, and rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {
Tensor texts(std::vector<std::string> list) { return Tensor(std::move(list)); }
} // namespace

TEST_CASE("Texts become padded or cut rows of indices") {
  const TextVectorization vectorize({.max_tokens = 10,
                                     .standardize = "lower",
                                     .split = "whitespace",
                                     .ngrams = 2,
                                     .output_mode = "int",
                                     .output_sequence_length = 4,
                                     .pad_to_max_tokens = false,
                                     .vocabulary = {"a", "b", "a b"},
                                     .idf_weights = {},
                                     .trainable = false,
                                     .dtype = "float32",
                                     .name = "tokens"});
  CHECK(vectorize.name() == "tokens");
  CHECK(numbers(vectorize(texts({"A b", "a", ""}))) == std::vector<double>{2, 3, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0});
  CHECK(numbers(vectorize(Tensor(std::vector<std::string>{"a b a b"}, {1, 1}))) == std::vector<double>{2, 3, 2, 3});
  CHECK(TextVectorization({.vocabulary = {"a"}})(texts({"", ""})).shape() == Shape{2, 0});
  const TextVectorization whole({.split = "", .vocabulary = {"a"}});
  CHECK(numbers(whole(Tensor(std::vector<std::string>{"A", "b", "", "a"}, {2, 2}))) == std::vector<double>{2, 1, 0, 2});
  CHECK(whole(Tensor(std::vector<std::string>{}, {2, 0})).shape() == Shape{2, 0});
}

TEST_CASE("A saved model has the vocabulary, and adapts no more than its config says") {
  const TextVectorization vectorize({.max_tokens = 6, .output_mode = "tf_idf"});
  vectorize.adapt(Dataset(texts({"a b", "a", "c a"})).batch(2));
  Input text({}, {.dtype = DType::string});
  const Model model({text}, {Dense(2)(vectorize(text))});
  const Tensor asked = texts({"a a c", "zz"});
  const std::vector<double> before = numbers(model.predict(asked, {.verbose = 0}));
  model.save("texts.keras", {.overwrite = true});
  const Model loaded = load_model("texts.keras");
  CHECK(numbers(loaded.predict(asked, {.verbose = 0})) == before);
  const auto read = static_cast<const TextVectorization &>(static_cast<const Layer &>(loaded.layers()[1]));
  CHECK(read.get_vocabulary() == vectorize.get_vocabulary());
  read.set_vocabulary({"a", "c", "x"}, {1, 1, 1});
  CHECK(numbers(loaded.predict(asked, {.verbose = 0})) != before);
}

TEST_CASE("Functions of the user's work, and no file holds them") {
  const TextVectorization vectorize(
      {.standardize = [](const std::string &text) { return text.substr(0, 3); },
       .split = [](const std::string &text) { return std::vector<std::string>{text, "end"}; },
       .vocabulary = {"abc", "end"}});
  CHECK(numbers(vectorize(texts({"abcdef"}))) == std::vector<double>{2, 3});
  CHECK_THAT(errorOf([&] { (void)vectorize.get_config(); }), StartsWith("ValueError") && Contains("`standardize`"));
}

TEST_CASE("Arguments and inputs that do not fit are refused") {
  const auto refused = [](const TextVectorizationArgs &args) {
    return errorOf([&] { (void)TextVectorization(args); });
  };
  CHECK_THAT(refused({.standardize = "upper"}), StartsWith("ValueError") && Contains("standardize='upper'"));
  CHECK_THAT(refused({.split = "lines"}), Contains("split='lines'"));
  CHECK_THAT(refused({.ngrams = 0}), Contains("`ngrams` must be positive"));
  CHECK_THAT(refused({.ngrams = {1, 0}}), Contains("`ngrams` must be positive"));
  CHECK_THAT(refused({.output_mode = "count", .output_sequence_length = 3}), Contains("must not be set"));
  CHECK_THAT(refused({.output_sequence_length = -1}), Contains("must not be negative"));
  CHECK_THAT(refused({.output_mode = "one_hot"}), Contains("'multi_hot' or 'count'"));
  const TextVectorization vectorize({.vocabulary = {"a"}});
  CHECK_THAT(errorOf([&] { (void)vectorize(Tensor(std::vector<std::string>{"a", "b"}, {1, 2})); }),
             Contains("the input rank must be 1 or the last shape dimension must be 1"));
  CHECK_THAT(errorOf([&] { (void)vectorize(Tensor({1})); }), StartsWith("TypeError"));
  CHECK_THAT(errorOf([] {
               (void)TextVectorization({.output_sequence_length = int64_t{1} << 61})(
                   texts({"a", "", "", "", "", "", "", ""}));
             }),
             Contains("more elements than 63 bits"));
  CHECK_THAT(errorOf([&] { TextVectorization().adapt(Dataset(texts({"a"})).batch(1).repeat()); }), Contains("`steps`"));
}
