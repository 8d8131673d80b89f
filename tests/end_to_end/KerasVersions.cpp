// The rows of docs/policies.md, "Keras 3.15.1 and the nightly": where the two differ, and which one Halftone follows.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

namespace {

template <class Function> std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return fmt::format("{}: {}", name(error.kind()), error.message());
  }
  return "no error";
}

Dense built(int64_t inputs, const DenseArgs &args = {}) {
  const Dense layer(4, args);
  (void)layer(Tensor::ones({2, inputs}));
  return layer;
}

Names namesOf(const Layer &layer) {
  Names names;
  for (const Variable &weight : layer.weights())
    names.push_back(weight.name());
  return names;
}

Shape shapeOf(const Layer &layer, const std::string &weight) {
  for (const Variable &each : layer.weights())
    if (each.name() == weight)
      return each.shape();
  FAIL("there is no weight " << weight);
  return {};
}

/// A model of one Dense, quantized to float8 after it was built, after one training step.
Sequential trainedInFloat8(const Optimizer &optimizer) {
  const Sequential model({Input({8}), Dense(4, {.name = "a"})}, {.name = "net"});
  (void)model.quantize("float8", {.verbose = false});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  (void)model.train_on_batch(Tensor::ones({4, 8}), Tensor::ones({4, 4}));
  return model;
}

Names shapesOf(const Optimizer &optimizer) {
  Names shapes;
  for (const Variable &variable : optimizer.variables())
    shapes.push_back(variable.shape().str());
  return shapes;
}

} // namespace

TEST_CASE("Names of policies are read as in Keras 3.15.1") {
  for (const char *name : {"int8", "float8_e4m3fn"})
    CHECK_THAT(errorOf([&] { (void)dtype_policies::get(name); }),
               Contains("ValueError: Cannot convert `policy` into a valid pair (`mode`, `source_name`)"));
  CHECK_THAT(errorOf([] { (void)dtype_policies::get("ternary_from_float32"); }),
             Contains("ValueError: Cannot convert 'ternary_from_float32' to a mixed precision DTypePolicy."));
  CHECK_THAT(errorOf([] { QuantizedDTypePolicy policy("ternary", "float32"); }),
             Contains("Expected one of ('int8', 'float8', 'int4', 'gptq', 'awq'). Received: mode=ternary"));
  CHECK_THAT(errorOf([] { (void)dtype_policies::get("int4/None_from_float32"); }),
             Contains("ValueError: Invalid mode for Int4DTypePolicy."));
  CHECK(GPTQDTypePolicy("gptq/4/128").name() == "gptq/4/128_from_None");
  CHECK(AWQDTypePolicy("awq/4/128").name() == "awq/4/128_from_None");
  CHECK(Int4DTypePolicy("int4/64").name() == "int4/64_from_None");
  CHECK(built(64, {.dtype = Int4DTypePolicy("int4/64")}).kernel().dtype() == int8);
  CHECK(Int4DTypePolicy("int4/ +6_4", "float32").name() == "int4/ +6_4_from_float32");
  CHECK_THAT(errorOf([] { (void)dtype_policies::get("gptq/4/128_from_None"); }),
             Contains("ValueError: Cannot convert 'None'"));
}

TEST_CASE(
    "A quantized policy, or a map with a quantized default, is accepted as the global policy, as in Keras 3.15.1") {
  const PolicyScope restore("float32");
  set_dtype_policy("int8_from_float32");
  CHECK(dtype_policy().name() == "int8_from_float32");
  CHECK(built(8).kernel().dtype() == int8);
  set_dtype_policy(DTypePolicyMap("int4_from_float32"));
  CHECK(dtype_policy().name() == "map_int4_from_float32");
}

TEST_CASE("A policy of an unknown class is a TypeError, as in the nightly") {
  CHECK_THAT(errorOf([] { (void)dtype_policies::get(Config::parse(R"({"class_name": "Nope", "config": {}})")); }),
             Contains("TypeError: 'Nope' is not the class of a dtype policy"));
}

TEST_CASE("A map keeps its live entries after get_config, and two maps compare") {
  const DTypePolicyMap map{{"a", "mixed_bfloat16"}}, same{{"a", "mixed_bfloat16"}};
  CHECK_THAT(map.get_config().dump(), Contains(R"("name":null)"));
  CHECK(map["a"].name() == "mixed_bfloat16");
  CHECK(map == same);
}

TEST_CASE("Quantizing a layer whose policy is a map quantizes the path's entry, as in the nightly") {
  const DTypePolicyMap map("float32", {{"d", "mixed_bfloat16"}});
  const Dense layer = built(8, {.dtype = map, .name = "d"});
  (void)layer.quantize("int8");
  CHECK(map["d"].name() == "int8_from_mixed_bfloat16");
  CHECK(layer.kernel().dtype() == int8);
  CHECK(layer.dtype_policy().class_name() == "DTypePolicyMap");
}

TEST_CASE("The block size of a policy that a built layer is given is used, as in the nightly") {
  const Dense layer = built(128);
  layer.set_dtype_policy("int4/32_from_float32");
  CHECK(shapeOf(layer, "kernel_scale") == Shape{4, 4});
  CHECK(shapeOf(layer, "kernel_zero") == Shape{4, 4});
}

TEST_CASE("The argument lora_alpha is kept, and LoRA under float8 is refused at once, as in the nightly") {
  const Dense adapted = built(8, {.lora_rank = 2, .lora_alpha = 8.0});
  CHECK(adapted.get_config().get_double("lora_alpha") == 8.0);
  CHECK_THAT(errorOf([&] { (void)adapted.quantize("float8"); }),
             Contains("NotImplementedError: LoRA is not supported under float8 quantization."));
  const Dense narrow = built(8);
  (void)narrow.quantize("float8");
  CHECK_THAT(errorOf([&] { narrow.enable_lora(2); }),
             Contains("NotImplementedError: LoRA is not supported under float8 quantization."));
}

