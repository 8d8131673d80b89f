// Checkpoints of models whose train_step() has its own optimizers: resumed training is bit-identical.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Halftone.h"
#include "runtime/TensorAccess.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using callbacks::BackupAndRestore;
using callbacks::LambdaCallback;
using callbacks::ModelCheckpoint;
using Catch::Matchers::Contains;

namespace {

/// Two networks with an optimizer each. `turn` selects one of them while a step is traced.
struct Gan {
  Sequential discriminator, generator;
  Optimizer ofDiscriminator, ofGenerator;
  enum class Turn { both, discriminator, generator, generatorFirst };
  std::shared_ptr<Turn> turn = std::make_shared<Turn>(Turn::both);

  Value call(const Values &x) const { return discriminator(x[0]) + discriminator(generator(x[1])); }
  void train_step(const StepContext &step, const StepData &data) const {
    const Value real = discriminator(data.x[0]), made = discriminator(generator(data.x[1]));
    const Value first = ops::mean(ops::square(real - 1)) + ops::mean(ops::square(made));
    const Value second = ops::mean(ops::square(discriminator(generator(data.x[1])) - 1));
    if (*turn == Turn::generatorFirst)
      ofGenerator.minimize(second, generator.trainable_variables());
    if (*turn != Turn::generator)
      ofDiscriminator.minimize(first, discriminator.trainable_variables());
    if (*turn == Turn::both || *turn == Turn::generator)
      ofGenerator.minimize(second, generator.trainable_variables());
    step.report("loss", first + second);
  }
};

Tensors batch() { return {counted({8, 5}) * 0.05, counted({8, 3}) * 0.04}; }

struct Trainee {
  Gan parts;
  Model model;
};
/// Optimizers with a schedule, averages and other state, or the given ones. The names of the layers are new each time.
Trainee gan(const std::string &policy = "float32", int64_t seed = 3, std::optional<Optimizer> ofGenerator = {}) {
  const PolicyScope scope(policy);
  set_random_seed(seed);
  const auto scaled = [&](const Optimizer &optimizer) {
    return policy == "mixed_float16" ? Optimizer(optimizers::LossScaleOptimizer(
                                           optimizer, {.initial_scale = 0x1p20, .dynamic_growth_steps = 3}))
                                     : optimizer;
  };
  const Gan parts{Sequential({Input({5}), Dense(7, {.activation = "tanh"}), Dense(1)}),
                  Sequential({Input({3}), Dense(6), Dropout(0.2), Dense(5)}),
                  scaled(optimizers::Adam(schedules::ExponentialDecay(0.02, 2, 0.9), {.use_ema = true})),
                  scaled(ofGenerator.value_or(optimizers::Nadam(0.01)))};
  const Model model(parts, {.name = "gan"});
  model.compile({.numerics = Numerics::strict});
  (void)model.predict(batch(), {.verbose = 0}); // all layers are known
  return {parts, model};
}
std::vector<double> train(const Trainee &trainee, int steps) {
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i)
    losses.push_back(trainee.model.train_on_batch(batch(), {})["loss"]);
  return losses;
}

std::string bytesOf(const Tensor &tensor) {
  const Tensor host = TensorAccess::onHost(tensor);
  return {reinterpret_cast<const char *>(TensorAccess::data(host)), static_cast<size_t>(TensorAccess::bytes(host))};
}
/// The bytes of the model's variables, and of its optimizers without rates, which the host computes from the update
/// count.
std::vector<std::string> stateOf(const Trainee &trainee) {
  std::vector<Variable> variables = trainee.model.variables();
  for (const Optimizer &optimizer : {trainee.parts.ofDiscriminator, trainee.parts.ofGenerator})
    for (const Variable &variable : optimizer.impl()->allVariables())
      if (variable.impl()->role != detail::VariableRole::learning_rate)
        variables.push_back(variable);
  std::vector<std::string> all;
  for (const Variable &variable : variables)
    all.push_back(bytesOf(variable.value()));
  return all;
}
/// The part of a file that holds the optimizers.
std::vector<std::pair<std::string, std::string>> ownIn(const std::string &path) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto &[name, tensor] : load_safetensors(path))
    if (name.starts_with("own_optimizer"))
      all.emplace_back(name, bytesOf(tensor));
  return all;
}
std::vector<double> last(const std::vector<double> &values, int64_t count) {
  return {values.end() - count, values.end()};
}

} // namespace

