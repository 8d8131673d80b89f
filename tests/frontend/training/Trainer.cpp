// User code that compiles, destroys, moves, extends or runs a model while the model runs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace halftone;
using namespace halftone::test;
using callbacks::LambdaCallback;
using Catch::Matchers::Contains;

namespace {

Sequential small(const std::string &name = {}) {
  set_random_seed(4);
  return Sequential({layers::Input({3}), layers::Dense(4, {.activation = "tanh"}), layers::Dense(1)}, {.name = name});
}
CompileArgs sgd() { return {.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}}; }
CompileArgs adam() { return {.optimizer = "adam", .loss = "mae"}; }
Tensor inputs(int64_t rows = 12) { return Tensor::ones({rows, 3}); }
Tensor targets(int64_t rows = 12) { return Tensor::zeros({rows, 1}); }

/// Calls a function at every callback event.
struct Everywhere : Callback {
  explicit Everywhere(std::function<void()> f) : act(std::move(f)) {}
  std::function<void()> act;
  void on_train_begin(const Logs &) override { act(); }
  void on_train_end(const Logs &) override { act(); }
  void on_epoch_begin(int64_t, const Logs &) override { act(); }
  void on_epoch_end(int64_t, Logs &) override { act(); }
  void on_train_batch_begin(int64_t, const Logs &) override { act(); }
  void on_train_batch_end(int64_t, const Logs &) override { act(); }
  void on_test_begin(const Logs &) override { act(); }
  void on_test_end(const Logs &) override { act(); }
  void on_test_batch_end(int64_t, const Logs &) override { act(); }
  void on_predict_batch_end(int64_t, const Logs &) override { act(); }
};

/// Batches of 4 rows; calls `act` before each.
Dataset acting(std::function<void()> act, int batches = 3) {
  return Dataset::from_generator([=] {
    act();
    return [=, left = batches]() mutable -> std::optional<Batch> {
      act();
      if (left-- == 0)
        return std::nullopt;
      return Batch{inputs(4), targets(4)};
    };
  });
}

} // namespace

TEST_CASE("compile() in a run takes effect at the next one") {
  auto losses = [](const std::vector<CallbackArg> &callbacks) {
    Sequential model = small();
    model.compile(sgd());
    History history = model.fit(inputs(), targets(),
                                {.batch_size = 4,
                                 .epochs = 3,
                                 .verbose = 0,
                                 .callbacks = callbacks,
                                 .validation_data = {inputs(5), targets(5)}});
    CHECK(history.keys() == std::vector<std::string>{"loss", "mae", "val_loss", "val_mae"});
    return history["loss"];
  };
  Sequential *running = nullptr;
  struct Compiling : Callback {
    void on_epoch_end(int64_t, Logs &) override { model().compile(adam()); }
    void on_train_batch_begin(int64_t, const Logs &) override { model().compile(adam()); }
    void on_test_batch_end(int64_t, const Logs &) override { model().compile(adam()); }
  };
  CHECK(losses({Compiling{}}) == losses({}));

  Sequential model = small();
  model.compile(sgd());
  running = &model;
  auto again = [&] { running->compile(adam()); };
  model.fit(acting(again), {.epochs = 2, .verbose = 0, .validation_data = acting(again)});
  CHECK(model.optimizer().name() == "adam");
  CHECK(model.optimizer().iterations() == 0);
  model.fit(acting([] {}).map([&](Batch batch) {
    again();
    return batch;
  }),
            {.verbose = 0});
  model.fit(acting(again).prefetch(2), {.epochs = 2, .verbose = 0}); // calls it on another thread
  model.evaluate(inputs(), targets(), {.batch_size = 4, .verbose = 0, .callbacks = {Everywhere(again)}});
  model.evaluate(acting(again), {.verbose = 0});
  CHECK(model.predict(inputs(), {.batch_size = 4, .verbose = 0, .callbacks = {Everywhere(again)}}).shape() ==
        Shape{12, 1});
  History history = model.fit(inputs(), targets(), {.verbose = 0});
  CHECK(history.keys() == std::vector<std::string>{"loss"});
  CHECK(model.optimizer().iterations() == 1);
}

