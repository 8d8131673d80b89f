// A failed call leaves layers, models and optimizers unchanged: another call then works.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Saving.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <thread>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

/// A layer that throws in its first calls: when it is built, or when it is called.
struct Stubborn {
  std::shared_ptr<int> failures = std::make_shared<int>(1);
  bool inBuild = false;
  void build(BuildContext &, const Shape &) {
    if (inBuild)
      fail();
  }
  Value call(const Value &x) {
    if (!inBuild)
      fail();
    return x;
  }
  void fail() {
    if ((*failures)-- > 0)
      throw Error(ErrorKind::value_error, "not yet");
  }
};

/// Blocks in a list, each composed of layers.
struct Block {
  Dense wide{7, {.activation = "tanh", .name = "wide"}};
  LayerNormalization norm{{.name = "norm"}};
  Value call(const Value &x) { return norm(wide(x)); }
};
struct Stack {
  std::vector<Custom<Block>> blocks{Custom<Block>(Block(), {.name = "first"}),
                                    Custom<Block>(Block(), {.name = "second"})};
  Custom<Stubborn> stubborn;
  Dense last{2, {.name = "last"}};
  explicit Stack(const Stubborn &s) : stubborn(s, {.name = "stubborn"}) {}
  Value call(const Value &x) {
    Value y = x;
    for (const Custom<Block> &block : blocks)
      y = block(y);
    return last(stubborn(y));
  }
};

Sequential sequential(const Stubborn &stubborn) {
  return Sequential({Dense(4, {.name = "a"}), BatchNormalization({.name = "n"}), Dropout(0.3, {.name = "d"}),
                     Custom<Stubborn>(stubborn, {.name = "stubborn"}), Dense(2, {.name = "b"})},
                    {.name = "net"});
}
struct NamedModel {
  const char *name;
  Model (*make)(const Stubborn &stubborn);
};
std::vector<NamedModel> everyModel() {
  return {{"a Sequential", [](const Stubborn &s) -> Model { return sequential(s); }},
          {"a Sequential in a Sequential",
           [](const Stubborn &s) -> Model {
             return Sequential({Dense(3, {.name = "outer"}), sequential(s), Dense(2, {.name = "end"})},
                               {.name = "whole"});
           }},
          {"a custom model with a list of blocks",
           [](const Stubborn &s) -> Model { return Model(Stack(s), {.name = "stack"}); }}};
}

/// Checks everything that a first call determines.
void checkUnbuilt(const Layer &layer) {
  CAPTURE(layer.name());
  CHECK_FALSE(layer.built());
  CHECK(layer.path().empty());
  CHECK(layer.variables().empty());
  for (const Layer &child : layer.layers())
    checkUnbuilt(child);
}

Tensor inputs(int64_t width) { return counted({6, width}) * 0.1 - 0.5; }

/// The ways to make the first call of a model.
struct FirstCall {
  const char *name;
  std::function<void(const Model &model, int64_t width)> call;
};
std::vector<FirstCall> everyFirstCall() {
  const auto compiled = [](const Model &model, auto run) {
    model.compile({.optimizer = optimizers::Adam(0.01), .loss = "mse", .metrics = {"mae"}});
    run();
  };
  return {{"a call on data", [](const Model &m, int64_t width) { (void)m(inputs(width)); }},
          {"a call while training", [](const Model &m, int64_t width) { (void)m(inputs(width), {.training = true}); }},
          {"a call on an Input", [](const Model &m, int64_t width) { (void)m(Input({width})); }},
          {"predict", [](const Model &m, int64_t width) { (void)m.predict(inputs(width), {.verbose = 0}); }},
          {"evaluate",
           [=](const Model &m, int64_t width) {
             compiled(m, [&] { (void)m.evaluate(inputs(width), Tensor::zeros({6, 2}), {.verbose = 0}); });
           }},
          {"fit",
           [=](const Model &m, int64_t width) {
             compiled(m, [&] { m.fit(inputs(width), Tensor::zeros({6, 2}), {.verbose = 0, .shuffle = false}); });
           }},
          {"train_on_batch",
           [=](const Model &m, int64_t width) {
             compiled(m, [&] { (void)m.train_on_batch(inputs(width), Tensor::zeros({6, 2})); });
           }},
          {"a traced function", [](const Model &m, int64_t width) {
             (void)runOnce(Run::compiled, {inputs(width)},
                           [&](const std::vector<Value> &v) { return std::vector<Value>{m(v[0])}; });
           }}};
}

