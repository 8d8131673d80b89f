// Reading a model or its optimizer before the first step does not affect subsequent training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Saving.h"
#include "runtime/TensorAccess.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

struct NamedOptimizer {
  std::string name;
  std::function<Optimizer()> make;
};
template <class T> NamedOptimizer plain(const char *name) {
  return {name, [] { return Optimizer(T(0.01)); }};
}
std::vector<NamedOptimizer> everyOptimizer() {
  using namespace optimizers;
  return {
      plain<Adam>("Adam"),
      plain<AdamW>("AdamW"),
      plain<RMSprop>("RMSprop"),
      plain<Lion>("Lion"),
      plain<Adagrad>("Adagrad"),
      plain<Adadelta>("Adadelta"),
      plain<Adamax>("Adamax"),
      plain<Nadam>("Nadam"),
      plain<Ftrl>("Ftrl"),
      plain<Lamb>("Lamb"),
      plain<Muon>("Muon"),
      plain<Adafactor>("Adafactor"),
      plain<ScheduleFreeAdamW>("ScheduleFreeAdamW"),
      {"SGD with momentum", [] { return SGD(0.01, {.momentum = 0.9, .nesterov = true}); }},
      {"SGD with averages", [] { return SGD(0.01, {.use_ema = true}); }},
      {"Adam with averages that overwrite", [] { return Adam(0.01, {.use_ema = true, .ema_overwrite_frequency = 2}); }},
      {"Adam with accumulation and averages",
       [] { return Adam(0.01, {.use_ema = true, .gradient_accumulation_steps = 2}); }},
      {"Adam with a schedule", [] { return Adam(schedules::ExponentialDecay(0.01, 2, 0.5)); }},
      {"Adam with a scaled loss", [] { return LossScaleOptimizer(Adam(0.01), {.initial_scale = 8.0}); }},
      {"ScheduleFreeAdamW with accumulation and warmup",
       [] { return ScheduleFreeAdamW(0.01, {.warmup_steps = 2, .gradient_accumulation_steps = 2}); }},
      {"ScheduleFreeAdamW with a scaled loss",
       [] { return LossScaleOptimizer(ScheduleFreeAdamW(0.01), {.initial_scale = 8.0}); }}};
}

Tensor inputs() { return counted({10, 4}) * 0.02; }
Tensor targets() { return counted({10, 2}) * 0.05; }

Sequential net(const Optimizer &optimizer) {
  set_random_seed(3);
  Sequential model({Input({4}), Dense(5, {.activation = "tanh", .name = "a"}), Dropout(0.3, {.name = "d"}),
                    BatchNormalization({.name = "n"}), Dense(2, {.name = "b"})},
                   {.name = "net"});
  model.compile({.optimizer = optimizer, .loss = "mse", .metrics = {"mae"}});
  return model;
}

/// Weights other than the model's, as from a user's file.
std::vector<Tensor> pretrained(const Model &model) {
  std::vector<Tensor> weights = model.get_weights();
  for (Tensor &weight : weights)
    weight = weight * 0.5 + 0.25;
  return weights;
}

History fit(const Model &model, int64_t epochs = 2, FitArgs args = {}) {
  args.batch_size = 4;
  args.epochs = epochs;
  args.verbose = 0;
  return model.fit(inputs(), targets(), args);
}

/// The bytes of all weights, states and slots.
std::vector<std::string> bytesOf(const Model &model) {
  std::vector<Variable> variables = model.variables();
  std::ranges::copy(model.optimizer().impl()->allVariables(), std::back_inserter(variables));
  std::vector<std::string> all;
  for (const Variable &variable : variables) {
    const Tensor value = variable.value();
    all.emplace_back(reinterpret_cast<const char *>(TensorAccess::data(value)),
                     static_cast<size_t>(TensorAccess::bytes(value)));
  }
  return all;
}