TEST_CASE("Optimizers of a train_step() go on from a checkpoint with the bits of a run without a pause",
          "[checkpoint]") {
  for (const std::string policy : {"float32", "mixed_float16"}) {
    INFO(policy);
    TemporaryFolder folder;
    const Trainee whole = gan(policy);
    (void)train(whole, 5);
    Checkpoint(whole.model).save(folder / "a.ckpt");
    const std::vector<double> expected = train(whole, 4);

    const Trainee before = gan(policy, 4); // restores before its first step, is saved again and inspected
    CHECK(Checkpoint(before.model).restore(folder / "a.ckpt").converted.empty());
    (void)before.model.ir(Stage::graph);
    Checkpoint(before.model).save(folder / "b.ckpt");
    CHECK(ownIn(folder / "a.ckpt").size() > 20);
    CHECK(ownIn(folder / "b.ckpt") == ownIn(folder / "a.ckpt"));
    before.model.compile({.numerics = Numerics::strict}); // does not affect these optimizers
    CHECK(train(before, 4) == expected);
    CHECK(stateOf(before) == stateOf(whole));

    const Trainee after = gan(policy, 5); // has taken steps of its own, and reads the second file
    (void)train(after, 2);
    CHECK(Checkpoint(after.model).restore(folder / "b.ckpt").converted.empty());
    after.model.compile({.numerics = Numerics::strict});
    Checkpoint(after.model).save(folder / "c.ckpt");
    CHECK(ownIn(folder / "c.ckpt").size() == ownIn(folder / "a.ckpt").size());
    CHECK(train(after, 4) == expected);
    CHECK(stateOf(after) == stateOf(whole));
    CHECK(after.parts.ofGenerator.iterations() == whole.parts.ofGenerator.iterations());
    if (policy == "mixed_float16") {
      const auto scaleOf = [](const Optimizer &optimizer) { return detail::asLossScaleOptimizer(optimizer).state(); };
      CHECK(scaleOf(after.parts.ofGenerator).scale == scaleOf(whole.parts.ofGenerator).scale);
      CHECK(scaleOf(whole.parts.ofGenerator).scale != 0x1p20f);
    }
  }
}

TEST_CASE("A file names the optimizers of a train_step() by numbers, and load_weights() reads past them",
          "[checkpoint]") {
  TemporaryFolder folder;
  const Trainee trained = gan();
  Checkpoint(trained.model).save(folder / "0.ckpt"); // no step has revealed the optimizers yet
  CHECK(ownIn(folder / "0.ckpt").empty());
  (void)train(trained, 1);
  Checkpoint(trained.model).save(folder / "1.ckpt");
  std::vector<std::string> scalars;
  for (const auto &[name, bytes] : ownIn(folder / "1.ckpt"))
    if (name.find("_kernel") == name.npos && name.find("_bias") == name.npos)
      scalars.push_back(name);
  CHECK(scalars == std::vector<std::string>{"own_optimizer/adam/iteration", "own_optimizer_1/nadam/iteration",
                                            "own_optimizer_1/nadam/learning_rate", "own_optimizer_1/nadam/u_product"});
  const Trainee other = gan("float32", 9);
  other.model.load_weights(folder / "1.ckpt");
  CHECK(other.model.get_weights().size() == trained.model.get_weights().size());
  CHECK(bytesOf(other.model.get_weights()[0]) == bytesOf(trained.model.get_weights()[0]));
  CHECK(other.parts.ofGenerator.iterations() == 0);

  // A file without optimizers leaves them unchanged, and restore() reports it.
  const std::vector<std::string> lines = Checkpoint(trained.model).restore(folder / "0.ckpt").converted;
  CHECK(lines == std::vector<std::string>{"the optimizer 'adam' of the step: unchanged, since the file has none",
                                          "the optimizer 'nadam' of the step: unchanged, since the file has none"});
  CHECK(trained.parts.ofGenerator.iterations() == 1);
}

