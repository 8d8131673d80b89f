// Models whose struct has train_step(), test_step() or compute_loss(): hook arguments, logs, rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/BuiltInHooks.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <thread>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Tensor inputs(int64_t rows = 10) {
  std::vector<float> x;
  for (int64_t i = 0; i < rows * 3; ++i)
    x.push_back(0.1f * static_cast<float>((i * i * 7 + i) % 19 - 9));
  return Tensor(std::move(x), {rows, 3});
}
Tensor targets(int64_t rows = 10) {
  std::vector<float> y;
  for (int64_t i = 0; i < rows; ++i)
    y.push_back(0.3f * static_cast<float>(i % 5 - 2));
  return Tensor(std::move(y), {rows, 1});
}

/// Two layers, each time with the same weights.
struct Net {
  layers::Dense hidden{4, {.activation = "tanh", .kernel_regularizer = regularizers::L2(0.01)}};
  layers::Dense head{1};
  Net() { set_random_seed(5); }
  Value call(const Value &x) const { return head(hidden(x)); }
};
/// The built-in step, written as hooks.
struct Stepped : BuiltInTestStep<BuiltInTrainStep<Net>> {};
struct OwnLoss : BuiltInLoss<Net> {};
/// The same through the two parts of minimize().
struct Gradients : BuiltInTrainStepByParts<Net> {};

/// A model whose hooks are these functions.
struct Hooked : Net {
  using Step = std::function<void(const StepContext &, const StepData &)>;
  Step train, test;
  void train_step(const StepContext &step, const StepData &data) const { train(step, data); }
  void test_step(const StepContext &step, const StepData &data) const { test(step, data); }
};
Model hooked(Hooked::Step train, Hooked::Step test = {}) {
  Hooked net;
  net.train = std::move(train);
  net.test = test ? std::move(test) : net.train;
  return Model(std::move(net), {.name = "net"});
}
struct OwnLossOf : Net {
  std::function<Value(const StepContext &, const StepData &, const Values &)> f;
  Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
    return f(step, data, predicted);
  }
};
Model withLoss(std::function<Value(const StepContext &, const StepData &, const Values &)> f) {
  OwnLossOf net;
  net.f = std::move(f);
  return Model(std::move(net), {.name = "net"});
}

/// The results of a run: logs of epochs, logs of evaluate(), and weights.
struct Found {
  std::vector<std::string> keys;
  std::vector<std::vector<double>> logs;
  std::vector<std::pair<std::string, double>> test;
  std::vector<std::vector<float>> weights;
  bool operator==(const Found &) const = default;
};
std::vector<std::vector<float>> weightsOf(const Model &model) {
  std::vector<std::vector<float>> all;
  for (const Tensor &weight : model.get_weights())
    all.push_back(weight.astype(float32).to_vector<float>());
  return all;
}
Found fitted(const Model &model, FitArgs args = {}) {
  args.batch_size = 4;
  args.epochs = 3;
  args.verbose = 0;
  args.shuffle = false;
  const History history = model.fit(inputs(), targets(), args);
  Found found{history.keys(), {}, {}, {}};
  for (const std::string &key : found.keys)
    found.logs.push_back(history[key]);
  const Logs test = model.evaluate(inputs(), targets(), {.batch_size = 4, .verbose = 0});
  found.test.assign(test.begin(), test.end());
  found.weights = weightsOf(model);
  return found;
}
template <class T> Found fittedNet(const CompileArgs &compile, const FitArgs &args = {}) {
  const Model model(T{}, {.name = "net"});
  model.compile(compile);
  return fitted(model, args);
}

/// Checks that a call fails with `text`, and that neither the weights nor the next step change.
template <class F> void checkRefused(const Model &model, F call, const std::string &text) {
  const std::vector<std::vector<float>> before = model.built() ? weightsOf(model) : std::vector<std::vector<float>>{};
  CHECK_THROWS_WITH(call(), Contains(text));
  if (model.built())
    CHECK(weightsOf(model) == before);
  CHECK(model.optimizer().iterations() == 0);
}
/// Like checkRefused(), for train_on_batch() with an optimizer that is not built yet.
void checkStepRefused(const Model &model, const std::string &text, const CompileArgs &args = {}) {
  model.compile(args);
  checkRefused(model, [&] { (void)model.train_on_batch(inputs(), targets()); }, text);
  CHECK(model.optimizer().variables().size() == 2); // iteration and rate
}

} // namespace

