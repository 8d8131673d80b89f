// Quantizing layers and models: weights, policies, reports, files, rejections, and layers that Keras quantized.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Quantized.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// The recorded elements of a weight: the first and the last two elements of a long history.
std::vector<double> recordedPart(const Tensor &weight) {
  std::vector<double> elements = numbers(weight);
  if (weight.shape().rank() == 1 && elements.size() == 1024)
    elements.erase(elements.begin() + 2, elements.end() - 2);
  return elements;
}

void checkWeights(const Layer &layer, const Json &recorded, double tolerance) {
  const std::vector<Variable> weights = layer.weights();
  REQUIRE(weights.size() == recorded.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO(recorded[i].at("name"));
    CHECK(weights[i].name() == recorded[i].at("name").get<std::string>());
    CHECK(name(weights[i].dtype()) == recorded[i].at("dtype").get<std::string>());
    CHECK(weights[i].trainable() == recorded[i].at("trainable").get<bool>());
    CHECK(weights[i].shape() == Shape(recorded[i].at("shape").get<std::vector<int64_t>>()));
    const std::vector<double> found = recordedPart(weights[i].value()), expected = elementsOf(recorded[i].at("value"));
    if (tolerance == 0.0)
      CHECK(found == expected);
    else
      CHECK(distance(found, expected) <= tolerance);
  }
}

} // namespace

// policies 6.10, 6.11, 6.12
TEST_CASE("Quantized layers have Keras's integers and scales bit for bit, and its outputs and gradients") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("quantized.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("layer") << " " << row.at("config").value("equation", "") << " " << row.at("mode") << " block "
                         << row.at("block") << " activations " << row.at("activations"));
    const Layer layer = builtLayer(row);
    const QuantizationReport report = layer.quantize("", {.config = configOf(row)});
    CHECK(report.quantized.size() == 1);
    CHECK(layer.dtype_policy().name() == row.at("policy").get<std::string>());
    checkWeights(layer, row.at("weights"), 0.0);
    const Tensor x = inputOf(row), output = layer(x);
    CHECK(name(output.dtype()) == row.at("output_dtype").get<std::string>());
    CHECK(distance(numbers(output), elementsOf(row.at("output"))) <= 2e-6);
    CHECK(layers::deserialize(layers::serialize(layer)).get_config().dump() == layer.get_config().dump());
    ++rows;
    if (!row.contains("gradient"))
      continue;
    const auto gradient = jit([&](const Value &at) {
      const Value loss = ops::sum(layer(at) * constant(tensorOf(row.at("cotangent"), "float32")));
      return gradients(loss, std::vector<Value>{at})[0];
    });
    CHECK(distance(numbers(gradient(x)), elementsOf(row.at("gradient"))) <= 2e-6);
  }
  CHECK(rows > 40);
}

// policies 6.10
TEST_CASE("Weights of 16-bit floats become Keras's integers and scales bit for bit") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("narrow_quantized.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("layer") << " " << row.at("policy") << " block " << row.at("block"));
    const Layer layer = builtLayer(row);
    (void)layer.quantize("", {.config = configOf(row)});
    CHECK(layer.dtype_policy().name() == row.at("policy").get<std::string>());
    checkWeights(layer, row.at("weights"), 0.0);
    ++rows;
  }
  CHECK(rows == 15);
}

// policies 6.13
TEST_CASE("Steps in float8 overwrite scales and histories as Keras's do") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("quantized.jsonl")) {
    const Json row = Json::parse(line);
    if (row.at("mode") != "float8")
      continue;
    INFO(row.at("layer") << " " << row.at("config").value("equation", ""));
    const Layer layer = builtLayer(row);
    (void)layer.quantize("float8");
    const Tensor x = inputOf(row), cotangent = tensorOf(row.at("cotangent"), "float32");
    const Loss weighted([](const Value &target, const Value &output) { return target * output; },
                        {.reduction = Reduction::sum});
    std::vector<int64_t> dims = x.shape().dims();
    dims.erase(dims.begin());
    const Sequential model({Input(Shape(dims)), layer});
    model.compile({.optimizer = optimizers::SGD(0.1), .loss = weighted});
    for (int step = 0; step < 2; ++step)
      (void)model.train_on_batch(x, cotangent);
    checkWeights(layer, row.at("after"), 2e-6);
    CHECK(distance(numbers(layer(x)), elementsOf(row.at("output_after"))) <= 2e-6);
    ++rows;
  }
  CHECK(rows > 5);
}

