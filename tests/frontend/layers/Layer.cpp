// The input and output Values of a layer's first call, and the losses of a layer in a function being traced.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using layers::Dense;

namespace {

Tensor wave(const Shape &shape, float phase = 0.0f) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(0.7f * static_cast<float>(i) + phase);
  return Tensor(values, shape);
}

/// A layer with two outputs: half of x, and twice x.
struct Both {
  Values call(const Values &x) const { return {x[0] * 0.5, x[0] * 2.0}; }
};

/// The values of the losses that `of` returns in a function being traced that first calls `layer` on `x`.
std::vector<double> lossesIn(const Layer &layer, const Tensor &x, const std::function<std::vector<Value>()> &of,
                             Run run = Run::strict) {
  const std::vector<Tensor> found = runOnce(run, {x}, [&](const std::vector<Value> &v) {
    (void)layer(v[0], {.training = true});
    std::vector<Value> losses = of();
    for (const Value &loss : losses)
      CHECK(loss.rank() == 0);
    return losses;
  });
  std::vector<double> all;
  for (const Tensor &each : found)
    all.push_back(numbers(each).at(0));
  return all;
}
std::vector<double> lossesOf(const Layer &layer, const Tensor &x, Run run = Run::strict) {
  return lossesIn(layer, x, [&] { return layer.losses(); }, run);
}
double sumOfSquares(const Tensor &tensor) {
  double sum = 0;
  for (const double each : numbers(tensor))
    sum += each * each;
  return sum;
}

} // namespace

TEST_CASE("output() and input() are those of a layer's first call, whose graph they belong to") {
  const Input x({4}, {.name = "x"}), other({4});
  const Dense hidden(3, {.activation = "relu", .name = "hidden"});
  const Value first = hidden(x), second = hidden(other);
  const layers::Add sum({.name = "sum"});
  const Value joined = sum({first, second});
  const Model model({x, other}, {joined});
  CHECK(hidden.output().shape() == Shape({-1, 3}));
  CHECK(hidden.output().dtype() == float32);
  CHECK(hidden.output().layer_path() == hidden.path());
  CHECK(hidden.input().node() == x.node());
  CHECK(sum.input(1).node() == second.node());
  CHECK(model.output().node() == joined.node());
  CHECK(model.input(1).node() == other.node());
  CHECK(model.get_layer("x").output().node() == x.node());
  CHECK(model.get_layer("x").input().node() == x.node());
  const Model cut({x}, {hidden.output(), model.get_layer("hidden").output()});
  const Tensor data = wave({5, 4});
  const Tensors found = cut.predict_all(Tensors{data}, {.verbose = 0});
  CHECK(numbers(found[0]) == numbers(hidden(data)));
  CHECK(numbers(found[1]) == numbers(found[0]));
  CHECK_THAT(errorOf([&] { Model({other}, {hidden.output()}); }), // the first call is on x
             Contains("ValueError: `inputs` not connected to `outputs`"));
}

TEST_CASE("output() has an index for each output of a call") {
  const Input x({4});
  const Custom both(Both{});
  const Values ends = both.outputs(x);
  const Model model({x}, {both.output(1)});
  const Tensor data = wave({2, 4});
  CHECK(numbers(model.predict(data, {.verbose = 0})) == numbers(data * 2.0));
  CHECK_THAT(errorOf([&] { (void)both.output(2); }),
             Contains("ValueError") && Contains("has 2 outputs, but output(2)"));
  CHECK_THAT(errorOf([&] { (void)both.input(1); }), Contains("ValueError") && Contains("has 1 input, but input(1)"));
  CHECK_THAT(errorOf([&] { (void)model.output(1); }),
             Contains("ValueError") && Contains("has 1 output, but output(1)"));
  CHECK_THAT(errorOf([&] { (void)model.layers().at(0).output(1); }),
             Contains("ValueError") && Contains("has 1 output"));
}

