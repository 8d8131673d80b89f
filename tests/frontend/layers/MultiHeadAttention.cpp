// MultiHeadAttention and GroupQueryAttention: weights, policies, masks, dropout, and rejected arguments.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;

namespace {

Tensor waves(const Shape &shape, double step = 0.7) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + 0.3));
  return Tensor(values, shape);
}

std::vector<std::string> pathsOf(const Layer &layer) {
  std::vector<std::string> paths;
  for (const Variable &variable : layer.weights())
    paths.push_back(variable.path());
  return paths;
}

} // namespace

TEST_CASE("The weights of a layer with heads stand in its projections, in Keras's order") {
  const MultiHeadAttention layer(2, 3, {.value_dim = 4, .use_gate = true, .name = "mha"});
  (void)layer(Input({5, 6}), Input({7, 8}));
  CHECK(pathsOf(layer) == std::vector<std::string>{"mha/query/kernel", "mha/query/bias", "mha/key/kernel",
                                                   "mha/key/bias", "mha/gate/kernel", "mha/gate/bias",
                                                   "mha/value/kernel", "mha/value/bias", "mha/attention_output/kernel",
                                                   "mha/attention_output/bias"});
  CHECK(layer.weights()[2].shape() == Shape{8, 2, 3});
  CHECK(layer.weights()[8].shape() == Shape{2, 4, 6});
  const GroupQueryAttention grouped(3, 4, 2, {.use_bias = false, .name = "gqa"});
  (void)grouped(Input({5, 6}), Input({7, 8}));
  CHECK(pathsOf(grouped) == std::vector<std::string>{"gqa/query/kernel", "gqa/key/kernel", "gqa/value/kernel",
                                                     "gqa/attention_output/kernel"});
  CHECK(grouped.weights()[1].shape() == Shape{8, 2, 3});
  CHECK(grouped.class_name() == "GroupedQueryAttention");
  CHECK(GroupedQueryAttention(3, 4, 2).name().starts_with("grouped_query_attention"));
}

TEST_CASE("Arguments of projections reach each of them") {
  const MultiHeadAttention layer(1, 2,
                                 {.output_shape = Integers{3, 4},
                                  .kernel_initializer = "ones",
                                  .bias_initializer = "ones",
                                  .kernel_regularizer = "l2",
                                  .bias_regularizer = "l1",
                                  .kernel_constraint = "non_neg",
                                  .bias_constraint = "unit_norm"});
  const Value y = layer(Input({5, 6}), Input({7, 6}));
  CHECK(y.shape() == Shape{-1, 5, 3, 4});
  for (const Variable &variable : layer.weights()) {
    CHECK(std::ranges::all_of(numbers(variable), [](double x) { return x == 1.0; }));
    CHECK(variable.impl()->regularizer.name() == (variable.name() == "kernel" ? "L2" : "L1"));
    CHECK(variable.impl()->constraint.name() == (variable.name() == "kernel" ? "NonNeg" : "UnitNorm"));
  }
}

TEST_CASE("A policy map decides for each projection by its path") {
  const DTypePolicyMap map(PolicyArg("float32"), {{"mha/query", "mixed_bfloat16"}});
  const MultiHeadAttention layer(2, 3, {.dtype = map, .name = "mha"});
  const Tensor x = waves({2, 4, 6});
  const auto results = runOnce(Run::compiled, {x}, [&](const List &v) { return List{layer(v[0], v[0])}; });
  CHECK(results[0].dtype() == float32);
  CHECK(layer.layers()[0].compute_dtype() == bfloat16);
  CHECK(layer.layers()[1].compute_dtype() == float32);
}

// policies 11.9
TEST_CASE("Scores of float16 are float32, but for those that are given out") {
  const MultiHeadAttention layer(1, 1, {.use_bias = false, .kernel_initializer = "ones", .dtype = "float16"});
  const Tensor x({300, 100}, {1, 2, 1}); // the scores 90000 and 30000 of the first query
  const auto results = runOnce(Run::interpreted, {x}, [&](const List &v) {
    const auto [output, scores] = layer.with_scores(v[0], v[0]);
    return List{layer(v[0], v[0]), output, scores};
  });
  CHECK(numbers(results[0]) == std::vector<double>{300, 300});
  CHECK(results[2].dtype() == float16);
  CHECK(std::isnan(numbers(results[2])[0]));
  CHECK(std::isnan(numbers(results[1])[0]));
}