TEST_CASE("a function that is traced or evaluated for a step may call compile()") {
  Sequential model = small();
  auto again = [&] { model.compile(adam()); };
  model.compile({.optimizer = optimizers::SGD(LearningRate([&](int64_t) {
                   again();
                   return 0.1;
                 })),
                 .loss = Loss([&](const Value &y, const Value &p) {
                   again();
                   return ops::square(y - p);
                 }),
                 .metrics = {Metric([&](const Value &y, const Value &p) {
                   again();
                   return ops::abs(y - p);
                 })}});
  History history = model.fit(inputs(), targets(), {.batch_size = 5, .epochs = 2, .verbose = 0});
  CHECK(history["metric"].size() == 2);
  CHECK(history["loss"][1] < history["loss"][0]);
  CHECK(model.optimizer().name() == "adam");
}

TEST_CASE("a model destroyed or moved in its run stays until the run ends") {
  for (bool move : {false, true}) {
    auto each = [&](auto run) {
      auto model = std::make_unique<Sequential>(small());
      model->compile(sgd());
      std::optional<Sequential> other;
      auto act = [&] {
        if (model && move)
          other.emplace(std::move(*model));
        model.reset();
      };
      run(*model, act);
      CHECK(!model);
      if (move)
        CHECK(other->predict(inputs(), {.verbose = 0}).shape() == Shape{12, 1});
    };
    FitArgs args{.batch_size = 4, .epochs = 2, .verbose = 0};
    each([&](Sequential &model, auto act) {
      FitArgs own = args;
      own.callbacks = {Everywhere(act)};
      own.validation_data = {inputs(), targets()};
      CHECK(model.fit(inputs(), targets(), own)["val_loss"].size() == 2);
    });
    each([&](Sequential &model, auto act) { CHECK(model.fit(acting(act), args)["loss"].size() == 2); });
    each([&](Sequential &model, auto act) {
      CHECK(model.fit(acting(act), {.epochs = 2, .verbose = 0, .validation_data = acting(act)})["loss"].size() == 2);
    });
    each([&](Sequential &model, auto act) {
      CHECK(model.evaluate(inputs(), targets(), {.verbose = 0, .callbacks = {Everywhere(act)}}).contains("loss"));
    });
    each([&](Sequential &model, auto act) { CHECK(model.evaluate(acting(act), {.verbose = 0}).contains("mae")); });
    each([&](Sequential &model, auto act) {
      CHECK(model.predict(inputs(), {.batch_size = 5, .verbose = 0, .callbacks = {Everywhere(act)}}).size() == 12);
    });
  }
}

TEST_CASE("arguments that a callback destroys are held") {
  Sequential model = small();
  model.compile(sgd());
  auto args = std::make_unique<FitArgs>(FitArgs{.batch_size = 4, .epochs = 3, .verbose = 0});
  auto data = std::make_unique<Dataset>(acting([] {}));
  args->validation_data = acting([] {});
  args->callbacks = {LambdaCallback({.on_train_begin = [&](const Logs &) {
    args.reset();
    data.reset();
  }})};
  CHECK(model.fit(*data, *args)["val_loss"].size() == 3);
  CHECK(!args);
}

TEST_CASE("layers, policies and weights may change in a run") {
  Sequential model = small("changing");
  model.compile(sgd());
  std::vector<Tensor> weights = model.get_weights();
  History history =
      model.fit(inputs(), targets(), {.verbose = 0, .callbacks = {Everywhere([&] {
                                                      model.set_weights(weights);
                                                      model.apply_policy(DTypePolicyMap("mixed_bfloat16"));
                                                      model.predict(inputs(2), {.verbose = 0});
                                                      model.predict_on_batch(inputs(3));
                                                    })}});
  CHECK(history["loss"].size() == 1);
  std::vector<Tensor> after = model.get_weights();
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(numbers(after[i]) == numbers(weights[i]));

  auto grow = [&](const Layer &layer) {
    model.fit(inputs(), targets(),
              {.batch_size = 4, .verbose = 0, .callbacks = {Everywhere([&, grown = false]() mutable {
                                                if (!std::exchange(grown, true))
                                                  model.add(layer);
                                              })}});
  };
  grow(layers::Rescaling(0.5));
  CHECK(model.layers().size() == 3);
  CHECK_THAT(errorOf([&] { grow(layers::Dense(1)); }), Contains("ValueError: Unknown variable: changing/"));
}