TEST_CASE("A layer made with a quantized policy has the variables that quantize() gives") {
  for (const char *mode : {"int8", "int4", "int4/4", "float8"}) {
    INFO(mode);
    const Tensor x = Tensor::ones({2, 6});
    const Dense made(3, {.dtype = std::string(mode) + "_from_float32"}), given(3);
    (void)made(x);
    (void)given(x);
    given.set_dtype_policy(std::string(mode) + "_from_float32");
    const std::vector<Variable> a = made.weights(), b = given.weights();
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].name() == b[i].name());
      CHECK(a[i].shape() == b[i].shape());
      CHECK(a[i].dtype() == b[i].dtype());
      CHECK(a[i].trainable() == b[i].trainable());
    }
    CHECK(given(x).shape() == Shape{2, 3});
  }
}

TEST_CASE("The arguments of a layer say whether a quantized policy quantizes activations, and in which blocks") {
  const Tensor x = Tensor::of({0.3f, -1.7f, 2.0f, 0.9f, 1.1f, -0.2f}, {2, 3});
  const QuantizationConfig weightsAlone = quantizers::Int8QuantizationConfig(false);
  const Dense layer(2, {.quantization_config = weightsAlone, .dtype = "int8_from_float32"}), floats(2);
  (void)layer(x);
  (void)floats(x);
  (void)floats.quantize("int8", {.config = weightsAlone});
  layer.set_weights(floats.get_weights());
  CHECK(numbers(layer(x)) == numbers(floats(x)));
  const Embedding table(4, 6,
                        {.quantization_config = quantizers::Int4QuantizationConfig(2), .dtype = "int4_from_float32"});
  (void)table(Tensor::of({1}, {1}));
  CHECK(table.weights()[1].shape() == Shape{4, 3});
  const Dense none(2);
  (void)none(Tensor::zeros({2, 0}));
  CHECK_THAT(errorOf([&] {
               (void)none.quantize("int4");
               (void)none(Tensor::zeros({0, 0}));
             }),
             !Contains("InternalError"));
}

namespace {
Model smallModel(const char *policy = "float32") {
  const PolicyScope scope(policy);
  const Input input({4});
  return Model({input},
               {Dense(2, {.name = "out"})(LayerNormalization({.name = "ln"})(Dense(3, {.name = "a"})(input)))});
}
} // namespace

// policies 6.14
TEST_CASE("Configs hold Keras's quantizations with its default quantizers; others are refused") {
  const auto read = [](const std::string &quantization) {
    return errorOf([&] {
      const Layer layer = layers::deserialize(Config::parse(
          R"({"class_name": "Dense", "config": {"units": 2, "quantization_config": )" + quantization + "}}"));
      const Config config = layer.get_config().get_object("quantization_config");
      CHECK(config.get_object("config").dump() == Config::parse(quantization).get_object("config").dump());
    });
  };
  CHECK(read(R"({"class_name": "Int8QuantizationConfig",
                 "config": {"weight_quantizer": null, "activation_quantizer": null}})") == "");
  CHECK(read(R"({"class_name": "Int4QuantizationConfig",
                 "config": {"weight_quantizer": null, "activation_quantizer": null, "block_size": 64}})") == "");
  CHECK(read(R"({"class_name": "Float8QuantizationConfig", "config": {}})") == "");
  CHECK_THAT(read(R"({"class_name": "TernaryQuantizationConfig", "config": {}})"),
             Contains("NotImplementedError: `quantization_config` is of the class TernaryQuantizationConfig"));
  CHECK_THAT(
      read(R"({"class_name": "Int8QuantizationConfig", "config": {"weight_quantizer": {"class_name": "Mine"}}})"),
      Contains("NotImplementedError: ") && Contains("`weight_quantizer`"));
}

TEST_CASE("A model quantizes the layers that can be quantized, and reports the others") {
  const Model model = smallModel();
  const QuantizationReport report = model.quantize("int8", {.verbose = false});
  CHECK(report.text() == "Quantization report (mode='int8')\n" + std::string(65, '=') +
                             "\nQuantized 2 layer(s):\n  - a (int8): int8_from_float32\n  - out (int8): "
                             "int8_from_float32\nSkipped 1 layer(s):\n  - ln: no quantize support\n");
  CHECK(Config::parse(report.json()).get_string("mode") == "int8");
  CHECK(model.dtype_policy().name() == "float32");
  const Tensor x = Tensor::of({1.0f, -2.0f, 3.0f, 0.5f}, {1, 4});
  const std::vector<double> before = numbers(model.predict(x, {.verbose = 0}));
  const TemporaryFolder folder;
  model.save(folder / "model.keras");
  const Model again = load_model(folder / "model.keras");
  CHECK(again.to_json() == model.to_json());
  CHECK(numbers(again.predict(x, {.verbose = 0})) == before);
  CHECK(again.quantize("int4", {.verbose = false}).skipped.size() == 3);
}

