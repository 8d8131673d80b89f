// The key-value cache: cached and uncached logits, programs, scopes, and models and calls that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/KeyValueCache.h"
#include "tests/frontend/Gpt.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// The largest difference between the logits that `cache` gives after each chunk of `tokens` (1, n) and `expected` (1,
/// n, vocabulary), the logits of the model without a cache, relative to the largest of the latter at the same
/// positions.
double difference(const KeyValueCache &cache, const Tensor &tokens, const std::vector<int64_t> &chunks,
                  const std::vector<double> &expected) {
  const std::vector<int32_t> all = tokens.to_vector<int32_t>();
  const int64_t vocabulary = cache.vocabulary();
  double largest = 0.0, off = 0.0;
  int64_t place = 0;
  for (int64_t count : chunks) {
    const std::vector<int32_t> chunk(all.begin() + place, all.begin() + place + count);
    place += count;
    const std::vector<double> found = numbers(cache.read(Tensor(chunk, {1, count})));
    for (int64_t i = 0; i < vocabulary; ++i) {
      const double logit = expected[static_cast<size_t>((place - 1) * vocabulary + i)];
      largest = std::max(largest, std::abs(logit));
      off = std::max(off, std::abs(found[static_cast<size_t>(i)] - logit));
    }
  }
  return off / largest;
}
double difference(const Model &model, const KeyValueCache &cache, const Tensor &tokens,
                  const std::vector<int64_t> &chunks) {
  return difference(cache, tokens, chunks, numbers(model(tokens)));
}

} // namespace

TEST_CASE("Cached and uncached logits agree under every policy, with grouped heads too, whatever the chunks") {
  const auto [policy, tolerance] =
      GENERATE(std::pair("float32", 1e-5), std::pair("mixed_bfloat16", 3e-2), std::pair("mixed_float16", 4e-3));
  const bool grouped = GENERATE(false, true);
  INFO(policy << (grouped ? ", grouped" : ""));
  const Model model = tinyGpt({.policy = policy, .grouped = grouped, .length = 100});
  const KeyValueCache cache(model);
  CHECK(cache.length() == 100);
  CHECK(difference(model, cache, someTokens(100), {64, 16, 4, 1, 1, 4, 10}) < tolerance);
  CHECK(cache.position() == 100);
}

TEST_CASE("A prompt of any length is read as if at once") {
  const Model model = tinyGpt({.length = 100});
  const KeyValueCache cache(model, {.length = 100});
  const std::vector<double> expected = numbers(model(someTokens(100))); // causal: later tokens have no effect
  for (int64_t count = 1; count <= 100; ++count) {
    INFO(count);
    CHECK(difference(cache, someTokens(count), {count}, expected) < 1e-5);
    cache.reset();
    CHECK(cache.position() == 0);
  }
}

TEST_CASE("A cache has one program for each length of chunks, wherever the position is") {
  const KeyValueCache cache(tinyGpt({.length = 100}));
  cache.read(someTokens(85));
  CHECK(cache.state()->program.compileCount() == 4);
  for (int64_t i = 0; i < 10; ++i)
    cache.read(someTokens(1));
  cache.reset();
  cache.read(someTokens(20));
  CHECK(cache.state()->program.compileCount() == 4);
}

TEST_CASE("Keys and values may be kept in a narrower dtype") {
  const auto [dtype, tolerance] =
      GENERATE(std::pair(bfloat16, 3e-2), std::pair(float16, 4e-3), std::pair(float8_e4m3fn, 0.3));
  INFO(name(dtype));
  const Model model = tinyGpt({.length = 32});
  const KeyValueCache narrow(model, {.length = 16, .dtype = dtype});
  CHECK(narrow.state()->calls.front().keys.dtype() == dtype);
  const double off = difference(model, narrow, someTokens(12), {5, 1, 6});
  CHECK(off < tolerance);
  CHECK(off > 0.0);
}

TEST_CASE("Texts that are read side by side have keys and values of their own") {
  const Model model = tinyGpt({.length = 32});
  const KeyValueCache pair(model, {.batch = 2, .length = 16});
  std::vector<int32_t> tokens = someTokens(6).to_vector<int32_t>(), other = someTokens(12).to_vector<int32_t>();
  tokens.insert(tokens.end(), other.begin() + 6, other.end());
  const std::vector<double> both = numbers(pair.read(Tensor(tokens, {2, 6}))),
                            all = numbers(model(Tensor(tokens, {2, 6})));
  const auto words = static_cast<size_t>(pair.vocabulary());
  for (size_t i = 0; i < words; ++i) {
    CHECK(both[i] == Approx(all[5 * words + i]).margin(1e-5));
    CHECK(both[words + i] == Approx(all[11 * words + i]).margin(1e-5));
  }
}

