// Whole models with hooks: compared with real Keras, with own optimizers, several outputs, masks, frozen layers, files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace halftone;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::vector<float> floatsOf(const Tensor &tensor) { return tensor.astype(float32).to_vector<float>(); }
std::vector<std::vector<float>> weightsOf(const Model &model) {
  std::vector<std::vector<float>> all;
  for (const Tensor &weight : model.get_weights())
    all.push_back(floatsOf(weight));
  return all;
}
/// Numbers between -1 and 1 that repeat after some rows.
Tensor wave(const Shape &shape) {
  std::vector<float> x(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<float>(i * i % 37) + 0.3f * static_cast<float>(i));
  return Tensor(std::move(x), shape);
}

/// The model of record_steps.py.
struct Autoencoder {
  layers::Dense hidden{6, {.activation = "tanh", .kernel_regularizer = regularizers::L2(0.5), .name = "hidden"}};
  layers::Dense mean{2, {.name = "mean"}}, logVariance{2, {.name = "log_var"}};
  layers::Dense back{6, {.activation = "tanh", .name = "back"}}, image{8, {.name = "image"}};
  struct Code {
    Value mean, logVariance, image;
  };
  Code run(const Values &x) const {
    const Value h = hidden(x[0]), m = mean(h), v = logVariance(h);
    return {m, v, image(back(m + ops::exp(0.5 * v) * x[1]))};
  }
  Value call(const Values &x) const { return run(x).image; }
  Value compute_loss(const StepContext &step, const StepData &data, const Values &) const {
    const Code code = run(data.x);
    const Value reconstruction = ops::mean(ops::sum(ops::square(data.x[0] - code.image), 1));
    Value kl = -0.5 * (1 + code.logVariance - ops::square(code.mean) - ops::exp(code.logVariance));
    kl = ops::mean(ops::sum(kl, 1));
    step.report("kl", kl);
    return reconstruction + kl;
  }
};

void checkNear(const std::vector<double> &found, const std::vector<double> &expected, double roundings) {
  REQUIRE(found.size() == expected.size());
  double scale = 1e-3, furthest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    furthest = std::max(furthest, std::abs(found[i] - expected[i]));
  }
  INFO(furthest / scale << " of " << roundings);
  CHECK(furthest <= roundings * scale);
}
std::vector<double> wide(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }

} // namespace

// policies 13.8
TEST_CASE("A compute_loss() of its own trains as in real Keras, and is scaled under mixed_float16") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/steps.jsonl");
  size_t nets = 0, halved = 0;
  for (std::string line; std::getline(file, line); ++nets) {
    const Json net = Json::parse(line);
    const std::string policy = net["policy"];
    const double roundings = policy == "float32" ? 1e-5 : policy == "mixed_bfloat16" ? 0.04 : 0.006;
    for (const Numerics numerics : {Numerics::strict, Numerics::fast}) {
      INFO(policy << (numerics == Numerics::strict ? ", strict" : ", fast"));
      const PolicyScope scope(policy);
      const Model model(Autoencoder{}, {.name = "vae"});
      model.compile({.optimizer = optimizers::SGD(0.05, {.momentum = 0.9}), .numerics = numerics});
      const int64_t batch = net["batch"];
      const auto inputsOf = [&](const Json &step) {
        return Tensors{Tensor(step["x"][0].get<std::vector<float>>(), {batch, 8}),
                       Tensor(step["x"][1].get<std::vector<float>>(), {batch, 2})};
      };
      (void)model.test_on_batch(inputsOf(net["steps"][0]), {}); // builds it
      std::vector<Tensor> before;
      for (size_t i = 0; i < model.weights().size(); ++i) {
        const Variable weight = model.weights()[i];
        CHECK(weight.path() == net["weights"][i]["path"].get<std::string>());
        before.push_back(
            Tensor(net["weights"][i]["value"].get<std::vector<float>>(), weight.shape()).astype(weight.dtype()));
      }
      model.set_weights(before);
      for (const Json &step : net["steps"]) {
        const Logs logs = model.train_on_batch(inputsOf(step), {});
        checkNear({logs["loss"]}, {step["loss"].get<double>()}, roundings);
        CHECK(logs.contains("kl"));
        const auto scaled = model.loss_scale_optimizer();
        REQUIRE(scaled.has_value() == !step["scale"].is_null());
        if (scaled) {
          halved += scaled->state().last_fault.empty() ? 0 : 1;
          CHECK(scaled->state().scale == step["scale"].get<double>());
        }
      }
      CHECK(model.optimizer().iterations() == net["iterations"].get<int64_t>());
      checkNear({model.test_on_batch(inputsOf(net["steps"][0]), {})["loss"]}, {net["test"].get<double>()}, roundings);
      for (size_t i = 0; i < model.weights().size(); ++i)
        checkNear(wide(model.get_weights()[i]), net["after"][i].get<std::vector<double>>(), roundings);
    }
  }
  CHECK(nets == 4);
  CHECK(halved > 0);
}