TEST_CASE("A call that cannot quantize is Keras's error and changes nothing") {
  const Tensor x = Tensor::ones({2, 4});
  const Dense layer(3), unbuilt(3), halves(3, {.dtype = "mixed_float16"});
  (void)layer(x);
  (void)halves(x);
  const auto errorOfMode = [](const Layer &each, const char *mode, const QuantizationConfig &config = {}) {
    return errorOf([&] { (void)each.quantize(mode, {.config = config}); });
  };
  CHECK_THAT(errorOfMode(unbuilt, "int8"), Contains("ValueError: Cannot quantize a layer that isn't yet built."));
  CHECK_THAT(errorOfMode(layer, "int7"), Contains("ValueError: Invalid quantization mode. Expected one of"));
  CHECK_THAT(errorOfMode(layer, ""), Contains("ValueError: You must provide either `mode` or `config`"));
  CHECK_THAT(errorOfMode(layer, "int4", quantizers::Int8QuantizationConfig()),
             Contains("Contradictory arguments: mode='int4' but config.mode='int8'"));
  CHECK_THAT(errorOfMode(layer, "gptq"), Contains("you must pass a `GPTQConfig`"));
  CHECK_THAT(errorOfMode(halves, "int8"), Contains("doesn't work well with compute_dtype='float16'"));
  CHECK_THAT(errorOf([] { quantizers::Int4QuantizationConfig(0); }), Contains("ValueError: block_size must be None"));
  CHECK_THAT(errorOf([] { quantizers::Int4QuantizationConfig(8, true); }), Contains("sub-channel quantization"));
  CHECK_THAT(errorOf([] { (void)QuantizeFilter("("); }), Contains("ValueError"));
  const LayerNormalization norm;
  (void)norm(x);
  CHECK_THAT(errorOfMode(norm, "int8"),
             Contains("NotImplementedError: Layer LayerNormalization does not have a `quantize` method implemented."));
  CHECK(layer.dtype_policy().name() == "float32");
  CHECK(layer.weights().size() == 2);
  CHECK(layer.kernel().dtype() == float32);
  CHECK(halves.kernel().dtype() == float32);
  (void)layer.quantize("int8");
  for (const char *mode : {"int8", "int4", "float8"})
    CHECK_THAT(errorOfMode(layer, mode), Contains("is already quantized with dtype_policy='int8_from_float32'"));
  CHECK_THAT(errorOf([&] { layer.set_dtype_policy("float32"); }), Contains("is already quantized"));
  CHECK(layer.dtype_policy().name() == "int8_from_float32");
  CHECK_THAT(errorOf([&] { (void)smallModel("mixed_float16").quantize("int8"); }), Contains("compute_dtype='float16'"));
}

TEST_CASE("Extents of 1, rows of zeros, infinities and NaN pass through a quantized layer as in Keras") {
  const float inf = std::numeric_limits<float>::infinity();
  const Dense layer(1, {.use_bias = false});
  (void)layer(Tensor::ones({1, 1}));
  layer.set_weights({Tensor::of({-0.75f}, {1, 1})});
  (void)layer.quantize("int8");
  CHECK(numbers(layer.kernel().value()) == std::vector<double>{-127});
  CHECK(distance(numbers(layer(Tensor::of({2.0f, 0.0f, -3.0f}, {3, 1}))), {-1.5, 0, 2.25}) <= 1e-6);
  const std::vector<double> odd = numbers(layer(Tensor::of({inf}, {1, 1})));
  CHECK(std::isnan(odd[0])); // a scale of 0: 0 / 0
}

TEST_CASE("The projections of quantized attention are read again from its config") {
  const Input input({5, 6});
  const MultiHeadAttention attention(2, 3, {.name = "mha"});
  const Model model({input}, {Dense(2, {.name = "out"})(attention(input, input))});
  const QuantizationReport report = model.quantize("int8", {.verbose = false});
  CHECK(report.quantized.size() == 5);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].path == "mha");
  CHECK(report.skipped[0].reason == "no quantize support");
  const TemporaryFolder folder;
  model.save(folder / "model.keras");
  const Model again = load_model(folder / "model.keras");
  std::vector<float> data(2 * 5 * 6);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i % 7) - 3.0f;
  const Tensor x(std::move(data), {2, 5, 6});
  CHECK(numbers(again.predict(x, {.verbose = 0})) == numbers(model.predict(x, {.verbose = 0})));
  CHECK(again.get_layer("mha").layers()[0].quantization_mode() == "int8");
  CHECK(again.get_layer("mha").quantization_mode() == std::nullopt);
}

