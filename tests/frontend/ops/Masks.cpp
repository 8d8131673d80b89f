// Masks that Values carry: layers that create, propagate, use and drop them; losses and metrics.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using List = std::vector<Value>;

namespace {

/// Two sequences of four tokens; 0 masks the last token of the first and the last two tokens of the second.
Tensor tokens() { return Tensor({3, 1, 2, 0, 2, 1, 0, 0}, {2, 4}).astype(int32); }
Tensor seen() { return Tensor({1, 1, 1, 0, 1, 1, 0, 0}, {2, 4}).astype(DType::bool_); }

/// The mean per sample and feature over the steps that a Value's mask shows; over all steps if it has no mask.
Value kept(const Value &x) { return GlobalAveragePooling1D()(x); }

} // namespace

TEST_CASE("Embedding with mask_zero hides the index 0 from attention and from means") {
  const Embedding embed(4, 6, {.mask_zero = true}), plain(4, 6);
  const MultiHeadAttention attention(2, 3);
  (void)embed(tokens());
  (void)plain(tokens());
  plain.set_weights(embed.get_weights());
  for (Run run : everyRun) {
    const auto results = runOnce(run, {tokens(), seen()}, [&](const List &v) {
      const Value masked = embed(v[0]), bare = plain(v[0]);
      const Value rows = ops::logical_and(ops::expand_dims(v[1], -1), ops::expand_dims(v[1], 1));
      return List{kept(masked),
                  GlobalAveragePooling1D()(Values{bare, v[1]}),
                  kept(bare),
                  attention(masked, masked),
                  attention(bare, bare, {.attention_mask = rows}),
                  Attention()(masked, masked),
                  Attention()(bare, bare, {.query_mask = v[1], .value_mask = v[1]})};
    });
    CHECK(near(numbers(results[0]), numbers(results[1]), 1e-7));
    CHECK_FALSE(near(numbers(results[0]), numbers(results[2]), 1e-4));
    CHECK(near(numbers(results[3]), numbers(results[4]), 1e-6));
    CHECK(near(numbers(results[5]), numbers(results[6]), 1e-6));
  }
}

TEST_CASE("Masking hides the steps whose features all equal its value, and makes them 0") {
  const Tensor x({1, 2, 5, 5, 5, 3, 5, 5}, {1, 4, 2});
  for (const char *policy : {"float32", "mixed_bfloat16"}) {
    const Masking layer(5.0, {.dtype = policy});
    const auto results =
        runOnce(Run::compiled, {x}, [&](const List &v) { return List{layer(v[0]), kept(layer(v[0]))}; });
    CHECK(numbers(results[0]) == std::vector<double>{1, 2, 0, 0, 5, 3, 0, 0});
    CHECK(numbers(results[1]) == std::vector<double>{3, 2.5});
  }
}

TEST_CASE("Layers that support masking pass the mask of their first input on; other layers and operations end it") {
  const Embedding embed(4, 3, {.embeddings_initializer = "ones", .mask_zero = true});
  const Masking bySteps(7.0);
  const Tensor steps = Tensor({1, 1, 1, 7, 7, 7, 7, 7, 7, 2, 2, 2, 3, 3, 3, 4, 4, 4, 7, 7, 7, 5, 5, 5}, {2, 4, 3});
  const auto isMasked = [&](const std::function<Value(const Value &)> &f) {
    const auto results = runOnce(Run::interpreted, {steps}, [&](const List &v) {
      const Value hidden = f(bySteps(v[0]));
      return List{kept(hidden), ops::mean(hidden, 1)};
    });
    return numbers(results[0]) != numbers(results[1]);
  };
  const Dense dense(3, {.kernel_initializer = "ones"});
  CHECK(isMasked([](const Value &x) { return x; }));
  CHECK(isMasked([&](const Value &x) { return dense(x); }));
  CHECK(isMasked([](const Value &x) { return Activation("relu")(x); }));
  CHECK(isMasked([](const Value &x) { return Dropout(0.5)(x); }));
  for (const Layer &layer : std::vector<Layer>{Add(), Subtract(), Multiply(), Average(), Maximum(), Minimum(),
                                               LeakyReLU(), ELU(), PReLU()}) {
    INFO(layer.class_name());
    const bool merges = !layer.class_name().ends_with("LU");
    CHECK(isMasked([&](const Value &x) { return merges ? layer(Values{x, dense(x)}) : layer(x); }));
    if (merges)
      CHECK_FALSE(isMasked([&](const Value &x) { return layer(Values{x, x * 2.0}); }));
  }
  CHECK_FALSE(isMasked([](const Value &x) { return Dot({2, 2})(Values{x, x}); }));
  CHECK(isMasked([&](const Value &x) { return Sequential({dense, Activation("relu")})(x); }));
  CHECK_FALSE(isMasked([](const Value &x) { return x * 2.0; }));
  CHECK_FALSE(isMasked([](const Value &x) { return Reshape({4, 3})(x); }));
  CHECK_FALSE(isMasked([](const Value &x) { return Lambda([](const Value &y) { return y; })(x); }));
}

