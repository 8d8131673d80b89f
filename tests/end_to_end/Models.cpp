// Typical user models: several inputs and outputs, shared layers, sample and class weights, schedules.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

Tensor ramp(const Shape &shape, float step = 0.05f) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((i * 29) % 37) * step - 0.9f;
  return Tensor(std::move(data), shape);
}
std::vector<float> floats(const Tensor &tensor) { return tensor.astype(float32).to_vector<float>(); }
std::vector<std::string> keysOf(const Logs &logs) {
  std::vector<std::string> keys;
  for (const auto &[name, value] : logs)
    keys.push_back(name);
  return keys;
}

struct Residual { // calls a layer only in training, so that training builds it
  Dense inner{4};
  Dropout dropout{0.5};
  Value call(const Value &x, const CallContext &context) const {
    Value y = inner(x);
    return x + (context.training() ? dropout(y) : y);
  }
};
/// Two inputs through one shared layer, and two outputs.
Model twoByTwo() {
  set_random_seed(7);
  Input left({4}, {.name = "left"}), right({4}, {.name = "right"});
  Dense shared(8, {.activation = "relu", .name = "shared"});
  Value h = Add()({shared(left), shared(right)});
  return Model({left, right}, {Dense(1, {.name = "amount"})(h), Dense(3, {.name = "kind"})(h)}, {.name = "tickets"});
}
Sequential small() {
  set_random_seed(5);
  return Sequential({Input({4}), Dense(6, {.activation = "tanh"}), Dense(3)});
}

} // namespace

TEST_CASE("a model with several inputs and outputs and a shared layer trains with data, losses and metrics by name") {
  for (const char *policy : {"float32", "mixed_float16"}) {
    INFO(policy);
    PolicyScope scope(policy);
    Model model = twoByTwo();
    CHECK(model.variables().size() == 6); // the variables of the shared layer count once
    model.compile({.optimizer = optimizers::Adam(0.02),
                   .loss = {{"kind", losses::SparseCategoricalCrossentropy({.from_logits = true})}, {"amount", "mse"}},
                   .loss_weights = {0.5, 2.0},
                   .metrics = {{"amount", {"mae"}}, {"kind", {"accuracy"}}}});
    Tensor left = ramp({32, 4}), right = ramp({32, 4}, 0.04f), amount = ramp({32, 1});
    std::vector<int32_t> kinds;
    for (float value : floats(amount))
      kinds.push_back(value < -0.3f ? 0 : value < 0.3f ? 1 : 2);
    Tensor kind(kinds, {32});
    History history = model.fit({{"right", right}, {"left", left}}, {{"kind", kind}, {"amount", amount}},
                                {.batch_size = 8, .epochs = 20, .verbose = 0});
    CHECK(history["loss"].back() < 0.7 * history["loss"].front());
    Logs logs = model.evaluate({left, right}, {amount, kind}, {.verbose = 0});
    CHECK(keysOf(logs) == std::vector<std::string>{"amount_loss", "amount_mae", "kind_accuracy", "kind_loss", "loss"});
    CHECK(logs["loss"] == Approx(0.5 * logs["amount_loss"] + 2.0 * logs["kind_loss"]).epsilon(1e-4));
    Tensors out = model.predict_all({left, right}, {.verbose = 0});
    CHECK(out["kind"].shape() == Shape{32, 3});
    CHECK(floats(out[0]) == floats(out["amount"]));
    CHECK_THROWS_WITH(model.predict({left, right}, {.verbose = 0}), Contains("predict_all"));
    CHECK_THROWS_WITH(model.predict_all({left}, {.verbose = 0}), Contains("expects 2 inputs"));
  }
}

