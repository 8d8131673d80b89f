// Keras's own tests of quantized layers and models, by their ids in the list of acceptance checks.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/QuantizedOps.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/RecordedJson.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

struct Check {
  const char *id;
  std::function<void()> run;
};

Tensor wave(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = std::sin(static_cast<float>(i) * 0.7f);
  return Tensor(std::move(data), shape);
}
Dense builtDense(int64_t units, int64_t inputs, const DenseArgs &args = {}) {
  Dense layer(units, args);
  (void)layer(wave({2, inputs}));
  return layer;
}
Model twoDense() {
  const Input input({4});
  return Model({input}, {Dense(3)(Dense(5)(input))});
}
std::string quantizing(const Layer &layer, const char *mode) {
  return errorOf([&] { (void)layer.quantize(mode, {.verbose = false}); });
}

const Check checks[] = {
    {"A-108",
     [] {
       for (const Layer &layer : {Layer(Dense(2)), Layer(EinsumDense("ab,bc->ac", {2})), Layer(Embedding(3, 2))})
         for (const char *mode : {"int8", "int4", "float8"})
           CHECK_THAT(quantizing(layer, mode), Contains("ValueError: Cannot quantize a layer that isn't yet built."));
     }},
    {"A-109", // a user's class, even one derived from a Dense
     [] {
       struct Wrapped {
         Dense dense{3, {.name = "dense"}};
         Value call(const Value &x) const { return dense(x); }
       };
       const Custom layer(Wrapped{}, {.name = "wrapped"});
       (void)layer(wave({2, 4}));
       for (const char *mode : {"int8", "int4", "float8"}) {
         CHECK_THAT(quantizing(layer, mode), Contains("NotImplementedError") && Contains("`quantize` method"));
         CHECK(layer.self().dense.kernel().dtype() == float32);
       }
       CHECK(quantizing(layer.self().dense, "int8") == "");
     }},
    {"A-110",
     [] {
       const Dense made = builtDense(3, 4, {.dtype = "int8_from_float32"}), quantized = builtDense(3, 4);
       (void)quantized.quantize("int8");
       for (const char *mode : {"int8", "int4", "float8"})
         for (const Dense &layer : {made, quantized})
           CHECK_THAT(quantizing(layer, mode), Contains("is already quantized with dtype_policy="));
     }},
    {"A-112",
     [] {
       const Dense layer = builtDense(3, 4);
       CHECK_THAT(quantizing(layer, "int7"), Contains("ValueError: Invalid quantization mode."));
       CHECK(layer.dtype_policy().name() == "float32");
     }},
    {"A-113",
     [] {
       for (const auto &[mode, trainable, others] :
            {std::tuple("int8", 1, 2), std::tuple("int4", 1, 2), std::tuple("float8", 8, 0)}) {
         const Dense layer(5, {.dtype = std::string(mode) + "_from_mixed_bfloat16"});
         (void)layer(wave({2, 3, 4}));
         CHECK(layer.trainable_variables().size() == static_cast<size_t>(trainable));
         CHECK(layer.non_trainable_variables().size() == static_cast<size_t>(others));
       }
       for (const char *policy : {"int8_from_mixed_bfloat16", "int4_from_mixed_bfloat16"}) {
         const Embedding layer(4, 3, {.dtype = policy});
         (void)layer(Tensor::of({1, 2}, {1, 2}));
         CHECK(layer.trainable_variables().empty());
         CHECK(layer.non_trainable_variables().size() == 2);
       }
     }},
    {"A-114",
     [] {
       const Embedding layer(4, 3);
       (void)layer(Tensor::of({1, 2}, {1, 2}));
       CHECK_THAT(quantizing(layer, "float8"),
                  Contains("NotImplementedError: Invalid quantization mode. Expected one of "
                           "('int8', 'int4'). Received: quantization_mode=float8"));
       CHECK_THAT(quantizing(layer, "gptq"), Contains("Error"));
       CHECK(layer.get_config().dump().find("\"quantization_config\":null") != std::string::npos);
     }},
    {"A-116",
     [] {
       const Sequential model({Input({8}), Dense(16)});
       (void)model.quantize("float8", {.verbose = false});
       CHECK(model.trainable_variables().size() == 8);
       CHECK(model.non_trainable_variables().empty());
       const Tensor x = wave({4, 8});
       const Layer layer = model.layers()[0];
       CHECK(numbers(layer(x, {.training = true})) == numbers(layer(x, {.training = false})));
       model.compile({.optimizer = "sgd", .loss = "mse"});
       model.fit(x, wave({4, 16}), {.epochs = 2, .verbose = 0});
       const TemporaryFolder folder;
       model.save(folder / "model.keras");
       CHECK(numbers(load_model(folder / "model.keras").predict(x, {.verbose = 0})) ==
             numbers(model.predict(x, {.verbose = 0})));
     }},
    {"A-117", // nothing here calibrates, so no layer is ever saved uncalibrated
     [] {
       for (const char *mode : {"gptq", "awq"}) {
         const Dense layer = builtDense(16, 8);
         CHECK_THAT(quantizing(layer, mode), Contains("ValueError") && Contains("calibration data"));
         CHECK(layer.weights().size() == 2);
         CHECK(layer.dtype_policy().name() == "float32");
       }
     }},
    {"A-118",
     [] {
       for (const auto &[block, shape] :
            {std::pair(std::optional<int64_t>(64), Shape{4, 64}), std::pair(std::optional<int64_t>(128), Shape{2, 64}),
             std::pair(std::optional<int64_t>(), Shape{64}), std::pair(std::optional<int64_t>(-1), Shape{64})}) {
         const Dense layer = builtDense(64, 256);
         const Tensor x = wave({2, 256});
         const std::vector<double> before = numbers(layer(x));
         (void)layer.quantize("int4", {.config = quantizers::Int4QuantizationConfig(block)});
         CHECK(layer.weights()[2].name() == "kernel_scale");
         CHECK(layer.weights()[2].shape() == shape);
         const std::vector<double> after = numbers(layer(x));
         double squares = 0;
         for (size_t i = 0; i < before.size(); ++i)
           squares += (after[i] - before[i]) * (after[i] - before[i]);
         CHECK(squares / static_cast<double>(before.size()) < 0.01);
       }
     }},
    {"A-120",
     [] {
       const auto reading = [](const std::string &className, const std::string &config) {
         return errorOf([&] {
           (void)layers::deserialize(Config::parse(R"({"class_name": "Dense", "config": {"units": 2, )"
                                                   R"("quantization_config": {"class_name": ")" +
                                                   className + R"(", "config": )" + config + "}}}"));
         });
       };
       const char *quantizer = R"({"class_name": "AbsMaxQuantizer", "config": {"value_range": [-127, 127]}})";
       const std::string weights = std::string(R"({"weight_quantizer": )") + quantizer;
       CHECK_THAT(reading("Int4QuantizationConfig", weights + R"(, "block_size": 128})"), Contains("weight_quantizer"));
       CHECK_THAT(reading("Int4QuantizationConfig", weights + R"(, "block_size": null})"),
                  Contains("weight_quantizer"));
       CHECK_THAT(reading("Int8QuantizationConfig", weights + "}"), Contains("weight_quantizer"));
       CHECK_THAT(errorOf([] { quantizers::Int4QuantizationConfig(128, true); }), Contains("sub-channel quantization"));
       const Dense layer = builtDense(3, 4);
       CHECK_THAT(errorOf([&] { (void)layer.quantize("int4", {.config = quantizers::Int8QuantizationConfig()}); }),
                  Contains("Contradictory arguments"));
       CHECK_THAT(quantizing(layer, "invalid_mode"), Contains("Invalid quantization mode"));
       CHECK_THAT(quantizing(layer, "gptq"), Contains("must pass a `GPTQConfig`"));
     }},
    {"A-121",
     [] {
       for (const DType dtype : {float32, bfloat16, float16}) {
         const Tensor x = wave({3, 4, 5}).astype(dtype);
         const auto quantized = jit([](const Value &at) {
           const detail::QuantizedValue made = detail::absMaxQuantized(at, {2});
           return Values{made.values, made.scale};
         });
         const Tensors found = quantized(x);
         CHECK(found[0].dtype() == int8);
         CHECK(found[1].dtype() == dtype);
         CHECK(found[1].shape() == Shape{3, 4, 1});
         const std::vector<double> values = numbers(found[0]), scales = numbers(found[1]), floats = numbers(x);
         double squares = 0;
         for (size_t i = 0; i < values.size(); ++i) {
           CHECK(std::abs(values[i]) <= 127);
           squares += std::pow(values[i] / scales[i / 5] - floats[i], 2);
         }
         CHECK(std::sqrt(squares / 60) < 0.1);
       }
     }},
    {"A-122",
     [] {
       const Dense layer(1, {.use_bias = false, .dtype = QuantizedFloat8DTypePolicy("float8", "float32", 1)});
       const Sequential model({Input({2}), layer});
       layer.weights()[1].assign(Tensor::full({}, 4.0)); // inputs_scale
       layer.weights()[2].assign(Tensor::full({1}, 3.0));
       model.compile({.optimizer = "sgd", .loss = "mse"});
       (void)model.train_on_batch(wave({1, 2}), Tensor::zeros({1, 1}));
       CHECK(numbers(layer.weights()[1].value())[0] == Approx(0.0066964286).epsilon(1e-7));
     }},
    {"A-124",
     [] {
       for (const auto &[mode, count] : {std::pair("int8", size_t{6}), std::pair("float8", size_t{16})}) {
         const Model model = twoDense();
         (void)model.quantize(mode, {.verbose = false});
         CHECK(model.variables().size() == count);
         for (const Layer &layer : model.layers())
           if (layer.class_name() == "Dense")
             CHECK(layer.dtype_policy().name() == std::string(mode) + "_from_float32");
       }
     }},
    {"A-125",
     [] {
       const auto quantizedWith = [](const QuantizeFilter &filter) {
         const Sequential model(
             {Input({4}), Dense(3, {.name = "dense_1"}), Dense(3, {.name = "dense_2"}), Dense(2, {.name = "output"})});
         (void)model.quantize("int8", {.filters = filter, .verbose = false});
         std::vector<std::string> names;
         for (const Layer &layer : model.layers())
           if (layer.dtype_policy().name() == "int8_from_float32")
             names.push_back(layer.name());
         return names;
       };
       using Names = std::vector<std::string>;
       CHECK(quantizedWith("dense_1") == Names{"dense_1"});
       CHECK(quantizedWith({"dense_1", "output"}) == Names{"dense_1", "output"});
       CHECK(quantizedWith([](const Layer &layer) { return layer.name() == "dense_2"; }) == Names{"dense_2"});
     }},
    {"A-126",
     [] {
       CHECK_THAT(quantizing(Sequential({Dense(2)}), "int8"), Contains("ValueError") && Contains("isn't yet built"));
       CHECK_THAT(quantizing(twoDense(), "abc"), Contains("ValueError: Invalid quantization mode. Expected one of"));
     }},
    {"A-128",
     [] {
       const auto sequential = [](int64_t units, bool isLonger) {
         std::vector<Layer> layers{Input({4}), Dense(5), Dense(units)};
         if (isLonger)
           layers.emplace_back(Dense(2));
         return Sequential(layers);
       };
       const TemporaryFolder folder;
       const Sequential saved = sequential(3, false), wider = sequential(6, false), longer = sequential(3, true);
       saved.save(folder / "net.keras");
       saved.save_weights(folder / "net.weights.h5");
       const std::string file = folder / "net.weights.h5";
       const std::vector<double> own = numbers(wider.layers()[1].weights()[0].value());
       CHECK_THAT(errorOf([&] { wider.load_weights(file); }), Contains("ValueError") && Contains("must match"));
       CHECK_THAT(errorOf([&] { longer.load_weights(file); }), Contains("received 0 variables"));
       const std::vector<double> first = numbers(saved.layers()[0].weights()[0].value());
       for (const Sequential &model : {wider, longer}) {
         CHECK(numbers(model.layers()[0].weights()[0].value()) != first);
         set_output([](std::string_view) {});
         model.load_weights(file, true);
         set_output({});
         CHECK(numbers(model.layers()[0].weights()[0].value()) == first);
       }
       CHECK(numbers(wider.layers()[1].weights()[0].value()) == own);
     }},
    {"B-15",
     [] {
       const Dense layer(2);
       const Tensor x = Tensor::of({1.0f, 2.0f, 3.0f, 0.1f, -0.2f, 0.3f}, {2, 3});
       (void)layer(x);
       layer.set_weights({Tensor::of({1.0f, -2.0f, 3.0f, 0.5f, -4.0f, 8.0f}, {3, 2}), Tensor::of({1.0f, -1.0f}, {2})});
       (void)layer.quantize("int8");
       CHECK(numbers(layer.kernel().value()) == std::vector<double>{32, -32, 95, 8, -127, 127});
       CHECK(numbers(layer.weights()[2].value()) == std::vector<double>{31.75, 15.875});
       CHECK(distance(numbers(layer(x)), {-3.9922504, 22.0119667, -.7007879, 1.0988288}) <= 2e-7);
     }},
    {"B-17",
     [] {
       const Dense layer = builtDense(1, 2);
       layer.set_weights({Tensor::of({1.0f, 2.0f}, {2, 1}), Tensor::zeros({1})});
       (void)layer.quantize("int4", {.config = quantizers::Int4QuantizationConfig(2)});
       CHECK(numbers(layer.kernel().value()) == std::vector<double>{7, 7}); // the high nibble is empty
       CHECK(numbers(layer.weights()[3].value()) == std::vector<double>{-8});
     }},
    {"B-19",
     [] {
       const Dense layer(1, {.use_bias = false, .dtype = QuantizedFloat8DTypePolicy("float8", "float32", 3)});
       const Sequential model({Input({2}), layer});
       layer.weights()[2].assign(Tensor::of({1.0f, 2.0f, 3.0f}, {3}));
       model.compile({.optimizer = "sgd", .loss = "mse"});
       (void)model.train_on_batch(Tensor::of({-10.0f, 3.0f}, {1, 2}), Tensor::zeros({1, 1}));
       CHECK(layer.weights()[2].name() == "inputs_amax_history");
       CHECK(numbers(layer.weights()[2].value()) == std::vector<double>{10, 3, 1});
       CHECK(numbers(layer.weights()[1].value()) == std::vector<double>{3.0f / 448.0f});
     }},
    {"B-21",
     [] {
       const Embedding layer(3, 4);
       const Tensor rows = Tensor::of({0, 2}, {2});
       (void)layer(rows);
       std::vector<float> table(12);
       for (size_t i = 0; i < table.size(); ++i)
         table[i] = static_cast<float>(i);
       layer.set_weights({Tensor(table, {3, 4})});
       (void)layer.quantize("int8");
       CHECK(numbers(layer.embeddings().value()) ==
             std::vector<double>{0, 42, 85, 127, 73, 91, 109, 127, 92, 104, 115, 127});
       CHECK(distance(numbers(layer(rows)), {0, .9921260, 2.0078740, 3, 7.9685035, 9.0078735, 9.9606295, 11}) <= 1e-7);
     }},
};

} // namespace

// policies 6, 10.7
TEST_CASE("Acceptance checks of quantized layers and models") {
  for (const Check &check : checks)
    DYNAMIC_SECTION(check.id) { check.run(); }
}