TEST_CASE("Two caches of one model do not disturb each other, and a reset forgets NaN") {
  const Model model = tinyGpt({.length = 32});
  const KeyValueCache first(model), second(model);
  const Tensor tokens = someTokens(8);
  first.read(tokens);
  const std::vector<double> alone = numbers(first.read(someTokens(1)));
  first.reset();
  first.read(tokens);
  second.read(someTokens(3));
  CHECK(numbers(first.read(someTokens(1))) == alone);
  CHECK(second.position() == 3);
  const std::vector<Tensor> weights = model.get_weights();
  std::vector<Tensor> broken = weights;
  broken[0] = Tensor::full(weights[0].shape(), std::nan(""));
  model.set_weights(broken);
  CHECK(std::isnan(numbers(first.read(tokens))[0]));
  model.set_weights(weights);
  first.reset();
  first.read(tokens);
  CHECK(numbers(first.read(someTokens(1))) == alone);
}

TEST_CASE("A function of one's own reads tokens in the scope of a cache, and gives the logits of all") {
  const Numerics numerics = GENERATE(Numerics::fast, Numerics::strict);
  const Model model = tinyGpt({.length = 32});
  const KeyValueCache cache(model);
  const auto logits = [=](const Value &tokens) {
    const CacheScope scope(cache);
    return model(tokens);
  };
  auto step = jit(logits, {.numerics = numerics});
  const std::vector<double> expected = numbers(model(someTokens(16)));
  const std::vector<int32_t> tokens = someTokens(16).to_vector<int32_t>();
  const std::vector<int32_t> halves[] = {{tokens.begin(), tokens.begin() + 8}, {tokens.begin() + 8, tokens.end()}};
  std::vector<double> found;
  for (const std::vector<int32_t> &half : halves)
    for (double logit : numbers(step(Tensor(half, {1, 8}))))
      found.push_back(logit);
  CHECK(near(found, expected, 1e-5));
  (void)step(someTokens(8));
  (void)step(someTokens(8));
  CHECK(cache.position() == 32);
  CHECK_THAT(errorOf([&] { (void)step(someTokens(8)); }),
             Contains("ValueError: a key-value cache of length 32 holds 32 tokens. Received: 8 more"));
  CHECK_THAT(errorOf([&] { (void)cache.read(someTokens(1)); }), Contains("holds 32 tokens. Received: 1 more"));
  CHECK(cache.position() == 32);
}

TEST_CASE("Several threads fill a cache to its end and not beyond") {
  const Model model = tinyGpt({.length = 32});
  for (int round = 0; round < 5; ++round) {
    const KeyValueCache cache(model, {.length = 10});
    auto step = jit([=](const Value &tokens) {
      const CacheScope scope(cache);
      return model(tokens);
    });
    std::atomic<int> read = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 4; ++k)
          ++(errorOf([&] { (void)step(someTokens(1)); }).empty() ? read : refused);
      });
    for (std::thread &thread : threads)
      thread.join();
    CHECK(read == 10);
    CHECK(refused == 6);
    CHECK(cache.position() == 10);
  }
}

TEST_CASE("A sliding window, weights that are given out and a fixed count of steps work with a cache") {
  const Model model = tinyGpt({.window = 3, .scores = true, .steps = 32, .length = 32});
  const KeyValueCache cache(model);
  std::vector<int32_t> tokens = someTokens(32).to_vector<int32_t>();
  CHECK(difference(model, cache, Tensor(tokens, {1, 32}), {7, 1, 1, 16, 7}) < 1e-5);
}

TEST_CASE("A layer that is called twice has keys and values for each call, in a model of one's own too") {
  struct Twice {
    Embedding words{11, 8};
    PositionEmbedding places{24};
    MultiHeadAttention attention{2, 4};
    Dense head{11};
    Value call(const Value &tokens) const {
      Value x = words(tokens);
      x = x + places(x);
      for (int i = 0; i < 2; ++i)
        x = x + attention(x, x, {.use_causal_mask = true});
      return head(x);
    }
  };
  const Model model(Twice{});
  const KeyValueCache cache(model); // builds the model
  CHECK(cache.state()->calls.size() == 2);
  CHECK(cache.vocabulary() == 11);
  CHECK(difference(model, cache, someTokens(24), {3, 1, 20}) < 1e-5);
}