TEST_CASE("Convolutions and local pooling compute what they compute without a mask, and end it") {
  const Tensor steps = Tensor({1, 2, 7, 7, 3, 4, 7, 7}, {1, 4, 2});
  const Conv1D conv(3, 2, {.padding = Padding::same}), one(2, 1);
  const DepthwiseConv1D depthwise(2);
  const std::vector<std::function<Value(const Value &)>> layers = {
      [&](const Value &x) { return conv(x); }, [&](const Value &x) { return one(x); },
      [&](const Value &x) { return depthwise(x); }, [](const Value &x) { return MaxPooling1D(2)(x); },
      [](const Value &x) { return AveragePooling1D(2)(x); }};
  for (const auto &layer : layers) {
    const auto results = runOnce(Run::compiled, {steps}, [&](const List &v) {
      const Value shown = Masking(7.0)(v[0]), bare = shown * 1.0, result = layer(shown);
      return List{result, layer(bare), kept(result), ops::mean(result, 1)};
    });
    CHECK(numbers(results[0]) == numbers(results[1]));
    CHECK(near(numbers(results[2]), numbers(results[3])));
  }
}

TEST_CASE("A layer of one's own reads the mask of its input") {
  struct Count {
    Value call(const Value &x) const { return x.mask().defined() ? ops::count_nonzero(x.mask(), 1) : ops::sum(x); }
  };
  const Embedding embed(4, 3, {.embeddings_initializer = "ones", .mask_zero = true});
  const Custom<Count> count{Count{}};
  const auto results =
      runOnce(Run::compiled, {tokens()}, [&](const List &v) { return List{count(embed(v[0])), count(v[0])}; });
  CHECK(numbers(results[0]) == std::vector<double>{3, 2});
  CHECK(numbers(results[1]) == std::vector<double>{9});
  CHECK_FALSE(Input({4}).mask().defined());
  CHECK_THROWS_WITH(Value().mask(), Catch::Matchers::Contains("an undefined Value was used"));
}

TEST_CASE("The mask of the query that a call of Attention gives is the output's, else the one that the query carries") {
  const Attention attention;
  const AdditiveAttention additive;
  const Embedding embed(4, 3, {.mask_zero = true});
  const auto results = runOnce(Run::compiled, {tokens(), seen()}, [&](const List &v) {
    const Value x = embed(v[0]), all = ops::ones_like(v[1]);
    return List{attention(x, x).mask(), attention(x, x, {.query_mask = all}).mask(),
                additive(x, x, {.query_mask = ops::cast(all, float32)}).mask(), attention(x, x).mask()};
  });
  for (size_t i : {0, 3})
    CHECK(numbers(results[i]) == numbers(seen()));
  for (size_t i : {1, 2}) {
    CHECK(results[i].dtype() == DType::bool_);
    CHECK(numbers(results[i]) == std::vector<double>(8, 1.0));
  }
}

