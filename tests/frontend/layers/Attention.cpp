// Attention and AdditiveAttention: arguments, dropout, and rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;

TEST_CASE("Attention has a weight for each argument that asks for one") {
  const Attention plain, both({.use_scale = true, .score_mode = "concat"});
  const AdditiveAttention scaled, bare({.use_scale = false});
  for (const Layer &layer : std::initializer_list<Layer>{plain, both, scaled, bare})
    (void)layer(Values{Input({2, 3}), Input({4, 3})});
  CHECK(plain.weights().empty());
  CHECK(both.weights().size() == 2);
  CHECK(both.weights()[0].name() == "scale");
  CHECK(both.weights()[1].name() == "concat_score_weight");
  CHECK(scaled.weights().at(0).shape() == Shape{3});
  CHECK(bare.weights().empty());
}

TEST_CASE("A list of two or three inputs is query, value and key") {
  const Attention layer;
  const Tensor q = counted({1, 2, 3}), v = counted({1, 4, 3}) * 0.5;
  const Tensor two = layer(Tensors{q, v}), three = layer(Tensors{q, v, v});
  CHECK(numbers(two) == numbers(three));
  CHECK(two.shape() == Shape{1, 2, 3});
  CHECK_THAT(errorOf([&] { (void)layer(Tensors{q}); }),
             Contains("ValueError: Attention layer accepts inputs list of length 2 or 3, namely [query, value] or "
                      "[query, value, key]. Received length: 1."));
}

TEST_CASE("Dropout of scores acts in training alone, by its seed") {
  const Tensor q = counted({2, 6, 3});
  const auto outputs = [&](int64_t seed) {
    const Attention layer({.dropout = 0.5, .seed = seed});
    const AdditiveAttention additive({.use_scale = false, .dropout = 0.5, .seed = seed});
    return runOnce(Run::compiled, {q}, [&](const List &v) {
      return List{layer(v[0], v[0], {.training = true}), additive(v[0], v[0], {.training = true}), layer(v[0], v[0]),
                  additive(v[0], v[0])};
    });
  };
  const auto once = outputs(1), again = outputs(1), other = outputs(2);
  for (size_t i : {0, 1}) {
    CHECK(numbers(once[i]) == numbers(again[i]));
    CHECK(numbers(once[i]) != numbers(other[i]));
    CHECK(numbers(once[i + 2]) == numbers(other[i + 2]));
  }
}

TEST_CASE("Attention refuses a score mode, a dropout and shapes that do not fit") {
  CHECK_THAT(errorOf([] { (void)Attention({.score_mode = "cosine"}); }),
             Contains("ValueError: Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: "
                      "score_mode=cosine"));
  CHECK_THAT(errorOf([] { (void)AdditiveAttention({.dropout = -0.5}); }), Contains("dropout=-0.5"));
  CHECK_THAT(errorOf([] { (void)Attention()(Input({2, 3, 4}), Input({2, 3, 4})); }),
             Contains("ValueError: Attention layer needs inputs of shape (batch, sequence, features)"));
  CHECK_THAT(errorOf([] { (void)Attention()(Input({3}), Input({3})); }), Contains("with at least 3 axes"));
  const Value x = Input({5, 3}), y = Input({7, 3}), mask = Input({6}, {.dtype = DType::bool_});
  CHECK_THAT(errorOf([&] { (void)Attention()(x, y, {.value_mask = mask}); }),
             Contains("ValueError") && Contains("(None, 1, 6)") && Contains("(None, 5, 7)"));
  CHECK_THAT(errorOf([&] { (void)Attention()(x, y, {.query_mask = mask}); }),
             Contains("ValueError") && Contains("(None, 6, 1)") && Contains("(None, 5, 3)"));
}