TEST_CASE("A config keeps all arguments, and the layer made of it computes the same") {
  for (const char *name : {"MultiHeadAttention", "GroupedQueryAttention", "Attention", "AdditiveAttention"}) {
    size_t rows = 0;
    for (const std::string &line : recordedLines("layers.jsonl")) {
      const Json row = Json::parse(line);
      if (row.at("layer") != name)
        continue;
      INFO(row.at("config").dump());
      ++rows;
      Config saved;
      saved.set("class_name", name);
      saved.set("config", Config::parse(row.at("config").dump()));
      CHECK(Json::parse(serialize(deserialize(saved)).dump()).at("config") == row.at("config"));
    }
    CHECK(rows > 3);
  }
  const MultiHeadAttention layer(2, 3, {.seed = 7});
  const Config before = layer.get_config();
  CHECK(before.get_int("seed") == 7);
  CHECK(Json::parse(before.dump()).at("attention_axes").is_null());
  (void)layer(Input({5, 6}), Input({5, 6}));
  CHECK(Json::parse(layer.get_config().dump()).at("attention_axes") == Json({1}));
}

TEST_CASE("The output is the same whether or not the scores are given out") {
  const MultiHeadAttention layer(2, 3, {.sliding_window = 3});
  const GroupQueryAttention grouped(3, 4, 2, {.use_gate = true, .sliding_window = 3});
  const Tensor x = waves({2, 5, 6}), y = waves({2, 5, 6}, 0.3),
               mask = Tensor({1, 1, 0, 1, 1, 1, 1, 1, 1, 0}, {2, 5}).astype(DType::bool_);
  for (Run run : everyRun) {
    const auto results = runOnce(run, {x, y, mask}, [&](const List &v) {
      const AttentionCallArgs args{.key = v[0], .key_mask = v[2], .use_causal_mask = true};
      return List{layer(v[0], v[1], args), layer.with_scores(v[0], v[1], args)[0], grouped(v[0], v[1], args),
                  grouped.with_scores(v[0], v[1], args)[0]};
    });
    CHECK(near(numbers(results[0]), numbers(results[1]), 2e-6));
    CHECK(near(numbers(results[2]), numbers(results[3]), 2e-6));
  }
}

TEST_CASE("Attention over one of two axes leaves the places of the other apart") {
  const MultiHeadAttention over(1, 4, {.attention_axes = Integers{2}}), each(1, 4);
  const Tensor x = waves({2, 3, 4, 5});
  (void)over(Input({3, 4, 5}), Input({3, 4, 5}));
  (void)each(Input({4, 5}), Input({4, 5}));
  each.set_weights(over.get_weights());
  const auto results = runOnce(Run::compiled, {x}, [&](const List &v) {
    const Value rows = ops::reshape(v[0], Shape{6, 4, 5});
    return List{over(v[0], v[0]), ops::reshape(each(rows, rows), Shape{2, 3, 4, 5})};
  });
  CHECK(near(numbers(results[0]), numbers(results[1]), 2e-6));
}

TEST_CASE("Dropout acts in training alone, on weights, and by its seed") {
  const Tensor x = waves({2, 9, 4});
  const auto outputs = [&](const std::optional<int64_t> &seed, bool scores) {
    const MultiHeadAttention layer(2, 4, {.dropout = 0.5, .kernel_initializer = "ones", .seed = seed});
    return runOnce(Run::compiled, {x}, [&](const List &v) {
      const AttentionCallArgs training{.training = true}, inference{.training = false};
      return List{scores ? layer.with_scores(v[0], v[0], training)[0] : layer(v[0], v[0], training),
                  layer(v[0], v[0], inference), layer(v[0], v[0])};
    });
  };
  for (bool scores : {false, true}) {
    const auto once = outputs(3, scores), again = outputs(3, scores), other = outputs(4, scores);
    CHECK(numbers(once[0]) == numbers(again[0]));
    CHECK(numbers(once[0]) != numbers(other[0]));
    CHECK(numbers(once[0]) != numbers(once[1]));
    CHECK(numbers(once[1]) == numbers(once[2]));
  }
  const MultiHeadAttention layer(2, 4, {.dropout = 0.5});
  (void)layer(x.dtype() == float32 ? Tensors{x, x} : Tensors{});
  CHECK(layer.weights().size() == 8);
  CHECK(layer.variables().size() == 9); // including the state of dropout
}