namespace {

struct Gan {
  Model discriminator, generator;
  Optimizer ofDiscriminator, ofGenerator;
  losses::BinaryCrossentropy loss{{.from_logits = true}};

  Value call(const Value &z) const { return generator(z); }
  /// Updates both models, and returns the two losses.
  std::vector<Value> update(const Value &real) const {
    const int64_t rows = real.shape()[0];
    const Value z = constant(wave({rows, 3})), zeros = ops::zeros({rows, 1});
    const Value scores = discriminator(ops::concatenate({generator(z), real}, 0));
    const Value first = loss(ops::concatenate({ops::ones({rows, 1}), zeros}, 0), scores);
    ofDiscriminator.minimize(first, discriminator.trainable_variables());
    const Value second = loss(zeros, discriminator(generator(z)));
    ofGenerator.minimize(second, generator.trainable_variables());
    return {first, second};
  }
  void train_step(const StepContext &step, const StepData &data) const {
    const std::vector<Value> losses = update(data.x[0]);
    step.report("d_loss", losses[0]);
    step.report("g_loss", losses[1]);
  }
};
Gan gan(const std::string &policy) {
  using namespace layers;
  const PolicyScope scope(policy);
  set_random_seed(9);
  const auto optimizer = [&] {
    const Optimizer adam = optimizers::Adam(0.01);
    return policy == "mixed_float16" ? Optimizer(optimizers::LossScaleOptimizer(adam, {.initial_scale = 0x1p24}))
                                     : adam;
  };
  return {Sequential({Input({5}), Dense(8), LeakyReLU(0.2), Dense(1)}), Sequential({Input({3}), Dense(8), Dense(5)}),
          optimizer(), optimizer()};
}

} // namespace

// policies 13.8
TEST_CASE("A train_step() with two optimizers of its own gives the bits of a loop in jit()") {
  for (const std::string policy : {"float32", "mixed_bfloat16", "mixed_float16"}) {
    INFO(policy);
    const Gan stepped = gan(policy), looped = gan(policy);
    const PolicyScope scope(policy);
    const Model model(stepped, {.name = "gan"});
    model.compile({.numerics = Numerics::strict});
    const Tensor real = wave({24, 5});
    const History history = model.fit(real, {}, {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false});
    CHECK(history.keys() == std::vector<std::string>{"d_loss", "g_loss"});
    auto step = jit([&](const Value &x) { return Values(looped.update(x)); }, {.numerics = Numerics::strict});
    std::vector<double> means;
    for (int epoch = 0; epoch < 4; ++epoch) {
      means.push_back(0);
      for (int64_t batch = 0; batch < 3; ++batch)
        means.back() += step(real.slice(batch * 8, batch * 8 + 8))[0].astype(float64).item<double>() / 3;
    }
    for (size_t epoch = 0; epoch < 4; ++epoch)
      CHECK(history["d_loss"][epoch] == Approx(means[epoch]).epsilon(1e-5));
    CHECK(weightsOf(stepped.discriminator) == weightsOf(looped.discriminator));
    CHECK(weightsOf(stepped.generator) == weightsOf(looped.generator));
    CHECK(stepped.ofGenerator.iterations() == looped.ofGenerator.iterations());
    if (policy == "mixed_float16")
      CHECK(stepped.ofGenerator.iterations() < 12); // the first steps overflow
    CHECK(model.optimizer().iterations() == 0);     // never used
    // Both are children of the model, like members of a model in Keras.
    CHECK(model.weights().size() == 8);
    CHECK(model.predict(wave({2, 3}), {.verbose = 0}).shape() == Shape{2, 5});
    CHECK_THROWS_WITH(model.evaluate(real, {}, {.verbose = 0}), Contains("ValueError")); // call() takes noise
  }
}