TEST_CASE("A train_step() of the built-in parts, and a compute_loss() of compile()'s, give the bits of fit()") {
  const std::vector<CompileArgs> compiles{
      {.optimizer = optimizers::Adam(0.01), .loss = "mse", .metrics = {"mae"}, .numerics = Numerics::strict},
      {.optimizer = optimizers::SGD(0.1, {.momentum = 0.9, .global_clipnorm = 0.5}),
       .loss = "mae",
       .loss_weights = {0.5},
       .weighted_metrics = {"mse"},
       .numerics = Numerics::strict},
      {.optimizer = optimizers::SGD(0.1, {.clipnorm = 0.2, .use_ema = true, .ema_momentum = 0.5}),
       .loss = "mse",
       .run_eagerly = true,
       .jit_compile = false},
      {.optimizer = optimizers::Adam(0.01, {.gradient_accumulation_steps = 2}),
       .loss = "mse",
       .steps_per_execution = 2,
       .numerics = Numerics::strict},
  };
  FitArgs validated;
  validated.validation_split = 0.3;
  FitArgs weighed;
  weighed.sample_weight = Tensor(std::vector<float>{1, 2, 0, 1, 0.5f, 3, 1, 0, 2, 1}, {10});
  FitArgs classes;
  classes.class_weight = {{0, 0.5}, {1, 2.0}};
  const FitArgs fits[] = {validated, weighed, classes, {}};
  for (size_t i = 0; i < compiles.size(); ++i) {
    INFO("compile " << i);
    CompileArgs compile = compiles[i];
    const auto own = [&] { // a separate optimizer
      compile.optimizer = optimizers::deserialize(optimizers::serialize(compiles[i].optimizer));
      return compile;
    };
    const Found expected = fittedNet<Net>(own(), fits[i]);
    CHECK(fittedNet<Stepped>(own(), fits[i]) == expected);
    CHECK(fittedNet<OwnLoss>(own(), fits[i]) == expected);
    CHECK(fittedNet<Gradients>(own(), fits[i]) == expected);
  }
}

TEST_CASE("A hook needs neither targets nor a loss of compile(), and compute_loss() replaces penalties too") {
  const Model model = withLoss([](const StepContext &, const StepData &data, const Values &predicted) {
    CHECK(data.y.size() == 0);
    return ops::mean(ops::square(predicted[0] - 1));
  });
  model.compile({.optimizer = optimizers::SGD(0.0)});
  const History history = model.fit(inputs(), {}, {.verbose = 0, .validation_split = 0.2});
  CHECK(history.keys() == std::vector<std::string>{"loss", "val_loss"});
  const std::vector<float> predicted = model.predict(inputs(), {.verbose = 0}).to_vector<float>();
  double expected = 0;
  for (size_t i = 0; i < 8; ++i)
    expected += std::pow(predicted[i] - 1.0, 2) / 8;
  CHECK(history["loss"][0] == Approx(expected).epsilon(1e-5));
  CHECK(model.train_on_batch(inputs(8), {})["loss"] == Approx(expected).epsilon(1e-5));
  CHECK(model.test_on_batch(inputs(8), {})["loss"] == Approx(expected).epsilon(1e-5));
  CHECK(model.evaluate(Dataset(inputs(8)).batch(4), {.verbose = 0})["loss"] == Approx(expected).epsilon(1e-5));
  CHECK(model.fit(Dataset(inputs(8)).batch(8), {.verbose = 0})["loss"][0] == Approx(expected).epsilon(1e-5));

  const Model plain(Net{}, {.name = "plain"});
  plain.compile({.optimizer = "sgd"});
  CHECK(plain.evaluate(inputs(), {}, {.verbose = 0})["loss"] > 0); // only the penalty
}