TEST_CASE("States find their optimizers by what they update, whatever comes first, and wait for those that come later",
          "[checkpoint]") {
  TemporaryFolder folder;
  const Trainee whole = gan();
  (void)train(whole, 3);
  Checkpoint(whole.model).save(folder / "a.ckpt");
  const auto turnTo = [](const Trainee &trainee, Gan::Turn turn) {
    *trainee.parts.turn = turn;
    trainee.model.compile({.numerics = Numerics::strict});
  };
  const Trainee resumed = gan("float32", 4);
  Checkpoint(resumed.model).restore(folder / "a.ckpt");
  for (const Trainee *each : {&whole, &resumed}) {
    turnTo(*each, Gan::Turn::generator); // the second optimizer in the file is used first
    (void)train(*each, 2);
  }
  Checkpoint(resumed.model).save(folder / "b.ckpt"); // includes the pending state
  const Trainee again = gan("float32", 5);
  Checkpoint(again.model).restore(folder / "b.ckpt");
  std::vector<std::vector<double>> losses;
  for (const Trainee *each : {&whole, &resumed, &again}) {
    turnTo(*each, Gan::Turn::both);
    losses.push_back(train(*each, 2));
  }
  CHECK(losses[1] == losses[0]);
  CHECK(losses[2] == losses[0]);
  CHECK(stateOf(resumed) == stateOf(whole));
  CHECK(stateOf(again) == stateOf(whole));
}

namespace {
/// Two networks of the same layers and shapes.
struct Twins {
  Sequential first{{Input({3}), Dense(1)}}, second{{Input({3}), Dense(1)}};
  Optimizer ofFirst = optimizers::Adam(0.1), ofSecond = optimizers::Adam(0.1);
  std::shared_ptr<bool> isSecondFirst = std::make_shared<bool>(false);
  Value call(const Value &x) const { return first(x) + second(x); }
  void train_step(const StepContext &step, const StepData &data) const {
    const Value a = ops::mean(ops::square(first(data.x[0]))), b = ops::mean(ops::square(second(data.x[0]) - 3));
    if (*isSecondFirst)
      ofSecond.minimize(b, second.trainable_variables());
    ofFirst.minimize(a, first.trainable_variables());
    if (!*isSecondFirst)
      ofSecond.minimize(b, second.trainable_variables());
    step.report("a", a);
    step.report("b", b);
  }
};
} // namespace

TEST_CASE("Optimizers of the same class, for weights of the same shapes, take the states of their own weights",
          "[checkpoint]") {
  TemporaryFolder folder;
  const Tensor x = counted({4, 3}) * 0.1;
  const auto make = [&](bool isSecondFirst) {
    const Twins twins;
    *twins.isSecondFirst = isSecondFirst;
    const Model model(twins, {.name = "twins"});
    model.compile({.numerics = Numerics::strict});
    (void)model.predict(x, {.verbose = 0});
    return model;
  };
  const Model whole = make(false), resumed = make(true);
  for (int i = 0; i < 3; ++i)
    (void)whole.train_on_batch(x, {});
  Checkpoint(whole).save(folder / "a.ckpt");
  Checkpoint(resumed).restore(folder / "a.ckpt");
  for (int i = 0; i < 3; ++i) {
    const Logs expected = whole.train_on_batch(x, {}), found = resumed.train_on_batch(x, {});
    CHECK(found["a"] == expected["a"]);
    CHECK(found["b"] == expected["b"]);
  }
}