struct Reading {
  std::string name;
  std::function<void(const Model &model, const std::string &folder)> read;
};
/// Every function that reads a model or its optimizer, or that is rejected.
std::vector<Reading> everyReading() {
  const auto refused = [](const auto &call) { CHECK_FALSE(errorOf(call).empty()); };
  const Sequential other({Input({4}), Dense(3, {.name = "a"})}, {.name = "net"}); // its weights are drawn here
  return {
      {"save", [](const Model &m, const std::string &f) { m.save(f + "/model.keras"); }},
      {"save_weights",
       [](const Model &m, const std::string &f) {
         m.save_weights(f + "/model.weights.h5");
         m.save_weights(f + "/model.safetensors");
       }},
      {"Checkpoint::save", [](const Model &m, const std::string &f) { Checkpoint(m).save(f + "/model.ckpt"); }},
      {"a refused restore",
       [=](const Model &m, const std::string &f) {
         Checkpoint(other).save(f + "/other.ckpt");
         refused([&] { (void)Checkpoint(m).restore(f + "/other.ckpt"); });
         refused([&] { (void)Checkpoint(m).restore(f + "/absent.ckpt"); });
       }},
      {"a refused load_weights",
       [=](const Model &m, const std::string &f) {
         other.save_weights(f + "/other.weights.h5");
         refused([&] { m.load_weights(f + "/other.weights.h5"); });
         refused([&] { m.set_weights({Tensor::zeros({1})}); });
       }},
      {"summary", [](const Model &m, const std::string &) { CHECK_FALSE(m.summary().text().empty()); }},
      {"configs",
       [](const Model &m, const std::string &) {
         CHECK_FALSE(m.to_json().empty());
         (void)m.get_config();
         (void)m.optimizer().get_config();
         (void)optimizers::serialize(m.optimizer());
       }},
      {"variables",
       [](const Model &m, const std::string &) {
         (void)m.variables();
         (void)m.get_weights();
         (void)m.optimizer().variables();
         (void)m.optimizer().iterations();
         (void)m.optimizer().learning_rate();
         m.optimizer().finalize_variable_values(m.trainable_variables());
       }},
      {"ir",
       [](const Model &m, const std::string &f) {
         for (Program program : {Program::train, Program::test, Program::predict})
           CHECK_FALSE(m.ir(Stage::kernel, {.program = program}).empty());
         m.dump_ir(f);
       }},
      {"cast_ledger", [](const Model &m, const std::string &) { (void)m.cast_ledger(); }},
      {"report", [](const Model &m, const std::string &f) { m.report(f + "/report.html", {.time_kernels = false}); }},
      {"evaluate and predict",
       [](const Model &m, const std::string &) {
         (void)m.evaluate(inputs(), targets(), {.verbose = 0});
         (void)m.test_on_batch(inputs(), targets());
         (void)m.predict(inputs(), {.verbose = 0});
         (void)m(inputs());
       }},
      {"a refused fit",
       [=](const Model &m, const std::string &) {
         refused([&] { m.fit(counted({10, 3}), targets(), {.verbose = 0}); });
         refused([&] { m.fit(inputs(), counted({9, 2}), {.verbose = 0}); });
       }},
  };
}

/// Trains after `before` ran and other weights were set; then trains some more.
std::vector<std::string> trained(const NamedOptimizer &optimizer,
                                 const std::function<void(const Model &model)> &before) {
  const Sequential model = net(optimizer.make());
  const size_t variables = model.optimizer().variables().size();
  before(model);
  CHECK(model.optimizer().variables().size() == variables);
  model.set_weights(pretrained(model));
  fit(model);
  return bytesOf(model);
}

} // namespace

TEST_CASE(
    "Reading the optimizer's state before the first step leaves the bits of the training, under every optimizer") {
  for (const NamedOptimizer &optimizer : everyOptimizer()) {
    CAPTURE(optimizer.name);
    const TemporaryFolder folder;
    const std::vector<std::string> expected = trained(optimizer, [](const Model &) {});
    const bool isSame = trained(optimizer, [&](const Model &model) {
                          Checkpoint(model).save(folder.path / "model.ckpt");
                          (void)model.cast_ledger();
                        }) == expected;
    CHECK(isSame);
  }
}

TEST_CASE("Each function that reads leaves the optimizer as it was: layers that it has not seen may train") {
  const NamedOptimizer optimizer{"ScheduleFreeAdamW", [] { return optimizers::ScheduleFreeAdamW(0.01); }};
  const std::vector<Reading> all = everyReading();
  const auto readFrozen = [&](const std::function<void(const Model &)> &read) {
    return trained(optimizer, [&](const Model &model) {
      model.get_layer("a").set_trainable(false);
      read(model);
      model.get_layer("a").set_trainable(true);
      model.optimizer().exclude_from_weight_decay({}, {"bias"}); // an optimizer with state rejects it
    });
  };
  const std::vector<std::string> expected = readFrozen([](const Model &) {});
  for (const Reading &reading : all) {
    CAPTURE(reading.name);
    const TemporaryFolder folder;
    const bool isSame = readFrozen([&](const Model &model) { reading.read(model, folder.path); }) == expected;
    CHECK(isSame);
  }
}