TEST_CASE("A functional model carries masks from layer to layer") {
  const Input ids({4}, {.dtype = int32});
  const Embedding embed(4, 3, {.mask_zero = true});
  const Model model(ids, kept(Activation("tanh")(embed(ids))));
  const auto results = runOnce(Run::compiled, {tokens(), seen()}, [&](const List &v) {
    return List{model(v[0]), GlobalAveragePooling1D()(Values{ops::tanh(embed(v[0])), v[1]})};
  });
  CHECK(near(numbers(results[0]), numbers(results[1]), 1e-7));
}

TEST_CASE("Concatenate joins masks along the steps, and along features keeps the steps that one input shows") {
  const Masking layer(0.0);
  const Tensor a = Tensor({1, 0, 2}, {1, 3, 1}), b = Tensor({0, 3, 0}, {1, 3, 1});
  const auto results = runOnce(Run::compiled, {a, b}, [&](const List &v) {
    const Value first = layer(v[0]), second = layer(v[1]);
    return List{kept(Concatenate(1)({first, second})), kept(Concatenate(2)({first, second})),
                kept(Concatenate(1)({first, v[1]})), kept(Concatenate(1)({v[0], v[1]}))};
  });
  CHECK(near(numbers(results[0]), {2.0}));
  CHECK(near(numbers(results[1]), {1.0, 1.0}));
  CHECK(near(numbers(results[2]), {6.0 / 5}));
  CHECK(near(numbers(results[3]), {1.0}));
}

TEST_CASE("BatchNormalization takes its statistics from the steps that a carried mask shows") {
  const BatchNormalization carried({.momentum = 0.0}), plain({.momentum = 0.0});
  const Tensor x = Tensor({1, 9, 3, 9}, {2, 2, 1}), shown = Tensor({1, 3}, {2, 1});
  (void)runOnce(Run::compiled, {x, shown}, [&](const List &v) {
    return List{carried(Masking(9.0)(v[0]), {.training = true}), plain(v[1], {.training = true})};
  });
  for (size_t i : {2, 3}) // moving mean and variance
    CHECK(near(numbers(carried.weights()[i]), numbers(plain.weights()[i])));
  CHECK(near(numbers(carried.weights()[2]), {2.0}));
}

TEST_CASE("Softmax leaves hidden elements out") {
  const Tensor x({1, 2, 3, 4}, {1, 4}), mask = Tensor({1, 0, 1, 0}, {1, 4}).astype(DType::bool_);
  const auto results =
      runOnce(Run::compiled, {x, mask}, [](const List &v) { return List{Softmax()(Values{v[0], v[1]})}; });
  const double rest = std::exp(2.0);
  CHECK(near(numbers(results[0]), {1 / (1 + rest), 0, rest / (1 + rest), 0}));
}

TEST_CASE("A loss is a mean over the steps that count; a metric takes masks beside weights alone") {
  const Embedding embed(4, 1, {.mask_zero = true});
  (void)embed(tokens());
  embed.set_weights({Tensor({9, 1, 2, 3}, {4, 1})});
  // Errors: 3 1 2 (9), 2 1 (9 9); the squares of the unmasked ones are 9 1 4 4 1.
  const auto results = runOnce(Run::compiled, {tokens(), Tensor::zeros({2, 4, 1})}, [&](const List &v) {
    return List{losses::MeanSquaredError()(v[1], embed(v[0])),
                losses::MeanSquaredError({.reduction = Reduction::sum})(v[1], embed(v[0]))};
  });
  CHECK(near(numbers(results[0]), {19.0 / 5}));
  CHECK(near(numbers(results[1]), {19.0}));
  Sequential model({Input({4}, {.dtype = int32}), embed});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}, .weighted_metrics = {"mse"}});
  const auto logs = model.evaluate(tokens(), Tensor::zeros({2, 4, 1}),
                                   {.verbose = 0, .sample_weight = Tensor({1, 1, 1, 1, 1, 1, 1, 1}, {2, 4})});
  CHECK(logs["loss"] == Approx(19.0 / 5));
  CHECK(logs["mae"] == Approx((3 + 1 + 2 + 9 + 2 + 1 + 9 + 9) / 8.0));
}