TEST_CASE("A layer without a call in a graph that lives has no output") {
  const Dense layer(2, {.name = "lonely"});
  const auto output = [](const Layer &of) { return errorOf([&] { (void)of.output(); }); };
  CHECK_THAT(output(layer),
             Contains("AttributeError: The layer lonely has never been called on an Input and thus has no "
                      "defined output."));
  CHECK_THAT(errorOf([&] { (void)layer.input(); }), Contains("AttributeError") && Contains("no defined input."));
  (void)layer(wave({2, 3})); // a call on data: no graph
  CHECK_THAT(output(layer), Contains("has never been called on an Input"));
  {
    const Value end = layer(Input({3}));
    CHECK(layer.output().shape() == Shape({-1, 2}));
  }
  CHECK_THAT(output(layer), Contains("AttributeError: The graph in which layer 'lonely' was called no longer exists"));
  const Input x({3});
  const Value kept = layer(x); // the first call whose graph is alive
  CHECK(layer.input().node() == x.node());
  const Sequential unbuilt({layer});
  CHECK_THAT(output(unbuilt), Contains("AttributeError: Sequential model '") && Contains("has no defined output yet"));
  CHECK_THAT(errorOf([&] { (void)layer(Input({7})); }), Contains("ValueError")); // a failed call changes nothing
  CHECK(layer.input().node() == x.node());
}

TEST_CASE("losses() are the losses of the calls so far and the penalties of weights, of a layer and those below") {
  set_random_seed(3);
  const Tensor x = wave({4, 3});
  const Dense first(5, {.kernel_regularizer = regularizers::L2(0.25), .name = "first"}),
      second(2, {.bias_initializer = "ones",
                 .bias_regularizer = regularizers::L1(0.5),
                 .activity_regularizer = regularizers::L2(0.125),
                 .name = "second"});
  const Sequential inner({Input({5}), second}, {.name = "inner"}), model({Input({3}), first, inner}, {.name = "net"});
  for (const Run run : everyRun) {
    const double activity = 0.125 * sumOfSquares(model(x)) / 4; // as in Keras, divided by the rows of the batch
    const double kernel = 0.25 * sumOfSquares(first.weights().at(0).value()), bias = 0.5 * 2;
    const auto below = [&](const Layer &layer) { return lossesIn(model, x, [&] { return layer.losses(); }, run); };
    CHECK(near(lossesOf(model, x, run), {activity, kernel, bias}, 1e-5));
    CHECK(near(below(inner), {activity, bias}, 1e-5));
    CHECK(near(below(second), {activity, bias}, 1e-5));
    CHECK(near(below(first), {kernel}, 1e-5));
    CHECK(lossesIn(model, x, [] { return Dense(3).losses(); }, run).empty());
  }
  const auto twice = lossesIn(model, x, [&] { // two calls: both count
    (void)model(ops::zeros({2, 3}));
    return second.losses();
  });
  CHECK(twice.size() == 3);
}

TEST_CASE("losses() outside of a function being traced is a RuntimeError") {
  const Dense layer(2, {.kernel_regularizer = "l2", .name = "penalized"});
  CHECK_THAT(errorOf([&] { (void)layer.losses(); }),
             Contains("RuntimeError: losses() of layer 'penalized' is for functions being traced"));
}

TEST_CASE("Layers of one name have losses of their own") {
  const auto net = [](double factor) {
    return Sequential({Input({3}), Dense(2, {.activity_regularizer = regularizers::L2(factor), .name = "same"})},
                      {.name = "net"});
  };
  const Sequential a = net(0.5), b = net(0.25);
  const Tensor x = wave({2, 3});
  const auto found = lossesIn(a, x, [&] {
    (void)b(ops::ones({2, 3}));
    std::vector<Value> all = a.losses();
    for (const Value &loss : b.losses())
      all.push_back(loss);
    return all;
  });
  CHECK(near(found, {0.5 * sumOfSquares(a(x)) / 2, 0.25 * sumOfSquares(b(Tensor::ones({2, 3}))) / 2}, 1e-5));
}