TEST_CASE("A cache refuses models that it does not fit") {
  const Input tokens({none}, {.dtype = int32});
  const Value x = Embedding(5, 4)(tokens);
  const Model plain({tokens}, {Dense(5)(x)});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(plain, {.length = 4}); }),
             Contains("ValueError: a key-value cache needs causal attention"));
  const Model open({tokens}, {Dense(5)(MultiHeadAttention(1, 4)(x, x))});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(open, {.length = 4}); }), Contains("use_causal_mask"));
  const Value causal = MultiHeadAttention(1, 4)(x, x, {.use_causal_mask = true});
  const Model summed({tokens}, {ops::sum(causal, 1)});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(summed, {.length = 4}); }),
             Contains("to logits (batch, steps, vocabulary)") && Contains("returns (1, 4) in float32"));
  const Model unlimited({tokens}, {causal});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(unlimited); }), Contains("needs a length"));
  CHECK_THAT(errorOf([&] { KeyValueCache cache(unlimited, {.length = 0}); }), Contains("length=0"));
  CHECK_THAT(errorOf([&] { KeyValueCache cache(unlimited, {.batch = 0, .length = 4}); }), Contains("batch=0"));
  CHECK_THAT(errorOf([&] { KeyValueCache cache(unlimited, {.length = 4, .dtype = int8}); }),
             Contains("TypeError: a key-value cache stores floats. Received: dtype=int8"));
  CHECK_THAT(errorOf([] { KeyValueCache cache(tinyGpt({.length = 8}), {.length = 9}); }),
             Contains("of length 9 is longer than the 8 positions"));
  const Value masked = Embedding(5, 4, {.mask_zero = true})(tokens);
  const Model hiding({tokens}, {MultiHeadAttention(1, 4)(masked, masked, {.use_causal_mask = true})});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(hiding, {.length = 4}); }),
             Contains("MultiHeadAttention cannot use a key-value cache: its call has a mask"));
  const Model crossed({tokens}, {MultiHeadAttention(1, 4)(ops::concatenate({x, x}, 1), x, {.use_causal_mask = true})});
  CHECK_THAT(errorOf([&] { KeyValueCache cache(crossed, {.length = 4}); }), Contains("with the same extent"));
}

TEST_CASE("A cache refuses tokens and scopes that it does not fit, and reads nothing of them") {
  const Model model = tinyGpt({.length = 16});
  const KeyValueCache cache(model, {.length = 8});
  CHECK_THAT(errorOf([&] { (void)cache.read(Tensor::zeros({2, 3}, int32)); }),
             Contains("ValueError: KeyValueCache::read needs integers of shape (1, 1 or more). Received: (2, 3)"));
  CHECK_THAT(errorOf([&] { (void)cache.read(Tensor::zeros({1, 0}, int32)); }), Contains("(1, 0)"));
  CHECK_THAT(errorOf([&] { (void)cache.read(Tensor::zeros({1, 3})); }), Contains("(1, 3) in float32"));
  CHECK_THAT(errorOf([&] { (void)cache.read(Tensor()); }), Contains("an undefined Tensor"));
  CHECK_THAT(errorOf([&] { (void)cache.read(someTokens(9)); }), Contains("holds 0 tokens. Received: 9 more"));
  CHECK_THAT(errorOf([&] { CacheScope scope(cache); }), Contains("RuntimeError: CacheScope is for functions being"));
  auto two = jit([=](const Value &tokens) {
    const CacheScope scope(cache);
    return model(tokens) + model(tokens);
  });
  CHECK_THAT(errorOf([&] { (void)two(someTokens(2)); }), Contains("supports one call of its model"));
  auto again = jit([=](const Value &tokens) {
    const auto scoped = [=] {
      const CacheScope scope(cache);
      return model(tokens);
    };
    const Value first = scoped();
    return first + scoped();
  });
  CHECK_THAT(errorOf([&] { (void)again(someTokens(2)); }), Contains("supports one scope in a traced function"));
  auto none = jit([=](const Value &tokens) {
    const CacheScope scope(cache);
    return tokens + tokens;
  });
  CHECK_THAT(errorOf([&] { (void)none(someTokens(2)); }), Contains("Received: 0"));
  auto pair = jit([=](const Value &tokens) {
    const CacheScope scope(cache);
    return model(tokens);
  });
  CHECK_THAT(errorOf([&] { (void)pair(Tensor::zeros({2, 2}, int32)); }),
             Contains("for a batch of 1 received a batch of 2"));
  CHECK(cache.position() == 0);
}
