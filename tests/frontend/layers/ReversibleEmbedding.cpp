// ReversibleEmbedding compared with real Keras, in floats and quantized; masks, LoRA, files, rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Quantized.h"

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Tensor backOf(const ReversibleEmbedding &layer, const Tensor &x) {
  return jit([&](const Value &input) { return layer(input, {.reverse = true}); })(x);
}

} // namespace

// policies 6.11, 6.12
TEST_CASE("A ReversibleEmbedding computes both ways as Keras's, in floats and under each mode") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("reversible.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("config").dump() << " " << row.at("mode") << " block " << row.at("block") << " activations "
                                 << row.at("activations"));
    const ReversibleEmbedding layer(builtLayer(row));
    if (!row.at("mode").is_null())
      (void)layer.quantize("", {.config = configOf(row)});
    CHECK(layer.dtype_policy().name() == row.at("policy").get<std::string>());
    const std::vector<Variable> weights = layer.weights();
    REQUIRE(weights.size() == row.at("weights").size());
    for (size_t i = 0; i < weights.size(); ++i) {
      const Json &expected = row.at("weights")[i];
      INFO(weights[i].name());
      CHECK(weights[i].name() == expected.at("name").get<std::string>());
      CHECK(name(weights[i].dtype()) == expected.at("dtype").get<std::string>());
      CHECK(weights[i].shape() == Shape(expected.at("shape").get<std::vector<int64_t>>()));
      CHECK(numbers(weights[i]) == elementsOf(expected.at("value")));
    }
    const bool isNarrow = row.dump().find("bfloat16") != std::string::npos;
    const double tolerance = isNarrow ? 1.6e-2 : 3e-6;
    const Tensor there = layer(tensorOf(row.at("indices"), "int32")), x = tensorOf(row.at("x"), "float32"),
                 logits = backOf(layer, x);
    CHECK(name(there.dtype()) == row.at("rows_dtype").get<std::string>());
    CHECK(distance(numbers(there), elementsOf(row.at("rows"))) <= tolerance);
    CHECK(name(logits.dtype()) == row.at("logits_dtype").get<std::string>());
    CHECK(distance(numbers(logits), elementsOf(row.at("logits"))) <= tolerance);
    CHECK(layers::deserialize(layers::serialize(layer)).get_config().dump() == layer.get_config().dump());
    ++rows;
    if (!row.contains("gradient"))
      continue;
    const auto gradient = jit([&](const Value &at) {
      const Value back = ops::cast(layer(at, {.reverse = true}), float32);
      return gradients(ops::sum(back * constant(tensorOf(row.at("cotangent"), "float32"))), std::vector<Value>{at})[0];
    });
    CHECK(distance(numbers(gradient(x)), elementsOf(row.at("gradient"))) <= tolerance);
  }
  CHECK(rows == 20);
}

namespace {
/// A one-layer language model whose logits come from its embedding.
struct Tied {
  Input tokens{{3}, {.dtype = int32}};
  ReversibleEmbedding table;
  Model model;
  explicit Tied(const ReversibleEmbeddingArgs &args)
      : table(7, 4, args), model({tokens}, {table(Dense(4, {.name = "dense"})(table(tokens)), {.reverse = true})}) {}
};
} // namespace

// policies 6.10, 6.15
TEST_CASE("A model whose logits come from its embedding is saved and loaded, with and without a mode or LoRA") {
  const Tensor x = Tensor::of({0, 3, 6, 2, 2, 1}, {2, 3});
  for (const bool ties : {true, false})
    for (const char *mode : {"", "int8", "int4"})
      for (const bool adapts : {false, true}) {
        INFO(ties << " " << mode << " " << adapts);
        const Tied tied({.tie_weights = ties, .logit_soft_cap = 3.0});
        if (adapts) {
          tied.table.enable_lora(2);
          tied.table.lora_embeddings_b().assign(Tensor::full({2, 4}, 0.02));
        }
        if (*mode)
          (void)tied.model.quantize(mode, {.verbose = false});
        const std::vector<double> expected = numbers(tied.model.predict(x, {.verbose = 0}));
        const TemporaryFolder folder;
        tied.model.save(folder / "model.keras");
        const Model again = load_model(folder / "model.keras");
        CHECK(again.to_json() == tied.model.to_json());
        const std::vector<double> loaded = numbers(again.predict(x, {.verbose = 0}));
        again.save(folder / "again.keras"); // b is 0 now, so the integers are unchanged
        CHECK(numbers(load_model(folder / "again.keras").predict(x, {.verbose = 0})) == loaded);
        const double merged = adapts ? (*mode == 0 ? 1e-6 : std::string_view(mode) == "int8" ? 3e-2 : 0.5) : 0.0;
        CHECK(distance(loaded, expected) <= merged);
      }
}