std::vector<std::vector<double>> weightsOf(const Model &model) {
  std::vector<std::vector<double>> all;
  for (const Tensor &weight : model.get_weights())
    all.push_back(numbers(weight));
  return all;
}

} // namespace

TEST_CASE("After a first call that fails, every layer is unbuilt, and an input of another width works") {
  for (const NamedModel &kind : everyModel())
    for (const FirstCall &first : everyFirstCall())
      for (const bool inBuild : {false, true}) {
        CAPTURE(kind.name, first.name, inBuild);
        set_random_seed(11);
        const Model model = kind.make({.inBuild = inBuild});
        CHECK(errorOf([&] { first.call(model, 3); }).ends_with("not yet"));
        checkUnbuilt(model);
        first.call(model, 5);
        set_random_seed(11);
        const Model expected = kind.make({.failures = std::make_shared<int>(0), .inBuild = inBuild});
        first.call(expected, 5);
        CHECK(weightsOf(model) == weightsOf(expected)); // the failed call has consumed no seeds
        CHECK(numbers(model(inputs(5))) == numbers(expected(inputs(5))));
      }
}

TEST_CASE("A layer whose call is refused stays unbuilt, in a graph and in a list of layers too") {
  const Dense first(4), second(4);
  const Custom<Stubborn> stubborn{Stubborn()};
  CHECK_FALSE(errorOf([&] { Sequential({Input({3}), first, stubborn, second}); }).empty());
  CHECK_FALSE(first.built());
  (void)Sequential({Input({5}), first, stubborn, second});
  CHECK(first.get_weights().front().shape() == Shape{5, 4});

  const Dense added(4);
  const Custom<Stubborn> wrong{Stubborn()};
  const Sequential model({Input({3})});
  const Sequential list({added, wrong});
  CHECK_FALSE(errorOf([&] { model.add(list); }).empty());
  CHECK_FALSE(list.built());
  CHECK_FALSE(added.built());
  CHECK(model.layers().empty());
  model.add(Dense(6));
  model.add(list);
  CHECK(added.get_weights().front().shape() == Shape{6, 4});
}

TEST_CASE("The axes of attention are those of the call that builds it, not of one that failed") {
  struct Attends {
    MultiHeadAttention attention{2, 4};
    Value call(const Value &x) {
      const Value y = attention(Values{x, x});
      if (x.rank() == 4)
        throw Error(ErrorKind::value_error, "no images");
      return y;
    }
  };
  const Custom<Attends> layer{Attends()};
  CHECK_FALSE(errorOf([&] { (void)layer(Tensor::zeros({2, 5, 6, 8})); }).empty());
  CHECK_FALSE(layer.self().attention.built());
  CHECK(layer(Tensor::zeros({2, 5, 8})).shape() == Shape{2, 5, 8});
}