TEST_CASE("A state that fits no optimizer of the step is refused, and nothing changes", "[checkpoint]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.ckpt";
  const Trainee whole = gan();
  (void)train(whole, 3);
  Checkpoint(whole.model).save(path);
  const std::vector<double> expected = train(whole, 2);

  const Trainee changed = gan("float32", 4, optimizers::Adagrad(0.01)); // before the first step: applied at that step
  Checkpoint(changed.model).restore(path);
  const std::vector<std::string> restored = stateOf(changed);
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(errorOf([&] { (void)train(changed, 1); }), Contains("ValueError") && Contains("'adagrad' (Adagrad)") &&
                                                              Contains("own_optimizer_1") && Contains("Nadam") &&
                                                              Contains("a.ckpt"));
  CHECK(stateOf(changed) == restored);
  Checkpoint(changed.model).save(folder / "b.ckpt"); // both states are still pending
  CHECK(ownIn(folder / "b.ckpt") == ownIn(path));
  const Trainee right = gan("float32", 5);
  Checkpoint(right.model).restore(folder / "b.ckpt");
  CHECK(train(right, 2) == expected);

  const Trainee known = gan("float32", 6, optimizers::Adagrad(0.01)); // after a step: applied at once
  (void)train(known, 1);
  const std::vector<std::string> before = stateOf(known);
  CHECK_THAT(errorOf([&] { Checkpoint(known.model).restore(path); }),
             Contains("ValueError") && Contains("Cannot restore") && Contains("'adagrad' (Adagrad)") &&
                 Contains("own_optimizer_1") && Contains("Nadam"));
  CHECK(stateOf(known) == before);
  (void)train(known, 1); // and no state is pending
}

TEST_CASE("A loss scale around an optimizer of a step comes and goes as that of compile()'s, and lines say so",
          "[checkpoint]") {
  TemporaryFolder folder;
  const Trainee scaled = gan("mixed_float16"), plain = gan();
  for (const Trainee *each : {&scaled, &plain})
    (void)train(*each, 2);
  Checkpoint(scaled.model).save(folder / "scaled.ckpt");
  Checkpoint(plain.model).save(folder / "plain.ckpt");
  const auto linesOf = [&](const Trainee &trainee, const char *file, const std::string &end) {
    const std::vector<std::string> lines = Checkpoint(trainee.model).restore(folder / file).converted;
    return std::ranges::count_if(lines, [&](const std::string &line) {
      return line.starts_with("own_optimizer") && line.find("/loss_scale_optimizer/") != line.npos &&
             line.ends_with(end);
    });
  };
  CHECK(linesOf(plain, "scaled.ckpt", ": not used, since the model's optimizer does not scale the loss") == 8);
  CHECK(linesOf(scaled, "plain.ckpt", ": reinitialized, since the file has none") == 8);
  CHECK(detail::asLossScaleOptimizer(scaled.parts.ofGenerator).state().scale == 0x1p20f);
  const Trainee waiting = gan("mixed_float16", 6); // applies the state at its first step
  (void)Checkpoint(waiting.model).restore(folder / "plain.ckpt");
  (void)train(waiting, 1);
  CHECK(waiting.parts.ofGenerator.iterations() >= 2);
}

TEST_CASE("BackupAndRestore and ModelCheckpoint keep the optimizers of a train_step()", "[checkpoint]") {
  TemporaryFolder folder;
  const auto fit = [](const Trainee &trainee, int64_t epochs, const std::vector<CallbackArg> &callbacks,
                      int64_t first = 0) {
    return trainee.model.fit(
        batch(), {},
        {.batch_size = 4, .epochs = epochs, .verbose = 0, .callbacks = callbacks, .initial_epoch = first})["loss"];
  };
  const LambdaCallback stop({.on_epoch_end = [](int64_t epoch, const Logs &) {
    if (epoch == 2)
      throw Error(ErrorKind::runtime_error, "interrupted");
  }});
  const Trainee whole = gan(), cut = gan(), resumed = gan("float32", 4), other = gan("float32", 5);
  set_random_seed(7);
  const std::vector<double> expected = fit(whole, 5, {ModelCheckpoint(folder / "{epoch}.ckpt")});
  const auto backup = [&] { return BackupAndRestore(folder / "backup"); };
  set_random_seed(7);
  CHECK_THAT(errorOf([&] { (void)fit(cut, 5, {backup(), stop}); }), Contains("interrupted"));
  CHECK(fit(resumed, 5, {backup()}) == last(expected, 2));
  CHECK(stateOf(resumed) == stateOf(whole));
  const Checkpoint::Restored restored = Checkpoint(other.model).restore(folder / "2.ckpt");
  CHECK(fit(other, 5, {}, restored.epoch) == last(expected, 3));
  CHECK(stateOf(other) == stateOf(whole));
}