TEST_CASE("Reports are means over the rows of an epoch, in every log, and those of the test program are its own") {
  const TemporaryFolder folder;
  const auto meanOfX = [](const StepData &data) { return ops::mean(data.x[0]); };
  const Model model = hooked(
      [&](const StepContext &step, const StepData &data) {
        step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
        step.report("x", meanOfX(data));
        step.report("rows", constant(Tensor(std::vector<int32_t>{7}, Shape{})));
        CHECK(step.training());
      },
      [&](const StepContext &step, const StepData &data) {
        step.report("seen", 2 * meanOfX(data));
        CHECK_FALSE(step.training());
      });
  model.compile({.optimizer = "sgd"});
  struct Recorder : Callback {
    std::vector<std::string> names;
    std::vector<double> values;
    void on_train_batch_end(int64_t, const Logs &logs) override { values.push_back(logs["x"]); }
    void on_epoch_end(int64_t, Logs &logs) override {
      for (const auto &[name, value] : logs)
        names.push_back(name);
    }
  } recorder;
  callbacks::EarlyStopping stopping({.monitor = "val_seen", .patience = 1, .mode = "min"});
  const History history = model.fit(inputs(), {},
                                    {.batch_size = 4,
                                     .epochs = 9,
                                     .verbose = 0,
                                     .callbacks = {&recorder, callbacks::CSVLogger(folder / "log.csv"), &stopping},
                                     .validation_data = {inputs(5), Tensors()},
                                     .shuffle = false});
  const std::vector<std::string> names{"loss", "rows", "x", "val_seen"};
  CHECK(history.keys() == names);
  CHECK(history.epoch().size() == 2); // the report is unchanged
  CHECK(std::vector<std::string>(recorder.names.begin(), recorder.names.begin() + 4) == names);
  const auto mean = [](int64_t rows) {
    double sum = 0;
    const std::vector<float> x = inputs().to_vector<float>();
    for (int64_t i = 0; i < rows * 3; ++i)
      sum += x[static_cast<size_t>(i)];
    return sum / static_cast<double>(rows * 3);
  };
  for (size_t step = 0; step < 3; ++step) // the last batch has 2 rows
    CHECK(recorder.values[step] ==
          Approx(mean(std::min<int64_t>(10, 4 * static_cast<int64_t>(step + 1)))).margin(1e-6));
  CHECK(history["x"][0] == Approx(mean(10)).margin(1e-6));
  CHECK(history["rows"][0] == 7.0);
  CHECK(history["val_seen"][1] == Approx(2 * mean(5)).margin(1e-6));
  std::ifstream csv(folder / "log.csv");
  std::string head;
  std::getline(csv, head);
  CHECK(head == "epoch,loss,rows,val_seen,x");
  CHECK(model.evaluate(inputs(5), {}, {.verbose = 0}).str() ==
        "seen: " + Logs(model.test_on_batch(inputs(5), {})).str().substr(6));
  CHECK_FALSE(model.evaluate(inputs(5), {}, {.verbose = 0}).contains("x"));
  std::vector<std::string> all; // from both programs
  for (const auto &[name, value] : model.get_metrics_result())
    all.push_back(name);
  CHECK(all == std::vector<std::string>{"loss", "rows", "seen", "x"});
  CHECK(model.get_metrics_result()["seen"] == Approx(2 * mean(5)).margin(1e-6));
  CHECK(model.metrics().size() == 4);
  model.reset_metrics();
  CHECK(model.get_metrics_result()["seen"] == 0.0);
}

TEST_CASE("A step gives its model and the optimizer of compile()") {
  std::vector<std::pair<Model, Optimizer>> given;
  const Model model = hooked([&given](const StepContext &step, const StepData &data) {
    given.emplace_back(step.model(), step.optimizer());
    step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
  });
  model.compile({.optimizer = "sgd"});
  (void)model.train_on_batch(inputs(), {});
  CHECK_FALSE(given.empty());
  for (const auto &[itself, optimizer] : given) {
    CHECK(itself.impl() == model.impl());
    CHECK(optimizer.impl() == model.optimizer().impl());
  }
}