TEST_CASE("A step that fails behind the model's layers leaves model and optimizer without state") {
  const Sequential model({Dense(4, {.name = "a"}), Dense(2, {.name = "b"})});
  const optimizers::Adam adam(0.01);
  bool fails = true;
  model.compile({.optimizer = adam, .loss = Loss([&](const Value &y, const Value &p) {
                                      if (fails)
                                        throw Error(ErrorKind::value_error, "no loss");
                                      return ops::mean(ops::square(y - p));
                                    })});
  const Tensor y = Tensor::zeros({6, 2});
  const auto unbuilt = [&] {
    CHECK_FALSE(model.built());
    for (const Layer &layer : model.layers())
      CHECK_FALSE(layer.built());
    CHECK(adam.variables().size() == 2);
  };
  CHECK_FALSE(errorOf([&] { model.fit(inputs(3), y, {.verbose = 0}); }).empty());
  unbuilt();
  CHECK_FALSE(errorOf([&] { (void)model.train_on_batch(inputs(3), y); }).empty());
  unbuilt();
  CHECK_FALSE(errorOf([&] { (void)model.evaluate(inputs(3), y, {.verbose = 0}); }).empty());
  unbuilt();
  fails = false;
  model.compile({.optimizer = adam, .loss = "mse", .max_standalone_casts = -1}); // no program passes this limit
  CHECK_FALSE(errorOf([&] { model.fit(inputs(3), y, {.verbose = 0}); }).empty());
  unbuilt();
  model.compile({.optimizer = adam, .loss = "mse"});
  model.fit(inputs(5), y, {.verbose = 0});
  CHECK(model.get_layer("a").get_weights().front().shape() == Shape{5, 4});
  CHECK(adam.iterations() == 1);
}

TEST_CASE("Targets of one shape that were refused do not decide the metrics of targets of another") {
  const Sequential model({Input({3}), Dense(4, {.activation = "softmax"})});
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  CHECK_FALSE(errorOf([&] { model.fit(inputs(3), Tensor::zeros({6, 4}), {.verbose = 0}); }).empty());
  const History history = model.fit(inputs(3), Tensor::zeros({6}, int32), {.verbose = 0});
  CHECK(history["accuracy"].size() == 1);
}

TEST_CASE("An error that a layer catches within its call undoes what failed, and nothing else") {
  struct Tries {
    Dense kept{4, {.name = "kept"}};
    Sequential fails{{Dense(3, {.name = "undone"}), Custom<Stubborn>(Stubborn())}, {.name = "fails"}};
    Value call(const Value &x) {
      const Value y = kept(x);
      try {
        return fails(y);
      } catch (const Error &) {
        return y;
      }
    }
  };
  const Custom<Tries> layer{Tries()};
  CHECK(layer(inputs(3)).shape() == Shape{6, 4});
  CHECK(layer.built());
  CHECK(layer.self().kept.built());
  CHECK_FALSE(layer.self().fails.built());
}

TEST_CASE("A model that a layer trains while it is traced stays trained though the trace fails") {
  const Sequential inner({Dense(2, {.name = "inner"})});
  inner.compile({.optimizer = "sgd", .loss = "mse"});
  struct Trains {
    Sequential inner;
    Value call(const Value &x) {
      inner.fit(inputs(3), Tensor::zeros({6, 2}), {.verbose = 0});
      throw Error(ErrorKind::value_error, "trained");
    }
  };
  const Sequential outer({Dense(4, {.name = "outer"}), Custom<Trains>(Trains{inner})});
  CHECK_FALSE(errorOf([&] { (void)outer(inputs(3)); }).empty());
  CHECK_FALSE(outer.layers()[0].built());
  CHECK(inner.built());
  CHECK(inner.optimizer().iterations() > 0);
}

TEST_CASE("Several threads may make the first call of a layer on data") {
  const Sequential model({Input({3}), Dense(4)});
  const std::vector<double> expected = numbers(model(inputs(3)));
  for (int round = 0; round < 20; ++round) {
    const Sequential same({Input({3}), model.layers()[0]});
    std::vector<std::thread> threads;
    std::vector<std::vector<double>> found(4);
    for (size_t i = 0; i < found.size(); ++i)
      threads.emplace_back([&, i] { found[i] = numbers(same(inputs(3))); });
    for (std::thread &thread : threads)
      thread.join();
    for (const std::vector<double> &each : found)
      CHECK(each == expected);
  }
}