TEST_CASE("A gradient passes the way back of integers by way of the floats for which they stand") {
  const Tensor x = Tensor::of({0.5f, -1.0f, 0.25f, 2.0f}, {1, 4});
  for (const char *mode : {"int8", "int4"}) {
    const ReversibleEmbedding layer(6, 4);
    (void)layer(Tensor::of({0}, {1}));
    const auto gradient = jit(
        [&](const Value &at) { return gradients(ops::sum(layer(at, {.reverse = true})), std::vector<Value>{at})[0]; });
    (void)layer.quantize(mode);
    const Tensor table = layer(Tensor::of({0, 1, 2, 3, 4, 5}, {6}));
    std::vector<double> sums(4, 0.0);
    for (size_t i = 0; i < 24; ++i)
      sums[i % 4] += numbers(table)[i];
    CHECK(distance(numbers(gradient(x)), sums) <= 1e-6);
  }
}

TEST_CASE("The interpreter and strict numerics agree on both ways, with LoRA and under each mode") {
  const Tensor x = Tensor::of({0.5f, -1.0f, 0.25f, 2.0f, 3.0f, 0.1f, -0.7f, 0.2f}, {2, 4}),
               tokens = Tensor::of({5, 1}, {2});
  for (const bool ties : {true, false})
    for (const char *mode : {"", "int8", "int4"}) {
      INFO(ties << " " << mode);
      const ReversibleEmbedding layer(6, 4, {.tie_weights = ties, .logit_soft_cap = 2.0, .lora_rank = 2});
      (void)layer(tokens);
      layer.lora_embeddings_b().assign(Tensor::full({2, 4}, 0.3));
      if (*mode)
        (void)layer.quantize(mode);
      const auto both = [&](const std::vector<Value> &v) -> std::vector<Value> {
        return {layer(v[0], {.reverse = true}), layer(v[1])};
      };
      const std::vector<Tensor> right = runOnce(Run::interpreted, {x, tokens}, both),
                                found = runOnce(Run::strict, {x, tokens}, both);
      for (size_t i = 0; i < 2; ++i)
        CHECK(distance(numbers(found[i]), numbers(right[i])) <= 1e-6);
    }
}

TEST_CASE("A mask that hides index 0 is carried there, and not back") {
  const ReversibleEmbedding layer(5, 3, {.mask_zero = true});
  const Tensor x = Tensor::of({0, 2, 4}, {1, 3});
  const auto mean = [&](bool goesBack) {
    return numbers(jit([&](const Value &tokens) {
      const Value rows = layer(tokens);
      return GlobalAveragePooling1D()(goesBack ? layer(rows, {.reverse = true}) : rows);
    })(x));
  };
  const std::vector<double> rows = numbers(layer(x)), found = mean(false);
  for (size_t c = 0; c < 3; ++c)
    CHECK(found[c] == Approx((rows[3 + c] + rows[6 + c]) / 2));
  const std::vector<double> logits = numbers(backOf(layer, layer(x))), back = mean(true);
  for (size_t c = 0; c < 5; ++c)
    CHECK(back[c] == Approx((logits[c] + logits[5 + c] + logits[10 + c]) / 3).margin(1e-7));
}

TEST_CASE("A ReversibleEmbedding refuses extents and inputs that do not fit") {
  CHECK_THAT(errorOf([] { ReversibleEmbedding(0, 3); }), Contains("ValueError: `input_dim` must be a positive"));
  CHECK_THAT(errorOf([] { ReversibleEmbedding(Dense(3)); }), Contains("TypeError: expected a ReversibleEmbedding"));
  const ReversibleEmbedding layer(5, 3);
  CHECK_THAT(errorOf([&] { (void)backOf(layer, Tensor::ones({2, 4})); }),
             Contains("ValueError") && Contains("(..., 3)"));
  CHECK(backOf(layer, Tensor::ones({0, 3})).shape() == Shape{0, 5});
  CHECK(backOf(ReversibleEmbedding(5, 3, {.reverse_dtype = bfloat16}), Tensor::ones({1, 3})).dtype() == bfloat16);
  CHECK_THAT(errorOf([&] { (void)layer.quantize("float8"); }),
             Contains("NotImplementedError: Invalid quantization mode. Expected one of ('int8', 'int4')"));
}
