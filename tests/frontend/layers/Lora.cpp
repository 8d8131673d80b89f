// LoRA compared with real Keras: weights, outputs, gradients, files, quantization; and calls that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Quantized.h"
#include <algorithm>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Variable variableOf(const Layer &layer, const std::string &name) {
  for (const Variable &each : layer.weights())
    if (each.name() == name)
      return each;
  FAIL("no variable " << name);
  return {};
}
Variable deltaOf(const Layer &layer, const char *suffix) {
  const bool isTable = layer.class_name() == "Embedding";
  return variableOf(layer, std::string(isTable ? "lora_embeddings_" : "lora_kernel_") + suffix);
}

void adapt(const Layer &layer, const Json &row) {
  LoraArgs args;
  if (!row.at("alpha").is_null())
    args.lora_alpha = row.at("alpha").get<double>();
  layer.enable_lora(row.at("rank").get<int64_t>(), args);
}

/// The layer of a row, quantized and adapted in the order of the row, with its a and b.
Layer adaptedLayer(const Json &row) {
  const Layer layer = builtLayer(row);
  if (row.at("first") == "lora")
    adapt(layer, row);
  if (!row.at("mode").is_null())
    (void)layer.quantize("", {.config = configOf(row)});
  if (row.at("first") == "quantize")
    adapt(layer, row);
  deltaOf(layer, "a").assign(tensorOf(row.at("a"), "float32"));
  deltaOf(layer, "b").assign(tensorOf(row.at("b"), "float32"));
  return layer;
}

double toleranceOf(const Json &row) {
  return row.at("config").at("dtype").at("config").value("name", "") == "mixed_bfloat16" ? 1.6e-2 : 3e-6;
}

void checkGradients(const Layer &layer, const Json &row) {
  const std::vector<Variable> trained = layer.trainable_variables();
  REQUIRE(trained.size() == row.at("gradients").size());
  const auto gradient = jit([&](const Value &x) {
    const Value loss = ops::sum(layer(x) * constant(tensorOf(row.at("cotangent"), "float32")));
    return Values(gradients(loss, trained));
  });
  const Tensors found = gradient(inputOf(row));
  for (size_t i = 0; i < trained.size(); ++i) {
    INFO(trained[i].name());
    CHECK(distance(numbers(found[i]), elementsOf(row.at("gradients").at(trained[i].name()))) <= toleranceOf(row));
  }
}

Sequential modelWith(const Layer &layer, const Json &row) {
  const DType dtype = layer.class_name() == "Embedding" ? int32 : float32;
  return Sequential({Input(Shape(row.at("input").get<std::vector<int64_t>>()), {.dtype = dtype}), layer});
}

/// Reads the file of an adapted layer into a layer that was never adapted: the file holds merged variables, as in
/// Keras.
void checkFile(const Layer &layer, const Json &row) {
  const TemporaryFolder folder;
  modelWith(layer, row).save_weights(folder / "it.weights.h5");
  const Layer plain = layerOf(row);
  const Sequential model = modelWith(plain, row);
  if (!row.at("mode").is_null())
    (void)plain.quantize("", {.config = configOf(row)});
  model.load_weights(folder / "it.weights.h5");
  const std::vector<Variable> found = plain.impl()->weights; // the order in Keras's file
  REQUIRE(found.size() == row.at("saved").size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("saved " << found[i].name());
    const std::vector<double> saved = elementsOf(row.at("saved")[i].at("value"));
    CHECK(distance(numbers(found[i]), saved) <= (found[i].dtype() == int8 ? 0.0 : toleranceOf(row)));
  }
}

Dense builtDense(const DenseArgs &args = {}) {
  const Dense layer(3, args);
  (void)layer(Tensor::ones({2, 4}));
  return layer;
}
std::string adapting(const Layer &layer, int64_t rank = 2) {
  return errorOf([&] { layer.enable_lora(rank); });
}

} // namespace