TEST_CASE("A loaded Sequential has the paths of the one that was saved, as in the nightly") {
  const TemporaryFolder folder;
  for (const bool knowsInput : {true, false}) {
    const Sequential model = knowsInput ? Sequential({Input({8}), Dense(4, {.name = "a"})}, {.name = "net"})
                                        : Sequential({Dense(4, {.name = "a"})}, {.name = "net"});
    (void)model(Tensor::ones({2, 8}));
    model.save(folder / "net.keras");
    const Model again = load_model(folder / "net.keras");
    CHECK(again.get_layer("a").path() == "net/a");
    CHECK(again.weights()[0].path() == "net/a/kernel");
  }
}

TEST_CASE("Zero points of int4 have the names and dtypes of Keras 3.15.1") {
  const Dense layer = built(128);
  (void)layer.quantize("int4");
  CHECK(layer.dtype_policy().name() == "int4/128_from_float32");
  CHECK(namesOf(layer) == Names{"bias", "kernel", "kernel_scale", "kernel_zero", "g_idx"});
  const ReversibleEmbedding table(4, 128, {.tie_weights = false});
  (void)table(Tensor::of({1, 2}, {1, 2}));
  (void)table.quantize("int4");
  for (const Variable &weight : table.weights())
    if (weight.name().ends_with("_zero"))
      CHECK(weight.dtype() == (weight.name() == "embeddings_zero" ? int8 : float32));
  CHECK(shapeOf(table, "embeddings_zero") == Shape{4, 1});
  CHECK(shapeOf(table, "reverse_embeddings_zero") == Shape{1, 4});
}

TEST_CASE(
    "A float8 layer has its kernel and bias before its scales, however it came to its policy, as in the nightly") {
  const Names order{"kernel",
                    "bias",
                    "inputs_scale",
                    "inputs_amax_history",
                    "kernel_scale",
                    "kernel_amax_history",
                    "outputs_grad_scale",
                    "outputs_grad_amax_history"};
  const Dense given = built(8);
  (void)given.quantize("float8");
  CHECK(namesOf(given) == order);
  CHECK(namesOf(built(8, {.dtype = "float8_from_float32"})) == order);
}

// Keras numbers the variables of an optimizer in files: the shapes show whether each is read into its own variable.
TEST_CASE("The variables of an optimizer of a float8 model are those of Keras's file") {
  const Sequential adam = trainedInFloat8(optimizers::Adam(0.001, {.use_ema = true, .gradient_accumulation_steps = 2}));
  CHECK(shapesOf(adam.optimizer()) == Names{"()", "()", "(8, 4)", "(4,)", "(8, 4)", "(4,)", "()", "(1024,)", "()",
                                            "(1024,)", "()", "(1024,)", "(8, 4)", "(8, 4)", "(4,)", "(4,)"});
  const Sequential adafactor = trainedInFloat8(optimizers::Adafactor());
  CHECK(shapesOf(adafactor.optimizer()) == Names{"()", "()", "(8,)", "(4,)", "(8, 4)", "()", "()", "(4,)", "()", "()",
                                                 "()", "()", "()",   "()",   "()",     "()", "()", "()",   "()", "()"});
  const TemporaryFolder folder;
  adafactor.save(folder / "net.keras");
  const Model again = load_model(folder / "net.keras");
  CHECK(again.optimizer().variables()[0].value().item<int32_t>() == 1); // the state was read
}

TEST_CASE("A model with a quantized layer quantizes the others, as in the nightly") {
  const Sequential model({Input({8}), Dense(4, {.name = "a"}), Dense(4, {.name = "b"}), Dense(4, {.name = "c"})});
  (void)model.get_layer("b").quantize("int8");
  const QuantizationReport report = model.quantize("int8", {.verbose = false});
  CHECK(report.quantized.size() == 2);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].reason == "already quantized");
}

TEST_CASE("int8 over a policy that computes in float16 is refused, as in both") {
  for (const char *name : {"int8_from_float16", "int8_from_mixed_float16"})
    CHECK_THAT(errorOf([&] { (void)dtype_policies::get(name); }),
               Contains("ValueError: Quantization mode='int8' doesn't work well with compute_dtype='float16'."));
}

TEST_CASE(
    "Adam moves bfloat16 weights, a map decides for the first call, and quantized attention is loaded: unlike both") {
  const Variable ones(Tensor::ones({3}).astype(bfloat16));
  const optimizers::Adam adam(0.01);
  const auto step = jit([&](const Value &gradient) {
    adam.apply({gradient}, {ones});
    return Value(ones);
  });
  for (int i = 0; i < 20; ++i)
    (void)step(Tensor::ones({3}).astype(bfloat16));
  CHECK(ones.value().astype(float32).to_vector<float>()[0] < 0.9F);

  const Dense mapped(3, {.dtype = DTypePolicyMap("float16", {{"d", "float32"}}), .name = "d"});
  CHECK(mapped(Tensor::ones({2, 4})).dtype() == float32);

  const Input x({4, 8});
  const Model model({x}, {MultiHeadAttention(2, 4, {.name = "mha"})(x, x)});
  (void)model.quantize("int8", {.verbose = false});
  const TemporaryFolder folder;
  model.save(folder / "net.keras");
  CHECK(load_model(folder / "net.keras").to_json() == model.to_json());
}