namespace {
struct Block { // a user-defined layer with inner layers
  Dense dense{3, {.name = "dense"}};
  BatchNormalization norm{{.name = "norm"}};
  Value call(const Value &x) const { return ops::relu(norm(dense(x))); }
};
} // namespace

TEST_CASE("A-049: the config of a layer made of layers names the policies of its quantized parts by path") {
  const Input input({4});
  const Custom block(Block{}, {.name = "block"});
  const Model model({input}, {block(input)});
  (void)model.quantize("int8", {.verbose = false});
  CHECK(block.self().dense.dtype_policy().name() == "int8_from_float32");
  CHECK(block.self().norm.dtype_policy().name() == "float32");
  const DTypePolicy saved = dtype_policies::deserialize(block.get_config().get_object("dtype"));
  const std::optional<DTypePolicyMap> map = saved.as_map();
  REQUIRE(map);
  CHECK(map->size() == 1);
  CHECK((*map)["block/dense"].name() == "int8_from_float32");
  CHECK((*map)["block/norm"].name() == "float32");
}

TEST_CASE("A map applied to a model quantizes the paths that it names, or nothing") {
  const Model model = smallModel();
  CHECK_THAT(errorOf([&] {
               (void)model.apply_policy(DTypePolicyMap({{"out", "int8_from_float32"}, {"ln", "int8_from_float32"}}));
             }),
             Contains("NotImplementedError"));
  CHECK(model.get_layer("out").dtype_policy().name() == "float32");
  (void)model.apply_policy(DTypePolicyMap({{"out", "int8_from_float32"}}));
  CHECK(model.get_layer("out").quantization_mode() == "int8");
  CHECK(model.get_layer("out").weights()[1].dtype() == int8);
  CHECK(model.get_layer("a").weights()[0].dtype() == float32);
  CHECK(model.predict(Tensor::ones({2, 4}), {.verbose = 0}).shape() == Shape{2, 2});
}

TEST_CASE("An int8 product is a kernel over rows and one contraction with its epilogue") {
  const Sequential model({Input({64}), Dense(32, {.activation = "relu"})});
  (void)model.quantize("int8", {.verbose = false});
  const std::string text = model.ir(Stage::kernel, {.program = Program::predict, .batch_size = 8});
  size_t launches = 0;
  for (size_t at = text.find("halftone.launch "); at != text.npos; at = text.find("halftone.launch ", at + 1))
    ++launches;
  INFO(text);
  CHECK(launches == 2);
  CHECK_THAT(text, Contains("halftone.kernel row") && Contains("halftone.kernel matmul") &&
                       Contains("tensor<64x32xi8>) -> tensor<8x32xi32>"));
}

TEST_CASE("A quantized policy that replaces a narrow one has scales in its own variable dtype, as in Keras") {
  const PolicyScope scope{DTypePolicy("bfloat16")};
  const layers::Dense dense(3);
  const layers::Embedding table(5, 4);
  (void)dense(Tensor::ones({2, 4}));
  (void)table(Tensor::of<int32_t>({1, 2}, {1, 2}));
  for (const Layer &layer : {Layer(dense), Layer(table)}) {
    layer.set_dtype_policy("int8_from_float32");
    for (const Variable &variable : layer.variables()) {
      INFO(variable.path());
      if (variable.name().ends_with("_scale"))
        CHECK(variable.dtype() == DType::float32);
      if (variable.name() == "bias")
        CHECK(variable.dtype() == DType::bfloat16);
    }
    CHECK(layer.variables().size() >= 2);
  }
}

TEST_CASE("float8 after LoRA is refused by a layer and left out by a model, which both name LoRA") {
  const Sequential model({Input({4}), Dense(4, {.name = "a"}), EinsumDense("ab,bc->ac", {2}, {.name = "b"})},
                         {.name = "s"});
  for (const char *name : {"a", "b"}) {
    const Layer layer = model.get_layer(name);
    layer.enable_lora(1);
    CHECK_THROWS_WITH(layer.quantize("float8"), Contains("LoRA is not supported under float8 quantization"));
    CHECK_THROWS_WITH(layer.set_dtype_policy("float8_from_float32"),
                      Contains("LoRA is not supported under float8 quantization"));
  }
  const QuantizationReport report = model.quantize("float8", {.verbose = false});
  CHECK(report.quantized.empty());
  REQUIRE(report.skipped.size() == 2);
  for (const QuantizationReport::Skipped &each : report.skipped)
    CHECK_THAT(each.reason, Contains("LoRA is not supported under float8 quantization"));
}