TEST_CASE("a run may start inside another run") {
  Sequential model = small();
  model.compile(sgd());
  struct Nesting : Callback {
    bool inside = false;
    int64_t ends = 0;
    void on_epoch_end(int64_t, Logs &logs) override {
      ++ends;
      if (std::exchange(inside, true))
        return;
      model().fit(inputs(), targets(), {.epochs = 2, .verbose = 0, .callbacks = {this}});
      logs.set("again", model().evaluate(inputs(), targets(), {.verbose = 0, .callbacks = {this}})["loss"]);
      model().train_on_batch(inputs(2), targets(2));
      model().test_on_batch(inputs(2), targets(2));
      inside = false;
      CHECK_NOTHROW(model().name());
    }
  } nesting;
  History history = model.fit(inputs(), targets(), {.epochs = 2, .verbose = 0, .callbacks = {&nesting}});
  CHECK(history["again"].size() == 2);
  CHECK(nesting.ends == 6);
  CHECK_THAT(errorOf([&] { nesting.model(); }), Contains("only during fit"));
}

TEST_CASE("a function that is traced cannot run the program that it becomes") {
  Sequential model = small("mirror");
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {Metric([&](const Value &y, const Value &p) {
                                                      model.evaluate(inputs(), targets(), {.verbose = 0});
                                                      return ops::abs(y - p);
                                                    })}});
  CHECK_THAT(errorOf([&] { model.evaluate(inputs(), targets(), {.verbose = 0}); }),
             Contains("RuntimeError: mirror.test: was called by a function that is being traced for it"));
  CHECK_THAT(errorOf([&] { model.evaluate(inputs(), targets(), {.verbose = 0}); }), Contains("RuntimeError"));
}

TEST_CASE("a model whose outputs are no longer those that it was compiled for says so") {
  struct Growing {
    bool *two;
    Values call(const Values &x, const CallContext &) { return *two ? Values{x[0], x[0]} : Values{x[0]}; }
  };
  bool two = false;
  Model model(Growing{&two}, {.name = "growing"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.evaluate(inputs(), inputs(), {.verbose = 0});
  two = true;
  CHECK_THAT(errorOf([&] { model.evaluate(inputs(5), inputs(5), {.verbose = 0}); }),
             Contains("ValueError: the model has 2 outputs, but had 1 when it was compiled"));
}

TEST_CASE("a loss that is no scalar is an error that names it") {
  Sequential model = small();
  model.compile({.optimizer = "sgd", .loss = losses::MeanSquaredError({.reduction = Reduction::none})});
  CHECK_THAT(errorOf([&] { model.fit(inputs(), targets(), {.verbose = 0}); }),
             Contains("the loss 'mean_squared_error' returns shape (12,)"));
  auto line = [](auto f) {
    try {
      f();
    } catch (const Error &error) {
      CHECK_THAT(error.message(), Contains("gradients need a scalar loss, got shape (12, 1)"));
      return error.where().line;
    }
    return 0u;
  };
  auto step = jit([&](const Value &x) { // the errors must name the next two lines
    optimizers::SGD(0.1).minimize(model(x), model.trainable_variables());
    return x;
  });
  CHECK(line([&] { step(inputs()); }) == __LINE__ - 3);
  auto slope = jit([&](const Value &x) { return gradients(model(x), {x})[0]; });
  CHECK(line([&] { slope(inputs()); }) == __LINE__ - 1);
}

TEST_CASE("losses that layers add are summed, as Keras sums them") {
  struct Adding {
    Value call(const Value &x, const CallContext &context) {
      context.add_loss(x * 0.5);
      context.add_loss(ops::sum(x));
      return x;
    }
  };
  Sequential model({layers::Input({3}), Custom(Adding{}), layers::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile(sgd());
  CHECK(model.evaluate(inputs(), targets(), {.verbose = 0})["loss"] == 54.0);
  CHECK(model.fit(inputs(), targets(), {.verbose = 0})["loss"][0] == 54.0);
}