// policies 6.15
TEST_CASE("Layers with LoRA compute, train and are saved as Keras's") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("lora.jsonl")) {
    const Json row = Json::parse(line);
    INFO(row.at("layer") << " " << row.at("config").value("equation", "") << " " << row.at("mode") << " block "
                         << row.at("block") << " activations " << row.at("activations") << ", first "
                         << row.at("first"));
    const Layer layer = adaptedLayer(row);
    const std::vector<Variable> weights = layer.weights();
    REQUIRE(weights.size() == row.at("weights").size());
    for (const Json &each : row.at("weights")) {
      const Variable found = variableOf(layer, each.at("name"));
      CHECK(found.trainable() == each.at("trainable").get<bool>());
      CHECK(name(found.dtype()) == each.at("dtype").get<std::string>());
      CHECK(found.shape() == Shape(each.at("shape").get<std::vector<int64_t>>()));
    }
    CHECK(distance(numbers(layer(inputOf(row))), elementsOf(row.at("output"))) <= toleranceOf(row));
    const Config config = layer.get_config();
    CHECK(config.get_int("lora_rank") == row.at("lora_rank").get<int64_t>());
    CHECK(config.get_double("lora_alpha") == row.at("lora_alpha").get<double>());
    CHECK(layers::deserialize(layers::serialize(layer)).get_config().dump() == config.dump());
    checkGradients(layer, row);
    checkFile(layer, row);
    ++rows;
  }
  CHECK(rows > 70);
}

// policies 6.15
TEST_CASE("A layer with the argument lora_rank is adapted when it is built, with alpha as its arguments say") {
  const Dense layer = builtDense({.lora_rank = 2, .lora_alpha = 8.0}), plain = builtDense();
  CHECK(layer.lora_kernel_a().shape() == Shape{4, 2});
  CHECK(layer.lora_kernel_b().shape() == Shape{2, 3});
  CHECK(numbers(layer.lora_kernel_b().value()) == std::vector<double>(6, 0.0));
  CHECK(layer.trainable_variables().size() == 3);
  layer.lora_kernel_a().assign(Tensor::ones({4, 2}));
  layer.lora_kernel_b().assign(Tensor::ones({2, 3}));
  plain.set_weights({layer.kernel().value(), layer.bias().value()});
  const Tensor x = Tensor::ones({1, 4});
  const std::vector<double> with = numbers(layer(x)), without = numbers(plain(x));
  for (size_t i = 0; i < with.size(); ++i)
    CHECK(with[i] - without[i] == Approx(8.0 / 2 * 2 * 4));
  const Dense drawn = builtDense();
  drawn.enable_lora(1, {.a_initializer = "ones", .b_initializer = initializers::Constant(2.0)});
  CHECK(numbers(drawn.lora_kernel_a().value()) == std::vector<double>(4, 1.0));
  CHECK(numbers(drawn.lora_kernel_b().value()) == std::vector<double>(3, 2.0));
  CHECK(Dense(3, {.lora_rank = 2}).get_config().get_double("lora_alpha") == 2.0);
  CHECK_FALSE(Dense(3, {.lora_alpha = 2.0}).get_config().contains("lora_alpha"));
}

// policies 6.15
TEST_CASE("A model with LoRA trains a and b alone, and a loaded one goes on") {
  set_random_seed(4);
  const Dense hidden(8, {.activation = "relu", .name = "hidden"}), out(2, {.name = "out"});
  const Sequential model({Input({4}), hidden, out});
  hidden.enable_lora(2, {.lora_alpha = 4.0});
  out.set_trainable(false);
  model.compile({.optimizer = optimizers::Adam(0.05), .loss = "mse"});
  std::vector<float> data(32);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = std::sin(static_cast<float>(i));
  const Tensor x(std::move(data), {8, 4}), y = Tensor::ones({8, 2});
  const std::vector<double> kernel = numbers(hidden.kernel().value());
  const double before = model.evaluate(x, y, {.verbose = 0})["loss"];
  model.fit(x, y, {.epochs = 5, .verbose = 0});
  const double after = model.evaluate(x, y, {.verbose = 0})["loss"];
  CHECK(after < before);
  CHECK(numbers(hidden.kernel().value()) == kernel);
  const TemporaryFolder folder;
  model.save(folder / "model.keras");
  const Model again = load_model(folder / "model.keras");
  const std::vector<double> b = numbers(variableOf(again.get_layer("hidden"), "lora_kernel_b").value());
  CHECK(b == std::vector<double>(b.size(), 0.0));
  const std::vector<double> a = numbers(variableOf(again.get_layer("hidden"), "lora_kernel_a").value());
  CHECK(std::ranges::any_of(a, [](double each) { return each != 0.0; }));
  CHECK(distance(numbers(again.predict(x, {.verbose = 0})), numbers(model.predict(x, {.verbose = 0}))) <= 1e-6);
  again.fit(x, y, {.epochs = 5, .verbose = 0});
  CHECK(again.evaluate(x, y, {.verbose = 0})["loss"] < after);
  model.save_weights(folder / "it.safetensors"); // stores a and b separately
  hidden.lora_kernel_b().assign(Tensor::zeros({2, 8}));
  model.load_weights(folder / "it.safetensors");
  CHECK(model.evaluate(x, y, {.verbose = 0})["loss"] == Approx(after));
}