namespace {

/// Two outputs of three tokens.
struct Tokens {
  layers::Embedding table{7, 4, {.mask_zero = true, .name = "table"}};
  layers::Dense first{2, {.name = "first"}}, second{1, {.name = "second"}};
  Tokens() { set_random_seed(3); }
  Values call(const Value &x) const {
    const Value h = table(x);
    return {first(h), second(h)};
  }
};
struct TokensStepped : Tokens {
  void train_step(const StepContext &step, const StepData &data) const {
    const Values predicted = step.call(data.x);
    step.minimize(step.compute_loss(data, predicted));
    step.update_metrics(data, predicted);
  }
};
struct TokensOwnLoss : Tokens {
  Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
    return step.compute_loss(data, predicted);
  }
};

struct Trained {
  std::vector<std::string> keys;
  std::vector<double> numbers;
  std::vector<std::vector<float>> weights;
  bool operator==(const Trained &) const = default;
};
template <class T> Trained trainedTokens(bool byName) {
  const Model model(T{}, {.name = "net"});
  const Loss labels = losses::SparseCategoricalCrossentropy({.from_logits = true});
  CompileArgs args{.optimizer = "sgd", .metrics = {{"output_0", {"accuracy"}}}, .numerics = Numerics::strict};
  args.loss = byName ? LossSpec({{"output_1", Loss("mse")}, {"output_0", labels}}) : LossSpec({labels, Loss("mse")});
  args.loss_weights = {0.5, 2.0};
  model.compile(args);
  const Tensor x(std::vector<int32_t>{1, 2, 0, 3, 0, 0, 5, 6, 1, 2, 2, 0, 4, 0, 0}, {5, 3});
  const Tensor first(std::vector<int32_t>{0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1}, {5, 3}),
      second = wave({5, 3, 1});
  const Tensor weight(std::vector<float>{1, 2, 0.5f, 1, 3}, {5});
  const Tensors y = byName ? Tensors{{"output_1", second}, {"output_0", first}} : Tensors{first, second};
  const History history = model.fit(
      x, y, {.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false, .sample_weight = {weight, weight}});
  Trained found{history.keys(), {}, weightsOf(model)};
  for (const std::string &key : found.keys)
    for (double value : history[key])
      found.numbers.push_back(value);
  for (const auto &[name, value] : model.evaluate(x, y, {.verbose = 0}))
    found.numbers.push_back(value);
  const Tensor wrong(std::vector<int32_t>(15, 2), {5, 3}); // not a valid class
  CHECK_THROWS_WITH(model.fit(x, {wrong, second}, {.verbose = 0}), Contains("label") && Contains("2"));
  CHECK_THROWS_WITH(model.train_on_batch(x, {wrong, second}), Contains("label") && Contains("2"));
  CHECK(weightsOf(model) == found.weights);
  return found;
}

} // namespace

TEST_CASE("Hooks see several outputs, masks, names and weights of samples as the built-in step") {
  for (const bool byName : {false, true}) {
    INFO(byName);
    const Trained expected = trainedTokens<Tokens>(byName);
    CHECK(expected.keys.size() == 4);
    CHECK(trainedTokens<TokensStepped>(byName) == expected);
    CHECK(trainedTokens<TokensOwnLoss>(byName) == expected);
  }
}

namespace {

/// A loss that calls layers that call() does not, one of them random, and has a variable of its own.
struct Critic {
  layers::Dense body{3, {.name = "body"}}, judge{1, {.name = "judge"}};
  layers::Dropout drop{0.5, {.seed = 3, .name = "drop"}};
  Variable seen{Tensor::zeros({}), {.trainable = false, .name = "seen"}};
  Value call(const Value &x) const { return body(x); }
  Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
    const Value again = step.call(data.x)[0];
    seen.assign(seen + ops::mean(data.x[0]));
    seen.assign(2.0 * seen);
    step.report("seen", seen);
    step.report("same", ops::mean(ops::abs(again - predicted[0])));
    step.report("dropped", ops::mean(ops::cast(ops::equal(drop(ops::ones_like(again)), 0.0f), float32)));
    return ops::mean(ops::square(judge(again)));
  }
};

} // namespace