TEST_CASE("A run inside a run adds its reports to sums of its own") {
  const Model model = hooked([](const StepContext &step, const StepData &data) {
    if (step.training())
      step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
    step.report(step.training() ? "x" : "seen", ops::mean(data.x[0]));
  });
  model.compile({.optimizer = optimizers::SGD(0.0)});
  const auto fit = [&](std::function<void(int64_t)> act) {
    return model.fit(inputs(), {},
                     {.batch_size = 5,
                      .verbose = 0,
                      .callbacks = {callbacks::LambdaCallback(
                          {.on_train_batch_end = [act](int64_t batch, const Logs &) { act(batch); }})},
                      .shuffle = false})["x"];
  };
  std::vector<double> seen;
  const std::vector<double> nested = fit([&](int64_t) {
    for (int64_t rows : {2, 10}) // the second run of the test program, and a step of training
      seen.push_back(model.evaluate(inputs(rows), {}, {.batch_size = 2, .verbose = 0})["seen"]);
    seen.push_back(model.train_on_batch(inputs(4), {})["x"]);
  });
  CHECK(nested == fit([](int64_t) {}));
  CHECK(seen[0] == model.test_on_batch(inputs(2), {})["seen"]);
  CHECK(seen[2] == seen[5]);
}

TEST_CASE("Several threads train and evaluate one model with hooks") {
  const Model model = hooked([](const StepContext &step, const StepData &data) {
    if (step.training())
      step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
    step.report(step.training() ? "x" : "seen", ops::mean(data.x[0]));
  });
  model.compile({.optimizer = "adam"});
  std::vector<std::thread> threads;
  std::vector<double> reported(4);
  for (size_t thread = 0; thread < reported.size(); ++thread)
    threads.emplace_back([&, thread] {
      for (int run = 0; run < 5; ++run)
        reported[thread] = thread % 2
                               ? model.fit(inputs(), {}, {.batch_size = 3, .verbose = 0, .shuffle = false})["x"][0]
                               : model.evaluate(inputs(), {}, {.batch_size = 3, .verbose = 0})["seen"];
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(model.optimizer().iterations() == 2 * 5 * 4);
  CHECK(reported == std::vector<double>(4, reported[0]));
  CHECK(reported[0] == model.evaluate(inputs(), {}, {.batch_size = 3, .verbose = 0})["seen"]);
}

TEST_CASE("A later step that reports other names is refused, and changes nothing") {
  const Model model = hooked([](const StepContext &step, const StepData &data) {
    step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
    step.report(data.x[0].shape()[0] == 4 ? "four" : "other", ops::mean(data.x[0]));
  });
  model.compile({.optimizer = "adam"});
  (void)model.train_on_batch(inputs(4), {});
  const std::vector<std::vector<float>> before = weightsOf(model);
  CHECK_THROWS_WITH(model.train_on_batch(inputs(5), {}),
                    Contains("ValueError") && Contains("reports [loss, other]") && Contains("[four, loss]"));
  CHECK(weightsOf(model) == before);
  CHECK(model.optimizer().iterations() == 1);
  CHECK(model.train_on_batch(inputs(4), {}).contains("four"));
  model.compile({.optimizer = "adam"}); // starts over
  CHECK(model.train_on_batch(inputs(5), {}).contains("other"));

  const Model sometimes = hooked([](const StepContext &step, const StepData &data) {
    if (data.x[0].shape()[0] == 4)
      step.minimize(ops::mean(ops::square(step.call(data.x)[0])));
  });
  sometimes.compile();
  (void)sometimes.train_on_batch(inputs(4), {});
  CHECK_THROWS_WITH(sometimes.train_on_batch(inputs(5), {}), Contains("reports []") && Contains("[loss]"));
}

TEST_CASE("What a hook gives wrongly is one error, and the model stays as it was") {
  const auto mean = [](const Values &predicted) { return ops::mean(predicted[0]); };
  using Case = std::pair<Model, std::string>;
  const std::vector<Case> cases{
      {withLoss([](auto &, auto &, const Values &predicted) { return predicted[0]; }),
       "ValueError: compute_loss() has the shape (10, 1): a scalar is expected"},
      {withLoss([](auto &, auto &, auto &) { return Value(); }), "compute_loss() has an undefined Value"},
      {withLoss([](auto &, auto &, auto &) { return Value(Input({})); }), "a functional model's graph"},
      {withLoss([&](auto &, auto &, const Values &predicted) { return ops::cast(mean(predicted), int32); }),
       "TypeError: compute_loss() has the dtype int32"},
      {withLoss([&](auto &step, auto &, const Values &predicted) {
         step.report("a", predicted[0]);
         return mean(predicted);
       }),
       "step.report('a') has the shape (10, 1)"},
      {withLoss([&](auto &step, auto &, const Values &predicted) {
         step.report("a", mean(predicted));
         step.report("a", mean(predicted));
         return mean(predicted);
       }),
       "step.report('a') was called twice"},
      {withLoss([&](auto &step, auto &, const Values &predicted) {
         step.report("", mean(predicted));
         return mean(predicted);
       }),
       "needs a name"},
      {withLoss([&](auto &step, auto &, const Values &predicted) {
         step.report("loss", mean(predicted));
         return mean(predicted);
       }),
       "step.report('loss') has the name of another value of the logs: [loss]"},
      {withLoss([&](auto &step, auto &data, const Values &predicted) {
         step.update_metrics(data, predicted);
         return mean(predicted);
       }),
       "a second time"},
      {hooked([](auto &step, auto &data) { step.minimize(step.call(data.x)[0]); }),
       "step.minimize() has the shape (10, 1)"},
      {hooked([](auto &, auto &) { throw Error(ErrorKind::value_error, "of the user's"); }),
       "of the user's\n  layer: net"},
      {hooked([](auto &step, auto &data) { (void)layers::Dense(2)(step.call(data.x)[0]); }),
       "was created inside the call of another layer"},
      {hooked([](auto &, auto &data) { (void)data.x[1]; }), "ValueError"},
  };
  for (const auto &[model, text] : cases) {
    INFO(text);
    checkStepRefused(model, text);
  }
  const Model thrower = hooked([](auto &step, auto &data) {
    step.minimize(ops::mean(step.call(data.x)[0]));
    throw std::runtime_error("not of the library");
  });
  thrower.compile();
  CHECK_THROWS_AS(thrower.train_on_batch(inputs(), {}), std::runtime_error);
  CHECK(thrower.optimizer().variables().size() == 2);
  CHECK_FALSE(thrower.built());
}

TEST_CASE("evaluate() refuses updates, and compile()'s lists are checked where a step uses them") {
  const Model updating = hooked([](auto &step, auto &data) { step.minimize(ops::mean(step.call(data.x)[0])); });
  updating.compile();
  CHECK_THROWS_WITH(updating.evaluate(inputs(), {}, {.verbose = 0}),
                    Contains("step.minimize() updates weights, and evaluate() does not"));
  const Model applying =
      hooked([](auto &step, auto &data) { step.apply(step.gradients(ops::mean(step.call(data.x)[0]))); });
  applying.compile();
  CHECK_THROWS_WITH(applying.test_on_batch(inputs(), {}), Contains("step.apply() updates weights"));

  struct Plain {
    layers::Dense head{1};
    Value call(const Value &x) const { return head(x); }
    Value compute_loss(const StepContext &step, const StepData &data, const Values &predicted) const {
      return step.compute_loss(data, predicted);
    }
  };
  checkStepRefused(Model(Plain{}), "No loss to compute. Provide a `loss` argument in `compile()`.");
  const Model model(Stepped{}, {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  checkRefused(model, [&] { model.fit(inputs(), {}, {.verbose = 0}); }, "`y` has 0 entries");
  checkRefused(
      model, [&] { model.fit(inputs(), {targets(), targets(), targets()}, {.verbose = 0}); }, "`y` has 3 entries");
  checkRefused(model, [&] { model.fit(inputs(), {{"other", targets()}}, {.verbose = 0}); }, "names the output 'other'");
  checkRefused(
      model,
      [&] {
        model.fit(inputs(), targets(), {.verbose = 0, .sample_weight = {Tensor::ones({10}), Tensor::ones({10})}});
      },
      "`sample_weight` has 2 entries for 1 targets");
  model.compile({.optimizer = "sgd", .loss = {Loss("mse"), Loss("mae")}});
  checkRefused(model, [&] { model.fit(inputs(), targets(), {.verbose = 0}); }, "`loss` has 2 entries");
  (void)fitted([&] {
    model.compile({.optimizer = "sgd", .loss = "mse"});
    return model;
  }());
}
