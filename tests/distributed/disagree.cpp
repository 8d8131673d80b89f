// Two processes differ in one argument, field by field, or in one part of a model: both get an error that names it.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/ArgFields.h"
#include "tests/distributed/Ranks.h"
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <string>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using namespace halftone::detail;

namespace {

int failures = 0, cases = 0;

bool isOther() { return distribution::rank() == 1; }

constexpr int64_t rows = 16;
Tensor xs() { return Tensor::ones({rows, 3}); }
Tensor ys() { return Tensor::ones({rows, 1}); }

/// Runs `call` in both processes. Both must get a ValueError that contains `name`, or none if `name` is empty.
void expect(const std::string &what, const std::string &name, const std::function<void()> &call) {
  std::string error;
  try {
    call();
  } catch (const Error &thrown) {
    error = thrown.what();
  }
  const bool isRight = name.empty() ? error.empty()
                                    : error.starts_with("ValueError: The processes of this run do not agree: rank 0") &&
                                          error.find(name) != error.npos && error.find("rank 1") != error.npos;
  ++cases;
  if (!isRight) {
    ++failures;
    say(fmt::format("error {}: expected an error about '{}', got: {}", what, name, error));
  }
}

// Another value for each type of field. A field of a new type does not compile.
void edit(bool &value) { value = !value; }
void edit(std::string &value) { value += "x"; }
template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
void edit(T &value) {
  value = static_cast<T>(value + 1);
}
template <class T>
  requires std::is_enum_v<T>
void edit(T &value) {
  value = static_cast<T>(static_cast<int>(value) ^ 1);
}
template <class E> void edit(Choice<E> &value) { value = static_cast<E>(static_cast<int>(E(value)) ^ 1); }
template <class T> void edit(std::optional<T> &value) { value = T(7); }
void edit(std::optional<Device> &value) { value = Device::cpu(); } // unchanged: a test has no second kind of device
void edit(std::vector<double> &value) { value = {0.5}; }
void edit(std::vector<std::pair<int64_t, double>> &value) { value = {{1, 0.5}}; }
void edit(std::vector<CallbackArg> &value) { value.push_back(callbacks::TerminateOnNaN()); }
void edit(Tensors &value) { value = Tensor::ones({rows}); }
void edit(ValidationData &value) { value = ValidationData(xs(), ys()); }
void edit(Optimizer &value) { value = optimizers::SGD(0.5); }
void edit(LossSpec &value) { value = "mae"; }
void edit(MetricSpec &value) { value = {"mae"}; }

/// Calls `call` for each field of a struct, with arguments in which rank 1 has another value of this field.
template <class Args>
void eachArgument(const std::string &what, const Args &base, const std::function<void(const Args &)> &call) {
  int count = 0;
  Args counted = base;
  eachField(counted, [&](std::string_view, auto &) { ++count; });
  for (int place = 0; place < count; ++place) {
    Args args = base;
    std::string name;
    int next = 0;
    eachField(args, [&](std::string_view field, auto &value) {
      if (next++ != place)
        return;
      name = field;
      if (isOther())
        edit(value);
    });
    std::string expected = mayDiffer(name) || name == "device" || name == "communicator" ? "" : name;
    if (name == "jit_compile") // compile() rejects it without run_eagerly
      expected = "compile()";
    if (name == "communicator") // there is no other communicator
      continue;
    expect(what + " " + name, expected, [&] { call(args); });
  }
}

Sequential modelOf(const CompileArgs &args = {.optimizer = "sgd", .loss = "mse"}) {
  utils::clear_session();
  Sequential model({Input({3}), Dense(4, {.activation = "relu"}), Dense(1)});
  try {
    model.compile(args);
  } catch (const Error &) { // thrown in this process alone: the model is not compiled
  }
  return model;
}

void callArguments() {
  const FitArgs fit{.batch_size = 8, .epochs = 1, .verbose = 0};
  const Sequential model = modelOf();
  eachArgument<FitArgs>("fit()", fit, [&](const FitArgs &args) { model.fit(xs(), ys(), args); });
  eachArgument<FitArgs>("fit() of a dataset", fit,
                        [&](const FitArgs &args) { model.fit(Dataset(xs(), ys()).batch(8), args); });
  eachArgument<EvaluateArgs>("evaluate()", {.verbose = 0},
                             [&](const EvaluateArgs &args) { model.evaluate(xs(), ys(), args); });
  eachArgument<PredictArgs>("predict()", {.verbose = 0}, [&](const PredictArgs &args) { model.predict(xs(), args); });
  eachArgument<BatchArgs>("train_on_batch()", {},
                          [&](const BatchArgs &args) { model.train_on_batch(xs(), ys(), args); });
  eachArgument<BatchArgs>("test_on_batch()", {}, [&](const BatchArgs &args) { model.test_on_batch(xs(), ys(), args); });
  const CompileArgs compile{.optimizer = "sgd", .loss = "mse"};
  const auto compiled = [&](CompileArgs args) {
    if (args.optimizer.impl() == compile.optimizer.impl())
      args.optimizer = "sgd"; // an optimizer belongs to the variables of one model
    return modelOf(args);
  };
  eachArgument<CompileArgs>("compile(), fit()", compile,
                            [&](const CompileArgs &args) { compiled(args).fit(xs(), ys(), fit); });
  eachArgument<CompileArgs>("compile(), train_on_batch()", compile,
                            [&](const CompileArgs &args) { compiled(args).train_on_batch(xs(), ys()); });
  eachArgument<distribution::DataParallelArgs>("set_distribution()", {}, [&](const auto &args) {
    distribution::set_distribution(distribution::DataParallel(args));
    const Sequential fresh = modelOf();
    try {
      fresh.fit(xs(), ys(), fit);
    } catch (...) {
      distribution::set_distribution(distribution::DataParallel());
      throw;
    }
  });
}

void callbackArguments() {
  const Sequential model = modelOf();
  const auto fit = [&](const CallbackArg &callback) {
    model.fit(xs(), ys(), {.batch_size = 8, .verbose = 0, .callbacks = {callback}});
  };
  using namespace callbacks;
  eachArgument<EarlyStoppingArgs>("EarlyStopping", {.monitor = "loss"},
                                  [&](const auto &args) { fit(EarlyStopping(args)); });
  eachArgument<ReduceLROnPlateauArgs>("ReduceLROnPlateau", {.monitor = "loss", .factor = -1},
                                      [&](const auto &args) { fit(ReduceLROnPlateau(args)); });
  expect("ModelCheckpoint", "ModelCheckpoint",
         [&] { fit(ModelCheckpoint(isOther() ? "/tmp/a.ckpt" : "/tmp/b.ckpt")); });
  expect("BackupAndRestore", "BackupAndRestore", [&] { fit(BackupAndRestore(isOther() ? "/tmp/a" : "/tmp/b")); });
}

/// A user-defined layer without a config.
struct Scaling {
  double factor = 1;
  Value call(const Value &x) const { return x * factor; }
};

/// Models of which one part differs in rank 1, in each way of using a model.
void parts() {
  struct Part {
    std::string what, name;
    std::function<Layer(bool)> layer;
  };
  const auto dense = [](auto change) {
    return [change](bool other) {
      DenseArgs args;
      if (other)
        change(args);
      return Layer(Dense(4, args));
    };
  };
  const std::vector<Part> all{
      {"units", "units", [](bool other) { return Layer(Dense(other ? 5 : 4)); }},
      {"activation", "activation", dense([](DenseArgs &args) { args.activation = "tanh"; })},
      {"use_bias", "use_bias", dense([](DenseArgs &args) { args.use_bias = false; })},
      {"initializer", "kernel_initializer", dense([](DenseArgs &args) { args.kernel_initializer = "zeros"; })},
      {"regularizer", "kernel_regularizer",
       dense([](DenseArgs &args) { args.kernel_regularizer = regularizers::L2(0.1); })},
      {"constraint", "kernel_constraint",
       dense([](DenseArgs &args) { args.kernel_constraint = constraints::NonNeg(); })},
      {"trainable", "trainable", dense([](DenseArgs &args) { args.trainable = false; })},
      {"policy", "policy", dense([](DenseArgs &args) { args.dtype = "mixed_bfloat16"; })},
      {"rate", "rate", [](bool other) { return Layer(Dropout(other ? 0.5 : 0.25)); }},
      {"epsilon", "epsilon", [](bool other) { return Layer(BatchNormalization({.epsilon = other ? 0.1 : 0.2})); }},
      {"a layer of the user's", "program", [](bool other) { return Layer(Custom(Scaling{other ? 2.0 : 3.0})); }},
  };
  for (const Part &part : all)
    for (const char *call : {"fit()", "evaluate()", "train_on_batch()", "test_on_batch()", "predict()"}) {
      expect(fmt::format("{} in {}", part.what, call), part.name, [&] {
        utils::clear_session();
        Sequential model({Input({3}), part.layer(isOther()), Dense(1)});
        model.compile({.optimizer = "sgd", .loss = "mse"});
        switch (call[0] == 't' ? call[1] : call[0]) {
        case 'f':
          return (void)model.fit(xs(), ys(), {.verbose = 0});
        case 'e':
          return *call == 'e' ? (void)model.evaluate(xs(), ys(), {.verbose = 0})
                              : (void)model.test_on_batch(xs(), ys());
        case 'r':
          return (void)model.train_on_batch(xs(), ys());
        default:
          return (void)model.predict(xs(), {.verbose = 0});
        }
      });
    }
}

/// User-defined functions; arguments of losses, metrics and optimizers; the order of a graph's inputs; data.
void functions() {
  const FitArgs fit{.verbose = 0};
  const auto compiled = [&](const std::string &what, const std::string &name,
                            const std::function<CompileArgs(bool)> &args) {
    expect(what, name, [&] { modelOf(args(isOther())).fit(xs(), ys(), fit); });
  };
  compiled("a loss function", "program", [](bool other) -> CompileArgs {
    return {.optimizer = "sgd",
            .loss = Loss([other](const Value &t, const Value &p) { return ops::square(t - p) * (other ? 2.0 : 1.0); })};
  });
  compiled("a metric function", "program", [](bool other) -> CompileArgs {
    return {.optimizer = "sgd",
            .loss = "mse",
            .metrics = {Metric([other](const Value &t, const Value &p) { return other ? t - p : p - t; })}};
  });
  compiled("delta", "delta",
           [](bool other) -> CompileArgs { return {.optimizer = "sgd", .loss = losses::Huber(other ? 0.5 : 1)}; });
  compiled("threshold", "threshold", [](bool other) -> CompileArgs {
    return {.optimizer = "sgd", .loss = "mse", .metrics = {metrics::BinaryAccuracy({.threshold = other ? 0.25 : 0.5})}};
  });
  compiled("momentum", "momentum", [](bool other) -> CompileArgs {
    return {.optimizer = optimizers::SGD(0.1, {.momentum = other ? 0.5 : 0.75}), .loss = "mse"};
  });
  compiled("learning rate", "learning_rate",
           [](bool other) -> CompileArgs { return {.optimizer = optimizers::SGD(other ? 0.1 : 0.2), .loss = "mse"}; });
  compiled("schedule", "decay_steps", [](bool other) -> CompileArgs {
    return {.optimizer = optimizers::SGD(schedules::ExponentialDecay(0.1, other ? 5 : 6, 0.5)), .loss = "mse"};
  });
  expect("exclude_from_weight_decay()", "program", [&] {
    const Optimizer adam = optimizers::AdamW(0.1);
    if (isOther())
      adam.exclude_from_weight_decay({}, {"bias"});
    modelOf({.optimizer = adam, .loss = "mse"}).fit(xs(), ys(), fit);
  });
  expect("the order of inputs", "call", [&] {
    utils::clear_session();
    const Input in({3});
    const Value a = Dense(3)(in), b = Dense(3)(in);
    const Model model({in}, {Dense(1)(isOther() ? b - a : a - b)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.fit(xs(), ys(), fit);
  });
  const Sequential model = modelOf();
  expect("rows", "x",
         [&] { model.evaluate(Tensor::ones({isOther() ? 8 : 9, 3}), Tensor::ones({8, 1}), {.verbose = 0}); });
  expect("a dtype", "y", [&] { model.fit(xs(), isOther() ? ys().astype(int32) : ys(), fit); });
  expect("batches of a dataset", "dataset", [&] { model.fit(Dataset(xs(), ys()).batch(isOther() ? 4 : 8), fit); });
}

} // namespace

int main() {
  try {
    distribution::set_distribution(distribution::DataParallel());
    set_output([](std::string_view) {});
    callArguments();
    callbackArguments();
    parts();
    functions();
    say(fmt::format("{} cases, {} failures", cases, failures));
    return failures == 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