TEST_CASE("Layers that only hooks call are children with paths, are trained, and have the step's training") {
  const Model model(Critic{}, {.name = "net"});
  model.compile({.optimizer = optimizers::SGD(0.1)});
  const Tensor x = wave({16, 4});
  const std::vector<float> all = floatsOf(x);
  const double meanOfX = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  const Logs first = model.train_on_batch(x, {}), second = model.train_on_batch(x, {});
  std::vector<std::string> paths;
  for (const Variable &weight : model.weights())
    paths.push_back(weight.path());
  CHECK(paths == std::vector<std::string>{"net/body/kernel", "net/body/bias", "net/judge/kernel", "net/judge/bias"});
  CHECK(second["loss"] < first["loss"]);
  CHECK(first["same"] == 0.0);
  CHECK(first["seen"] == Approx(2 * meanOfX).margin(1e-6));
  CHECK(second["seen"] == Approx(2 * (2 * meanOfX + meanOfX)).margin(1e-6));
  CHECK((first["dropped"] > 0.2 && first["dropped"] < 0.8));
  CHECK(model.test_on_batch(x, {})["dropped"] == 0.0);

  const std::vector<std::vector<float>> before = weightsOf(model);
  model.get_layer("judge").set_trainable(false); // after compile()
  (void)model.train_on_batch(x, {});
  const std::vector<std::vector<float>> after = weightsOf(model);
  CHECK(after[2] == before[2]);
  CHECK(after[0] != before[0]);
  model.compile({.optimizer = "adam"});
  CHECK(model.fit(x, {}, {.batch_size = 7, .verbose = 0}).keys().size() == 4);
  CHECK(model.optimizer().iterations() == 3);
  CHECK(model.ir(Stage::graph).find("judge") != std::string::npos);
  CHECK(model.summary().text().find("judge") != std::string::npos);
  CHECK_FALSE(model.cast_ledger().rows.empty()); // of layer "dropped"

  const TemporaryFolder folder;
  model.save_weights(folder / "net.safetensors");
  Checkpoint(model).save(folder / "net.ckpt");
  const Model other(Critic{}, {.name = "net"});
  other.compile();
  (void)other.test_on_batch(x, {}); // builds it
  other.get_layer("judge").set_trainable(false);
  other.compile({.optimizer = "adam"});
  other.load_weights(folder / "net.safetensors");
  CHECK(weightsOf(other) == weightsOf(model));
  (void)other.train_on_batch(x, {});
  Checkpoint(other).restore(folder / "net.ckpt");
  CHECK(weightsOf(other) == weightsOf(model));
  CHECK(other.optimizer().iterations() == model.optimizer().iterations());
  CHECK_THROWS_WITH(model.save(folder / "net.keras"), Contains("ValueError"));
  CHECK_THROWS_WITH(model.suggest_policy_map(x, {}), Contains("Error"));
  model.report(folder / "net.html", {.time_kernels = false});
}

TEST_CASE("A model that only its train_step() knows is built by it, and can be looked at and saved") {
  struct Net {
    layers::Dense unused{5, {.name = "unused"}}, head{2, {.name = "head"}};
    Value call(const Value &x) const { return unused(x); }
    void train_step(const StepContext &step, const StepData &data) const {
      const Value gap = ops::mean(ops::square(head(data.x[0])), 1) - ops::squeeze(data.y[0], 1);
      step.report("loss", ops::mean(ops::abs(gap))); // replaces the loss that is minimized
      step.minimize(ops::mean(ops::square(gap)));
    }
  };
  const Model model(Net{}, {.name = "net"});
  model.compile({.optimizer = "adam"});
  const History history = model.fit(wave({8, 3}), wave({8, 1}), {.batch_size = 8, .epochs = 2, .verbose = 0});
  CHECK(history.keys() == std::vector<std::string>{"loss"});
  CHECK(model.built());
  CHECK(model.weights().size() == 2);
  CHECK(model.weights()[0].path() == "net/head/kernel");
  CHECK(model.ir(Stage::graph).find("net/head/kernel") != std::string::npos);
  CHECK(model.ir(Stage::graph, {.batch_size = 3}).find("3x3xf32") != std::string::npos);
  CHECK(model.summary().text().find("head") != std::string::npos);
  const TemporaryFolder folder;
  model.save_weights(folder / "net.weights.h5");
  const std::vector<std::vector<float>> before = weightsOf(model);
  (void)model.train_on_batch(wave({8, 3}), wave({8, 1}));
  CHECK(weightsOf(model) != before);
  model.load_weights(folder / "net.weights.h5");
  CHECK(weightsOf(model) == before);
  CHECK(model.predict(wave({2, 3}), {.verbose = 0}).shape() == Shape{2, 5});
  CHECK_THROWS_WITH(model.evaluate(wave({8, 3}), {}, {.verbose = 0}), Contains("No loss to compute"));
}