TEST_CASE("A layer made in training only finds its path in a functional model") {
  Input x({4});
  Model model({x}, {Dense(1)(Custom(Residual{}, {.name = "residual"})(x))}, {.name = "a_model_with_a_long_name"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK_NOTHROW(model.fit(ramp({8, 4}), ramp({8, 1}), {.verbose = 0}));
  Layer residual = model.get_layer("residual");
  REQUIRE(residual.layers().size() == 2);
  CHECK(residual.layers()[0].path() == "residual/" + residual.layers()[0].name());
  CHECK(residual.layers()[1].path() == "residual/" + residual.layers()[1].name());
}

TEST_CASE("class_weight is sample_weight by class; weighted metrics see it, others do not") {
  Tensor x = ramp({12, 4}), y = Tensor::of<int32_t>({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}, {12});
  std::vector<float> weights;
  for (int i = 0; i < 12; ++i)
    weights.push_back(i % 3 == 0 ? 1.0f : i % 3 == 1 ? 0.25f : 3.0f);
  auto trained = [&](const FitArgs &args) {
    Sequential model = small();
    model.compile(
        {.optimizer = "adam",
         .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
         .metrics = {"accuracy"},
         .weighted_metrics = {metrics::SparseCategoricalCrossentropy({.name = "weighted", .from_logits = true})}});
    FitArgs all = args;
    all.batch_size = 5;
    all.epochs = 2;
    all.verbose = 0;
    all.shuffle = false;
    History history = model.fit(x, y, all);
    std::vector<double> result = history["loss"];
    for (const char *key : {"accuracy", "weighted"})
      result.push_back(history[key].back());
    for (const Tensor &weight : model.get_weights())
      for (float value : floats(weight))
        result.push_back(value);
    return result;
  };
  std::vector<double> byClass = trained({.class_weight = {{0, 1.0}, {1, 0.25}, {2, 3.0}}});
  CHECK(byClass == trained({.sample_weight = Tensor(weights, {12})}));
  CHECK(byClass != trained({}));
  Sequential model = small();
  model.compile({.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  CHECK_THROWS_WITH(model.fit(x, y, {.verbose = 0, .class_weight = {{0, 2.0}}, .sample_weight = Tensor(weights, {12})}),
                    Contains("at the same time"));
  CHECK_THROWS_AS(model.fit(x, y, {.verbose = 0, .sample_weight = Tensor({1, 2}, {2})}), Error);
}

TEST_CASE("class_weight with several outputs weighs those with integer targets") {
  Tensor x = ramp({6, 4}), amount = ramp({6, 1}), kind = Tensor::of<int32_t>({0, 1, 2, 0, 1, 2}, {6});
  auto trained = [&](const BatchArgs &args, const Tensor &kinds) {
    set_random_seed(3);
    Input input({4});
    Model model({input}, {layers::Dense(1, {.name = "amount"})(input), layers::Dense(3, {.name = "kind"})(input)});
    model.compile(
        {.optimizer = "sgd",
         .loss = {{"amount", "mse"}, {"kind", losses::SparseCategoricalCrossentropy({.from_logits = true})}}});
    model.train_on_batch(x, {{"kind", kinds}, {"amount", amount}}, args);
    std::vector<float> result;
    for (const Tensor &weight : model.get_weights())
      for (float value : floats(weight))
        result.push_back(value);
    return result;
  };
  std::vector<float> weights{1, 0.25, 3, 1, 0.25, 3};
  std::vector<float> byClass = trained({.class_weight = {{1, 0.25}, {2, 3.0}}}, kind);
  CHECK(byClass == trained({.sample_weight = {Tensor::ones({6}), Tensor(weights, {6})}}, kind));
  CHECK(byClass != trained({}, kind));
  CHECK_THROWS_WITH(trained({.class_weight = {{1, 2.0}}}, kind.astype(float32)), Contains("integer targets"));
}

TEST_CASE("fit honours initial_epoch, validation_freq, validation_split and steps_per_epoch") {
  Sequential model = small();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  Tensor x = ramp({20, 4}), y = ramp({20, 3});
  History history = model.fit(
      x, y,
      {.batch_size = 4, .epochs = 7, .verbose = 0, .validation_split = 0.2, .initial_epoch = 2, .validation_freq = 2});
  CHECK(history.epoch() == std::vector<int64_t>{2, 3, 4, 5, 6});
  CHECK(history["loss"].size() == 5);
  CHECK(history["val_loss"].size() == 2); // after epochs 4 and 6
  CHECK(model.optimizer().iterations() == 5 * 4);
  model.fit(x, y, {.batch_size = 4, .verbose = 0, .steps_per_epoch = 2});
  CHECK(model.optimizer().iterations() == 22);
  CHECK(model.fit(x, y, {.epochs = 2, .verbose = 0, .initial_epoch = 2}).epoch().empty());
}

TEST_CASE("Regularizers are in the loss, and pull on weights") {
  Sequential model({Input({2}), Dense(1, {.use_bias = false,
                                          .kernel_initializer = initializers::Constant(2),
                                          .kernel_regularizer = regularizers::L2(0.25)})});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
  Tensor x = Tensor::zeros({4, 2}), y = Tensor::zeros({4, 1});
  History history = model.fit(x, y, {.batch_size = 4, .epochs = 3, .verbose = 0});
  for (int i = 0; i < 3; ++i) { // the loss is 0.25 * 2 * w^2; each step shrinks w by 5%
    double w = 2 * std::pow(0.95, i);
    CHECK(history["loss"][static_cast<size_t>(i)] == Approx(0.5 * w * w));
  }
}

TEST_CASE("Dropout: the share, the scale, and masks that follow the seed") {
  Tensor x = Tensor::ones({100, 1000});
  for (double rate : {0.1, 0.5}) {
    Dropout layer(rate, {.seed = 3});
    CHECK(floats(layer(x)) == floats(x));
    std::vector<float> first = floats(layer(x, {.training = true})), second = floats(layer(x, {.training = true}));
    double kept = 0;
    for (float value : first) {
      CHECK((value == 0.0f || value == Approx(1.0 / (1.0 - rate))));
      kept += value != 0.0f ? 1e-5 : 0.0;
    }
    CHECK(kept == Approx(1.0 - rate).margin(0.006));
    CHECK(first != second);
    Dropout again(rate, {.seed = 3});
    CHECK(floats(again(x, {.training = true})) == first);
    CHECK(floats(Dropout(rate, {.seed = 4})(x, {.training = true})) != first);
  }
  // A layer that is called twice in a model draws twice.
  Input input({64});
  Dropout shared(0.5, {.seed = 1});
  Model model({input}, {shared(input), shared(input)});
  auto run = jit([=](const Value &v) { return model.outputs({v}, {.training = true}); });
  Tensors out = run(Tensor::ones({32, 64}));
  CHECK(floats(out[0]) != floats(out[1]));
}

TEST_CASE("Training follows set_random_seed") {
  auto trained = [](int64_t seed) {
    set_random_seed(seed);
    Sequential model({Input({4}), Dense(16, {.activation = "relu"}), Dropout(0.3), GaussianNoise(0.1), Dense(1)});
    model.compile({.optimizer = "adam", .loss = "mse"});
    model.fit(ramp({24, 4}), ramp({24, 1}), {.batch_size = 5, .epochs = 3, .verbose = 0});
    return floats(model.get_weights()[0]);
  };
  CHECK(trained(1) == trained(1));
  CHECK(trained(1) != trained(2));
}

TEST_CASE("Weights move between models; a list that does not fit changes nothing") {
  Sequential a = small(), b({Input({4}), Dense(6, {.activation = "tanh"}), Dense(3)});
  Tensor x = ramp({5, 4});
  CHECK(floats(a.predict(x, {.verbose = 0})) != floats(b.predict(x, {.verbose = 0})));
  b.set_weights(a.get_weights());
  CHECK(floats(a.predict(x, {.verbose = 0})) == floats(b.predict(x, {.verbose = 0})));
  std::vector<Tensor> wrong = a.get_weights(), before = b.get_weights();
  wrong[3] = Tensor::ones({4});
  wrong[0] = Tensor::zeros({4, 6});
  CHECK_THROWS_WITH(b.set_weights(wrong), Contains("not compatible"));
  wrong.pop_back();
  CHECK_THROWS_WITH(b.set_weights(wrong), Contains("expecting 4 weights"));
  CHECK(floats(b.get_weights()[0]) == floats(before[0]));
}

TEST_CASE("A custom loop is train_on_batch, for every batch size") {
  for (const char *policy : {"float32", "mixed_float16"}) {
    PolicyScope scope(policy);
    Sequential a = small(), b = small();
    CompileArgs args{.optimizer = optimizers::Adam(0.01), .loss = "mse"};
    a.compile(args);
    Optimizer optimizer = optimizers::Adam(0.01);
    if (a.loss_scale_optimizer())
      optimizer = optimizers::LossScaleOptimizer(optimizer);
    Loss mse("mse");
    auto step = jit([=](const Value &x, const Value &y) {
      Value loss = mse(y, b(x, {.training = true}));
      optimizer.minimize(loss, b.trainable_variables());
      return loss;
    });
    for (int64_t rows : {8, 3, 8, 1}) {
      Tensor x = ramp({rows, 4}), y = ramp({rows, 3});
      double loss = a.train_on_batch(x, y)["loss"];
      CHECK(static_cast<double>(step(x, y).item<float>()) == Approx(loss).epsilon(1e-5));
    }
    CHECK(optimizer.iterations() == 4);
    std::vector<Tensor> wa = a.get_weights(), wb = b.get_weights();
    for (size_t i = 0; i < wa.size(); ++i)
      for (size_t j = 0; j < floats(wa[i]).size(); ++j)
        CHECK(floats(wa[i])[j] == Approx(floats(wb[i])[j]).epsilon(1e-5));
  }
}

TEST_CASE("Gradient accumulation and moving averages in fit") {
  auto model = [](const optimizers::SGDArgs &args) {
    Sequential m({Input({2}), Dense(1, {.kernel_initializer = "ones"})});
    m.compile({.optimizer = optimizers::SGD(0.1, args), .loss = "mse"});
    return m;
  };
  Tensor x = ramp({8, 2}), y = ramp({8, 1});
  Sequential halves = model({.gradient_accumulation_steps = 2}), whole = model({});
  halves.fit(x, y, {.batch_size = 4, .epochs = 3, .verbose = 0, .shuffle = false});
  whole.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false});
  for (size_t i = 0; i < 2; ++i)
    CHECK(floats(halves.get_weights()[0])[i] == Approx(floats(whole.get_weights()[0])[i]).epsilon(1e-5));
  CHECK(halves.optimizer().iterations() == 3);
  Sequential averaged = model({.use_ema = true, .ema_momentum = 0.5});
  averaged.fit(x, y, {.batch_size = 4, .verbose = 0, .shuffle = false});
  Variable average = averaged.optimizer().variables()[2];
  CHECK(floats(averaged.get_weights()[0]) == floats(average.value())); // fit ends with the averages as weights
}