// policies 6.15
TEST_CASE("LoRA computed by the interpreter and in strict numerics agrees with the compiled one") {
  size_t rows = 0;
  for (const std::string &line : recordedLines("lora.jsonl")) {
    const Json row = Json::parse(line);
    if (row.at("layer") == "Embedding" || row.at("rank") != 2)
      continue;
    INFO(row.at("layer") << " " << row.at("config").value("equation", "") << " " << row.at("mode") << " block "
                         << row.at("block"));
    const Layer layer = adaptedLayer(row);
    const auto output = [&](const std::vector<Value> &v) -> std::vector<Value> { return {layer(v[0])}; };
    const std::vector<double> compiled = numbers(layer(inputOf(row)));
    for (const Run run : {Run::interpreted, Run::strict})
      CHECK(distance(numbers(runOnce(run, {inputOf(row)}, output)[0]), compiled) <= toleranceOf(row));
    ++rows;
  }
  CHECK(rows > 20);
}

// policies 6.15
TEST_CASE("A call of enable_lora that cannot be is Keras's error and changes nothing") {
  CHECK_THAT(adapting(Dense(3)), Contains("ValueError: Cannot enable lora on a layer that isn't yet built."));
  CHECK_THAT(adapting(Dropout(0.5)), Contains("AttributeError: 'Dropout' object has no attribute 'enable_lora'"));
  const Dense layer = builtDense(), constrained = builtDense({.kernel_constraint = "non_neg"}),
              narrow = builtDense({.dtype = QuantizedFloat8DTypePolicy("float8", "float32")});
  CHECK_THAT(adapting(constrained), Contains("ValueError: Lora is incompatible with kernel constraints."));
  CHECK_THAT(adapting(narrow), Contains("NotImplementedError: LoRA is not supported under float8"));
  for (const int64_t rank : {0, -1})
    CHECK_THAT(adapting(layer, rank), Contains("ValueError: The rank of lora must be a positive integer."));
  CHECK(layer.weights().size() == 2);
  CHECK(layer.kernel().trainable());
  CHECK(constrained.weights().size() == 2);
  CHECK(narrow.trainable_variables().size() == 8);
  layer.enable_lora(1);
  CHECK_THAT(adapting(layer), Contains("ValueError: lora is already enabled."));
  CHECK_THAT(errorOf([&] { (void)layer.quantize("float8"); }),
             Contains("NotImplementedError: LoRA is not supported under float8"));
  CHECK(layer.weights().size() == 4);
  CHECK(layer.dtype_policy().name() == "float32");
  const Embedding table(3, 2, {.embeddings_constraint = "non_neg"});
  (void)table(Tensor::of({1}, {1}));
  CHECK_THAT(adapting(table), Contains("ValueError: Lora is incompatible with embeddings constraints."));
  CHECK_THAT(errorOf([] { (void)builtDense({.lora_rank = 0}); }), Contains("ValueError: The rank of lora"));
}

// policies 6.15
TEST_CASE("LoRA after compile() needs a new one; extents of 1 and shared layers are adapted once") {
  const Dense shared(1, {.name = "shared"});
  const Input input({1});
  const Model model({input}, {shared(shared(input))});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = Tensor::ones({1, 1}), y = Tensor::zeros({1, 1});
  (void)model.train_on_batch(x, y);
  shared.enable_lora(3);
  CHECK(model.trainable_variables().size() == 3);
  CHECK_THAT(errorOf([&] { (void)model.train_on_batch(x, y); }),
             Contains("ValueError: Unknown variable") && Contains("recreate a new optimizer"));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const double before = model.evaluate(x, y, {.verbose = 0})["loss"];
  for (int step = 0; step < 20; ++step)
    (void)model.train_on_batch(x, y);
  CHECK(model.evaluate(x, y, {.verbose = 0})["loss"] < before);
  (void)model.quantize("int8", {.verbose = false});
  CHECK(shared.kernel().dtype() == int8);
  CHECK(model.predict(x, {.verbose = 0}).shape() == Shape{1, 1});
}