TEST_CASE("A layer that only test_step() calls, once training has begun, stays out of the update") {
  struct Net {
    layers::Dense body{2, {.name = "body"}}, judge{1, {.name = "judge"}};
    Value call(const Value &x) const { return body(x); }
    void train_step(const StepContext &step, const StepData &data) const {
      step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
    }
    void test_step(const StepContext &step, const StepData &data) const {
      step.report("judged", ops::mean(judge(step.call(data.x)[0])));
    }
  };
  const Model model(Net{}, {.name = "net"});
  model.compile({.optimizer = "adam"});
  const ValidationData validation(wave({4, 3}), Tensors());
  for (const int64_t batch : {8, 3}) // the second run retraces
    CHECK(model.fit(wave({8, 3}), {}, {.batch_size = batch, .verbose = 0, .validation_data = validation}).keys() ==
          std::vector<std::string>{"loss", "val_judged"});
  CHECK(model.weights().size() == 2);
  const Model evaluated(Net{}, {.name = "net"});
  evaluated.compile({.optimizer = "adam"});
  (void)evaluated.evaluate(wave({4, 3}), {}, {.verbose = 0});
  CHECK(evaluated.weights().size() == 4); // so that a file's weights can be read before evaluate()
}

TEST_CASE("A train_step() may update several times, or never, and a model is looked at before it is trained") {
  struct Net {
    layers::Dense head{1};
    int64_t updates = 0;
    Value call(const Value &x) const { return head(x); }
    void train_step(const StepContext &step, const StepData &data) const {
      for (int64_t i = 0; i < updates; ++i)
        step.minimize(ops::mean(ops::square(step.call(data.x)[0] - data.y[0])));
    }
  };
  const Tensor x = wave({6, 2}), y = wave({6, 1});
  for (const int64_t updates : {0, 1, 3}) {
    INFO(updates);
    set_random_seed(2);
    Net net;
    net.updates = updates;
    const Model model(net, {.name = "net"});
    model.compile({.optimizer = "adam", .numerics = Numerics::strict});
    const History history = model.fit(x, y, {.batch_size = 6, .epochs = 2, .verbose = 0, .shuffle = false});
    CHECK(history.keys().size() == (updates > 0 ? 1u : 0u));
    CHECK(model.optimizer().iterations() == 2 * updates);
    if (updates == 0)
      continue;
    set_random_seed(2);
    Net one;
    one.updates = 1;
    const Model same(one, {.name = "net"});
    same.compile({.optimizer = "adam", .numerics = Numerics::strict});
    (void)same.fit(x, y, {.batch_size = 6, .epochs = 2 * updates, .verbose = 0, .shuffle = false});
    CHECK(weightsOf(model) == weightsOf(same));
  }
  Net net;
  net.updates = 1;
  const Model model(net, {.name = "net"});
  model.compile({.optimizer = "adam", .loss = "mse"});
  CHECK_THROWS_WITH(model.ir(Stage::graph), Contains("has not seen an input"));
  (void)model.predict(x, {.verbose = 0});
  CHECK(model.ir(Stage::graph).find("gradient") != std::string::npos);
  CHECK(model.optimizer().variables().size() == 2); // inspection builds nothing
  CHECK(model.fit(x, y, {.verbose = 0}).keys() == std::vector<std::string>{"loss"});
}