namespace {

/// Adds losses of its own, one of them from an inner layer that each call creates, and reads the losses so far.
struct Adding {
  Dense inner{2, {.kernel_initializer = "ones", .kernel_regularizer = regularizers::L1(1.0)}};
  mutable std::vector<size_t> counts{};
  Value call(const Value &x, const CallContext &context) const {
    counts.push_back(inner.losses().size());
    const Value y = inner(x);
    context.add_loss(ops::mean(y));
    const layers::ActivityRegularization made({.l2 = 1.0});
    const Value z = made(y);
    context.add_loss(ops::ones({2, 2}, int32)); // as Keras's Trainer adds them: the sum, as a float
    return z;
  }
};

} // namespace

TEST_CASE("losses() has what add_loss() gave, also of layers that a call makes, as scalar floats") {
  const Custom<Adding> layer(Adding{});
  const Tensor x = Tensor::ones({4, 3});
  CHECK(near(lossesOf(layer, x), {3, 9 * 2, 4, 6}, 1e-5));
  CHECK(layer.self().counts.back() == 0); // the inner layer is not built yet
  const std::vector<double> found = lossesOf(layer, x);
  CHECK(near(found, {3, 9 * 2, 4, 6}, 1e-5));
  CHECK(layer.self().counts.back() == 1); // within the call, before the inner call: the penalty on the weight
}

TEST_CASE("losses() under policies, of frozen layers, and of layers that are computed again") {
  const Tensor x = wave({4, 3});
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16", "float16", "float64"}) {
    INFO(policy);
    const auto made = [&](const std::optional<std::string> &remat) {
      set_random_seed(5);
      const RematScope scope(remat);
      const Dense layer(6, {.kernel_regularizer = regularizers::L2(0.5),
                            .activity_regularizer = regularizers::L1(0.25),
                            .dtype = policy,
                            .name = "again"});
      (void)layer(x); // initializes its weights
      return layer;
    };
    const Dense plain = made(std::nullopt), again = made("full");
    const std::vector<double> expected = lossesOf(plain, x);
    REQUIRE(expected.size() == 2);
    CHECK(near({expected[1]}, {0.5 * sumOfSquares(plain.weights().at(0).value())}, 1e-2));
    const auto outer = [](const Layer &layer) { return Sequential({Input({3}), layer}); };
    CHECK(lossesOf(outer(again), x) == expected);
    (void)lossesIn(plain, x, [&] {
      CHECK(plain.losses()[0].dtype() == plain.compute_dtype());
      CHECK(plain.losses()[1].dtype() == plain.variable_dtype());
      return std::vector<Value>{};
    });
    plain.set_trainable(false);
    CHECK(lossesOf(plain, x) == std::vector<double>{expected[0]}); // the activity loss remains, as in Keras
  }
}

TEST_CASE("A gradient goes through losses() to the weights, in a loop as in fit()") {
  set_random_seed(7);
  const auto net = [] {
    set_random_seed(7);
    const Sequential model({Input({3}),
                            Dense(4, {.activation = "tanh",
                                      .kernel_regularizer = regularizers::L1L2(0.01, 0.02),
                                      .activity_regularizer = regularizers::L2(0.03)}),
                            Dense(2, {.bias_regularizer = regularizers::L2(0.5)})});
    model.compile({.optimizer = optimizers::SGD(0.25), .loss = "mse", .numerics = Numerics::strict});
    return model;
  };
  const Sequential fitted = net(), looped = net();
  const Optimizer optimizer = looped.optimizer();
  const Loss squares = "mse";
  const auto step = jit(
      [=](const Value &x, const Value &y) {
        Value loss = squares(y, looped(x, {.training = true}));
        for (const Value &penalty : looped.losses())
          loss = loss + penalty;
        optimizer.minimize(loss, looped.trainable_variables());
        return loss;
      },
      {.numerics = Numerics::strict});
  for (int i = 0; i < 4; ++i) {
    const Tensor x = wave({6, 3}, static_cast<float>(i)), y = wave({6, 2}, 0.5f);
    CHECK(step(x, y).item<float>() == static_cast<float>(fitted.train_on_batch(x, y)["loss"]));
  }
  for (size_t i = 0; i < fitted.weights().size(); ++i)
    CHECK(numbers(looped.weights()[i]) == numbers(fitted.weights()[i]));
}
