// generate(): the tokens that it draws, and prompts and arguments that it rejects.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Gpt.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Tokens = std::vector<int32_t>;

namespace {

/// A model whose logits after token i are row i of `table`. It has causal attention, which contributes nothing.
Model bigrams(const std::vector<float> &table, int64_t words) {
  const Input tokens({none}, {.dtype = int32});
  const Value x = Embedding(words, words, {.weights = Tensor(table, {words, words})})(tokens);
  const MultiHeadAttention attention(1, 1, {.use_bias = false, .kernel_initializer = "zeros"});
  return Model({tokens}, {x + attention(x, x, {.use_causal_mask = true})});
}

Tokens tokensOf(const Tensor &tensor) { return tensor.to_vector<int32_t>(); }

} // namespace

TEST_CASE("generate without a temperature takes the likeliest token each time, and the first of equals") {
  const Model model = bigrams({0, 1, 0, 0, 0, 2, 5, 0, 5}, 3); // 0 -> 1 -> 2 -> 0
  const Tensor text = generate(model, Tensor::of<int32_t>({2, 0}, {2}), {.max_new_tokens = 5, .temperature = 0});
  CHECK(text.dtype() == int32);
  CHECK(tokensOf(text) == Tokens{2, 0, 1, 2, 0, 1, 2});
  const Tensor prompt = Tensor::of<uint8_t>({0, 1}, {2, 1});
  const Tensor texts = generate(model, prompt, {.max_new_tokens = 2, .temperature = 1.0, .top_k = 1, .seed = 3});
  CHECK(texts.shape() == Shape{2, 3});
  CHECK(tokensOf(texts) == Tokens{0, 1, 2, 1, 2, 0});
  CHECK(tokensOf(generate(model, Tensor::of<int32_t>({1}, {1}), {.max_new_tokens = 0})) == Tokens{1});
}

TEST_CASE("generate writes what the model without a cache would write") {
  const Model model = tinyGpt({.length = 40});
  Tokens expected = tokensOf(someTokens(7));
  for (int i = 0; i < 33; ++i) {
    const std::vector<double> logits = numbers(model(Tensor(expected, {1, expected.size()})));
    const auto last = logits.end() - 11;
    expected.push_back(static_cast<int32_t>(std::max_element(last, logits.end()) - last));
  }
  CHECK(tokensOf(generate(model, someTokens(7), {.max_new_tokens = 33, .temperature = 0})) == expected);
}

TEST_CASE("A seed decides for the text, and a cache serves many texts") {
  const Model model = tinyGpt({.length = 64});
  const Tensor prompt = someTokens(3);
  const KeyValueCache cache(model);
  const auto text = [&](std::optional<int64_t> seed) {
    return tokensOf(generate(cache, prompt, {.max_new_tokens = 40, .seed = seed}));
  };
  const Tokens first = text(1);
  CHECK(first.size() == 43);
  CHECK(text(2) != first);
  CHECK(text(1) == first);
  CHECK(tokensOf(generate(model, prompt, {.max_new_tokens = 40, .seed = 1})) == first);
  set_random_seed(9);
  const Tokens drawn = text({});
  CHECK(text({}) != drawn);
  set_random_seed(9);
  CHECK(text({}) == drawn);
}

TEST_CASE("Tokens are drawn as often as their logits say, at each temperature and among the likeliest alone") {
  const float logits[] = {0.0f, 1.0f, -200.0f, 2.0f};
  std::vector<float> table;
  for (int i = 0; i < 4; ++i)
    table.insert(table.end(), std::begin(logits), std::end(logits));
  const Model model = bigrams(table, 4);
  const int64_t count = 2000;
  const KeyValueCache cache(model, {.length = count});
  const auto shares = [&](double temperature, std::optional<int64_t> most) {
    Tokens text = tokensOf(generate(cache, Tensor::of<int32_t>({0}, {1}),
                                    {.max_new_tokens = count, .temperature = temperature, .top_k = most, .seed = 4}));
    std::vector<double> found(4);
    for (size_t i = 1; i < text.size(); ++i)
      found[static_cast<size_t>(text[i])] += 1.0 / static_cast<double>(count);
    return found;
  };
  for (double temperature : {0.5, 2.0})
    for (int64_t most : {2, 9}) {
      INFO(temperature << ", " << most);
      std::vector<double> expected(4);
      double sum = 0.0;
      for (int i = 0; i < 4; ++i)
        if (most > 2 || logits[i] >= 1.0f)
          sum += expected[static_cast<size_t>(i)] = std::exp(logits[i] / temperature);
      const std::vector<double> found = shares(temperature, most);
      for (size_t i = 0; i < 4; ++i)
        CHECK(found[i] == Approx(expected[i] / sum).margin(0.04));
      CHECK(found[2] == 0.0);
    }
}

TEST_CASE("generate refuses prompts and arguments that do not fit, each with one error") {
  const Model model = tinyGpt({.length = 16});
  const Tensor prompt = someTokens(4);
  CHECK_THAT(errorOf([&] { (void)generate(model, Tensor::of<int32_t>({1, 2, 11}, {3})); }),
             Contains("ValueError: generate: the token 11 at index 2 of the prompt is not in the vocabulary of 11"));
  CHECK_THAT(errorOf([&] { (void)generate(model, Tensor::of<int32_t>({-1}, {1})); }),
             Contains("the token -1 at index 0"));
  CHECK_THAT(errorOf([&] { (void)generate(model, prompt, {.max_new_tokens = 14}); }),
             Contains("a prompt of 4 tokens and 14 new ones exceed the 16 positions"));
  CHECK(generate(model, prompt, {.max_new_tokens = 13}).shape() == Shape{1, 17}); // the last token is never an input
  CHECK_THAT(errorOf([&] { (void)generate(model, Tensor::zeros({0}, int32)); }), Contains("with at least one token"));
  CHECK_THAT(errorOf([&] { (void)generate(model, Tensor::zeros({1, 1, 1}, int32)); }), Contains("(1, 1, 1) in int32"));
  CHECK_THAT(errorOf([&] { (void)generate(model, Tensor::zeros({2})); }),
             Contains("(2) in float32") || Contains("(2,) in float32"));
  CHECK_THAT(errorOf([&] { (void)generate(model, prompt, {.max_new_tokens = -1}); }), Contains("max_new_tokens"));
  CHECK_THAT(errorOf([&] { (void)generate(model, prompt, {.temperature = -0.5}); }), Contains("temperature"));
  CHECK_THAT(errorOf([&] { (void)generate(model, prompt, {.temperature = NAN}); }), Contains("temperature"));
  CHECK_THAT(errorOf([&] { (void)generate(model, prompt, {.top_k = 0}); }), Contains("top_k must be at least 1"));
  CHECK_THAT(errorOf([&] { (void)generate(KeyValueCache(model), Tensor::zeros({2, 3}, int32)); }),
             Contains("the prompt has 2 texts, but the key-value cache is for 1"));
  const Model broken = bigrams({NAN, 0, 0, 0}, 2);
  CHECK_THAT(errorOf([&] { (void)generate(broken, Tensor::of<int32_t>({0}, {1}), {.max_new_tokens = 2}); }),
             Contains("RuntimeError: generate: the model's logits are NaN"));
}
