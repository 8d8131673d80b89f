// Host steps: strings in models and functions, and what a program refuses.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
Tensor strings(std::vector<std::string> list) { return Tensor(std::move(list)); }
} // namespace

TEST_CASE("A function of strings is compiled once for each shape that the data give") {
  const TextVectorization vectorize({.vocabulary = {"a", "b", "c"}});
  const auto sums = jit([&](const Value &texts) { return ops::sum(vectorize(texts), -1); });
  CHECK(numbers(sums(strings({"a b", "c"}))) == std::vector<double>{5, 4});
  CHECK(numbers(sums(strings({"a b c", "c"}))) == std::vector<double>{9, 4}); // three steps
  CHECK(numbers(sums(strings({"c x", "b"}))) == std::vector<double>{5, 3});
  CHECK(numbers(sums(strings({"", ""}))) == std::vector<double>{0, 0});
  CHECK(numbers(sums(strings({}))).empty());
}

TEST_CASE("Integers that a layer hashes on the host are feeds beside it too") {
  const Hashing hash(10);
  const auto both = jit([&](const Value &x) { return Values{hash(x), x + 1}; });
  const Tensors results = both(Tensor({1, -5, 7}, int32));
  CHECK(results[0].to_vector<int64_t>() == hash(Tensor({1, -5, 7}, int32)).to_vector<int64_t>());
  CHECK(numbers(results[1]) == std::vector<double>{2, -4, 8});
  CHECK(numbers(both(Tensor({4}, int32))[1]) == std::vector<double>{5});
}

TEST_CASE("Models inside of models, custom layers and Sequential pass strings to the layer that reads them") {
  const StringLookup lookup({.vocabulary = {"x", "y"}, .name = "lookup"});
  const Tensor words = strings({"y", "z", "x"});
  Input text({1}, {.dtype = DType::string});
  const Model inner({text}, {lookup(text)});
  Input outerText({1}, {.dtype = DType::string});
  const Model outer({outerText}, {Reshape({1})(inner(outerText)) * 2});
  CHECK(numbers(outer.predict(words, {.verbose = 0})) == std::vector<double>{4, 0, 2}); // (3,) as (3, 1)
  struct Reads {
    StringLookup lookup;
    Value call(const Value &x) const { return lookup(x) + 1; }
  };
  CHECK(numbers(Custom(Reads{lookup})(words)) == std::vector<double>{3, 1, 2});
  const Sequential sequential({lookup, Embedding(3, 2)});
  CHECK(sequential(words).shape() == Shape{3, 2});
}

TEST_CASE("A step that is asked for twice runs once, and training reads strings too") {
  int runs = 0;
  const TextVectorization vectorize({.standardize = [&runs](const std::string &text) { return ++runs, text; },
                                     .output_sequence_length = 4,
                                     .vocabulary = {"a", "b"}});
  const auto twice = jit([&](const Value &x) { return vectorize(x) + vectorize(x); });
  (void)twice(strings({"a"}));
  runs = 0;
  CHECK(numbers(twice(strings({"b"}))) == std::vector<double>{6, 0, 0, 0});
  CHECK(runs == 1);
  Input text({}, {.dtype = DType::string});
  const Model model({text}, {Dense(1)(GlobalAvgPool1D()(Embedding(4, 3)(vectorize(text))))});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor texts = strings({"a b", "b b a", "", "a a a a a"}), y({{1}, {2}, {3}, {4}});
  const double before = model.evaluate(texts, y, {.verbose = 0})["loss"];
  model.fit(texts, y, {.epochs = 20, .verbose = 0});
  model.fit(Dataset(texts, y).shuffle(4, 1).batch(3).prefetch(1), {.epochs = 2, .verbose = 0});
  CHECK(model.evaluate(texts, y, {.verbose = 0})["loss"] < before);
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true, .jit_compile = false});
  CHECK(near({model.evaluate(texts, y, {.verbose = 0})["loss"]}, {model.evaluate(texts, y, {.verbose = 0})["loss"]}));
}

TEST_CASE("A vocabulary that changes after a compile reaches the programs that have the old one") {
  const StringLookup lookup;
  lookup.adapt(strings({"a", "a", "b"}));
  const auto find = jit([&](const Value &x) { return lookup(x); });
  CHECK(numbers(find(strings({"a", "b", "c"}))) == std::vector<double>{1, 2, 0});
  lookup.adapt(strings({"c", "c", "b"}));
  CHECK(numbers(find(strings({"a", "b", "c"}))) == std::vector<double>{0, 2, 1});
}

TEST_CASE("Strings are refused where numbers are needed, and numbers where strings are, and nothing is changed") {
  const auto add = jit([](const Value &x) { return x + 1; });
  CHECK_THAT(errorOf([&] { (void)add(strings({"a"})); }), Contains("TypeError") && Contains("a Value of strings"));
  CHECK(numbers(add(Tensor({1}))) == std::vector<double>{2});
  CHECK_THAT(errorOf([] { (void)Dense(2)(Tensor(std::vector<std::string>{"a"}, {1, 1})); }), Contains("string"));
  Input number({1}), text({1}, {.dtype = DType::string, .name = "text"});
  const Model model({number}, {number * 2});
  CHECK_THAT(errorOf([&] { (void)model.predict(strings({"a"}), {.verbose = 0}); }),
             Contains("TypeError") && Contains("takes float32, but it received string"));
  const StringLookup lookup({.vocabulary = {"a"}});
  const Model reads({text}, {lookup(text)});
  CHECK_THAT(errorOf([&] { (void)reads.predict(Tensor({{1}}), {.verbose = 0}); }),
             Contains("Input 'text'") && Contains("takes string, but it received float32"));
  CHECK_THAT(errorOf([&] { (void)lookup(number); }), Contains("StringLookup takes strings"));
  CHECK_THAT(errorOf([&] { (void)(text + 1); }), Contains("a Value of strings"));
}

TEST_CASE("A host layer reads Inputs alone") {
  const IntegerLookup lookup({.vocabulary = {5, 7}});
  Input x({2}, {.dtype = int64});
  CHECK_THAT(errorOf([&] { (void)lookup(x + 1); }), Contains("NotImplementedError") && Contains("must be an Input"));
  const Model model({x}, {lookup(x)});
  CHECK(numbers(model.predict(Tensor({{5, 7}, {1, 7}}, int32), {.verbose = 0})) == std::vector<double>{1, 2, 0, 2});
}