TEST_CASE("A model with causal attention learns to repeat what stood four steps before") {
  constexpr int64_t samples = 64, steps = 16, words = 8;
  std::mt19937 random(3);
  std::vector<int> x, y;
  for (int64_t sample = 0; sample < samples; ++sample) {
    int period[4];
    for (int &word : period)
      word = static_cast<int>(random() % words);
    for (int64_t step = 0; step < steps; ++step) {
      x.push_back(period[step % 4]);
      y.push_back(period[(step + 1) % 4]);
    }
  }
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    INFO(policy);
    const Input ids({steps}, {.dtype = int32});
    const Value embedded = Embedding(words, 16, {.dtype = policy})(ids);
    const Value placed = Add({.dtype = policy})({embedded, PositionEmbedding(steps, {.dtype = policy})(embedded)});
    const MultiHeadAttention attention(2, 8, {.dropout = 0.05, .dtype = policy});
    const Value h = Add({.dtype = policy})({placed, attention(placed, placed, {.use_causal_mask = true})});
    Model model(ids, Dense(words)(h));
    model.compile(
        {.optimizer = optimizers::Adam(0.02), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
    const Tensor inputs(x, {samples, steps}), targets(y, {samples, steps});
    model.fit(inputs, targets, {.batch_size = 32, .epochs = 60, .verbose = 0});
    // The first three targets are unpredictable, but the others are known: three sixteenths of log 8 remain.
    CHECK(model.evaluate(inputs, targets, {.verbose = 0})["loss"] < 0.6);
  }
}

TEST_CASE("A layer with heads refuses arguments and inputs that do not fit, and names them") {
  CHECK_THAT(errorOf([] { (void)MultiHeadAttention(2, 0); }), Contains("ValueError") && Contains("key_dim"));
  CHECK_THAT(errorOf([] { (void)MultiHeadAttention(0, 2); }), Contains("ValueError") && Contains("num_heads"));
  CHECK_THAT(errorOf([] { (void)MultiHeadAttention(1, 2, {.value_dim = -1}); }), Contains("value_dim"));
  CHECK_THAT(errorOf([] { (void)MultiHeadAttention(1, 2, {.dropout = 1.5}); }), Contains("dropout=1.5"));
  CHECK_THAT(errorOf([] { (void)MultiHeadAttention(1, 2, {.sliding_window = 0}); }), Contains("sliding_window"));
  CHECK_THAT(errorOf([] { (void)GroupQueryAttention(2, 4, 3); }),
             Contains("ValueError: `num_query_heads` must be divisible by `num_key_value_heads`."));
  const MultiHeadAttention layer(2, 3);
  CHECK_THAT(errorOf([&] { (void)layer(Input({5, 6}), Input({7, 8}), {.key = Input({6, 8})}); }),
             Contains("ValueError: All dimensions of `value` and `key`, except the last one, must be equal. Received: "
                      "value_shape=(None, 7, 8) and key_shape=(None, 6, 8)"));
  CHECK_FALSE(layer.built());
  CHECK(layer.layers().empty());
  CHECK_THAT(errorOf([&] { (void)layer(Values(Input({5, 6}))); }),
             Contains("ValueError: MultiHeadAttention layer accepts inputs list of length 2 or 3"));
  CHECK_THAT(errorOf([&] {
               (void)layer(Input({5, 6}), Input({7, 6}), {.attention_mask = Input({5, 6}, {.dtype = DType::bool_})});
             }),
             Contains("ValueError: The combined mask of a call of MultiHeadAttention has the shape (None, 5, 6)") &&
                 Contains("(None, 2, 5, 7)"));
  CHECK_THAT(
      errorOf([&] { (void)layer(Input({5, 6}), Input({7, 6}), {.value_mask = Input({6}, {.dtype = DType::bool_})}); }),
      Contains("ValueError: The combined mask of a call of MultiHeadAttention has the shape (None, 1, 6)"));
  CHECK_THAT(
      errorOf([] { (void)MultiHeadAttention(1, 2, {.attention_axes = Integers{3}})(Input({5, 6}), Input({5, 6})); }),
      Contains("ValueError: `attention_axes` of MultiHeadAttention"));
  CHECK_THAT(
      errorOf([] { (void)MultiHeadAttention(1, 2, {.attention_axes = Integers{}})(Input({5, 6}), Input({5, 6})); }),
      Contains("must be one or more distinct axes of a query of rank 3"));
  CHECK_THAT(errorOf([&] { (void)layer(Tensors{Tensor::zeros({2, 3, 6}), Tensor::zeros({3, 4, 6})}); }),
             Contains("ValueError: MultiHeadAttention needs query, key and value with the same batch size") &&
                 Contains("query (2, 3, 2, 3), key (3, 4, 2, 3)"));
  CHECK_THAT(
      errorOf([] { (void)MultiHeadAttention(1, 2)(Input({4, 5, 6}), Input({4, 5, 6}), {.use_causal_mask = true}); }),
      Contains("MultiHeadAttention attends over 2 axes; a causal mask and a sliding window need one"));
}

TEST_CASE("Attention's kernel makes a padding mask or a sliding window itself: no kernel stores one") {
  for (const bool isPadding : {false, true})
    for (const bool causal : {false, true}) {
      INFO(isPadding << " " << causal);
      const Input tokens({128}, {.dtype = int32});
      const Value x = Embedding(50, 32, {.mask_zero = isPadding})(tokens);
      MultiHeadAttentionArgs args;
      if (!isPadding)
        args.sliding_window = 16;
      const Value y = MultiHeadAttention(4, 8, args)(x, x, {.use_causal_mask = causal});
      const std::string text = Model(tokens, y).ir(Stage::kernel, {.batch_size = 2});
      CHECK_THAT(text, Contains("halftone.attention ") && Contains(" mask ") && !Contains("x128x128xi1> {"));
    }
}