TEST_CASE("Weights that are set between loading and the first step are those with which training begins") {
  for (const NamedOptimizer &optimizer : everyOptimizer()) {
    CAPTURE(optimizer.name);
    const TemporaryFolder folder;
    const std::string archive = folder.path / "model.keras", checkpoint = folder.path / "model.ckpt";
    const Sequential saved = net(optimizer.make());
    const std::vector<Tensor> weights = pretrained(saved);
    saved.save(archive);
    Checkpoint(saved).save(checkpoint);
    const auto train = [&](const Model &model) {
      model.set_weights(weights);
      set_random_seed(3);
      fit(model);
      return bytesOf(model);
    };
    const Model loaded = load_model(archive);
    CHECK(loaded.optimizer().variables().size() == saved.optimizer().variables().size());
    const Sequential restored = net(optimizer.make());
    CHECK(Checkpoint(restored).restore(checkpoint).step == 0);
    const std::vector<std::string> expected = train(saved);
    CHECK((train(loaded) == expected)); // in parentheses, since a failure would print bytes
    CHECK((train(restored) == expected));
  }
}

TEST_CASE("A callback that sets weights when training begins decides where every optimizer begins") {
  for (const NamedOptimizer &optimizer : everyOptimizer()) {
    CAPTURE(optimizer.name);
    const Sequential expected = net(optimizer.make()), model = net(optimizer.make());
    expected.set_weights(pretrained(expected));
    set_random_seed(5);
    fit(expected);
    const std::vector<Tensor> weights = pretrained(model);
    callbacks::LambdaCallback set({.on_train_begin = [&](const Logs &) { model.set_weights(weights); }});
    set_random_seed(5);
    fit(model, 2, {.callbacks = {&set}});
    CHECK((bytesOf(model) == bytesOf(expected)));
  }
}

TEST_CASE("With moving averages, a fit without an update keeps the weights") {
  const auto check = [](const Sequential &model, const std::function<void()> &run) {
    const std::vector<Tensor> weights = model.get_weights();
    run();
    for (size_t i = 0; i < weights.size(); ++i)
      CHECK(model.get_weights()[i].to_vector<float>() == weights[i].to_vector<float>());
  };
  const auto everyFit = [&](const Sequential &model) {
    check(model, [&] { fit(model, 0); });
    check(model, [&] { fit(model, 3, {.initial_epoch = 3}); });
    check(model, [&] { fit(model, 3, {.initial_epoch = 5}); });
  };
  for (const optimizers::SGDArgs &args :
       std::vector<optimizers::SGDArgs>{{.use_ema = true},
                                        {.use_ema = true, .ema_overwrite_frequency = 1},
                                        {.use_ema = true, .gradient_accumulation_steps = 3}}) {
    const Sequential model = net(optimizers::SGD(0.01, args));
    everyFit(model);
    fit(model, 1);
    model.set_weights(pretrained(model));
    everyFit(model); // the averages of the first run do not belong to these weights
  }
  // All steps are skipped because their gradients are infinite.
  const Sequential model({Input({4}), Dense(2)});
  model.compile({.optimizer = optimizers::LossScaleOptimizer(optimizers::SGD(0.01, {.use_ema = true})), .loss = "mse"});
  const Tensor infinite = Tensor::full({8, 4}, std::numeric_limits<float>::infinity());
  check(model, [&] { model.fit(infinite, Tensor::zeros({8, 2}), {.epochs = 2, .verbose = 0}); });
  CHECK(model.loss_scale_optimizer()->state().skipped_steps == 2);
}

TEST_CASE("A run that was restored after its last epoch ends with its averages") {
  const TemporaryFolder folder;
  const std::string backup = folder.path / "backup";
  const auto run = [&](bool fails) {
    const Sequential model = net(optimizers::SGD(0.01, {.use_ema = true}));
    callbacks::BackupAndRestore keep(backup);
    callbacks::LambdaCallback last({.on_epoch_end = [&](int64_t epoch, Logs &) {
      if (fails && epoch == 1)
        throw std::runtime_error("interrupted");
    }});
    try {
      fit(model, 2, {.callbacks = {&keep, &last}});
    } catch (const std::runtime_error &) {
      CHECK(fails);
    }
    return model.get_weights();
  };
  const std::vector<Tensor> whole = run(false);
  (void)run(true);
  const std::vector<Tensor> resumed = run(false);
  for (size_t i = 0; i < whole.size(); ++i)
    CHECK(resumed[i].to_vector<float>() == whole[i].to_vector<float>());
}
