// Models cut out of other models: parts of functional and Sequential models by the outputs of their layers.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using layers::Dense;

namespace {

Tensor wave(const Shape &shape) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::cos(0.9f * static_cast<float>(i));
  return Tensor(values, shape);
}
Tensor predicted(const Model &model, const Tensor &x) { return model.predict(x, {.verbose = 0}); }
Model upTo(const Model &model, const char *layer) { return Model(model.inputs(), {model.get_layer(layer).output()}); }

} // namespace

TEST_CASE("Outputs of a Sequential's layers are those of its present graph") {
  const Tensor x = wave({3, 4});
  const Input input({4}, {.name = "x"});
  const Sequential model({input, Dense(5, {.name = "a"}), layers::ReLU({.name = "b"})});
  CHECK(model.output().node() == model.outputs()[0].node());
  CHECK(model.input().node() == input.node());
  CHECK(model.get_layer("a").input().node() == input.node());
  CHECK(numbers(predicted(upTo(model, "a"), x)) == numbers(model.get_layer("a")(x)));
  const Value held = model.get_layer("b").output(); // keeps the old graph alive
  model.pop();
  model.add(Dense(2, {.name = "c"}));
  CHECK(numbers(predicted(upTo(model, "a"), x)) == numbers(model.get_layer("a")(x)));
  CHECK(numbers(predicted(upTo(model, "c"), x)) == numbers(predicted(model, x)));
  CHECK(numbers(predicted(Model({input}, {held}), x)) == numbers(layers::ReLU()(model.get_layer("a")(x))));
  CHECK_THAT(errorOf([&] { model.add(Dense(2, {.name = "c"})); }), Contains("unique names"));
  CHECK(numbers(predicted(upTo(model, "a"), x)) == numbers(model.get_layer("a")(x))); // a rejection changes nothing
}

TEST_CASE("Outputs of the layers of a Sequential without an Input stand from its first call on") {
  const Tensor x = wave({3, 4});
  const Sequential model({Dense(5, {.name = "a"}), Dense(2, {.name = "b"})});
  CHECK_THAT(errorOf([&] { (void)model.get_layer("a").output(); }), Contains("AttributeError"));
  (void)model(x);
  CHECK(numbers(predicted(upTo(model, "a"), x)) == numbers(model.get_layer("a")(x)));
  model.pop();
  (void)model(x);
  CHECK(numbers(predicted(upTo(model, "a"), x)) == numbers(predicted(model, x)));
}

TEST_CASE("A layer of an inner model has its output in the inner model's graph") {
  const Tensor x = wave({3, 4});
  const Sequential inner({Input({4}), Dense(5, {.activation = "tanh", .name = "deep"}), Dense(3, {.name = "last"})},
                         {.name = "inner"});
  const Input in({4});
  const Dense head(2, {.name = "head"});
  const Model model({in}, {head(inner(in))});
  const Model found(model.get_layer("inner"));
  CHECK(numbers(predicted(upTo(found, "deep"), x)) == numbers(found.get_layer("deep")(x)));
  CHECK(numbers(predicted(upTo(model, "head"), x)) == numbers(predicted(model, x)));
  CHECK(model.get_layer("head").input().shape() == Shape({-1, 3}));
  CHECK_THAT(errorOf([&] { Model(model.inputs(), {found.get_layer("deep").output()}); }), Contains("not connected"));
}

TEST_CASE("A model cut out of one that was read from a config shares its weights") {
  const Tensor x = wave({3, 4});
  const Input in({4});
  const Dense shared(4, {.activation = "relu", .name = "shared"});
  const Model written({in}, {Dense(2, {.name = "head"})(shared(shared(in)))});
  const Model model = Model::from_config(Config::parse(written.to_json()));
  const Layer read = model.get_layer("shared");
  const Model cut(model.inputs(), {read.output(), model.output()}); // the first of two calls
  const Tensors found = cut.predict_all(Tensors{x}, {.verbose = 0});
  CHECK(numbers(found[0]) == numbers(read(x)));
  CHECK(numbers(found[1]) == numbers(predicted(model, x)));
  read.weights().at(0).assign(Tensor::ones({4, 4}));
  CHECK(numbers(cut.predict_all(Tensors{x}, {.verbose = 0})[1]) == numbers(predicted(model, x)));
}

TEST_CASE("The gradient by a layer's output in a cut model, as Grad-CAM takes it") {
  set_random_seed(11);
  const Sequential model({Input({6, 6, 2}), layers::Conv2D(3, {3, 3}, {.activation = "relu", .name = "conv"}),
                          layers::GlobalAveragePooling2D({.name = "pool"}), Dense(4, {.name = "logits"})});
  const Model cut(model.inputs(), {model.get_layer("conv").output(), model.output()});
  const auto map = jit([cut](const Value &x) {
    const Values ends = cut.outputs(x);
    const Value score = ops::sum(ops::max(ends[1], -1));
    const Value slopes = gradients(score, std::vector<Value>{ends[0]})[0];
    const Value weights = ops::mean(slopes, {1, 2}, true);
    return ops::sum(ends[0] * weights, -1);
  });
  const Tensor x = wave({2, 6, 6, 2});
  const std::vector<double> found = numbers(map(x));
  // The score averages 16 positions times the weights of the largest logit. The gradients are these weights divided by
  // 16.
  const std::vector<double> features = numbers(predicted(upTo(model, "conv"), x)),
                            logits = numbers(predicted(model, x)),
                            kernel = numbers(model.get_layer("logits").weights()[0].value());
  std::vector<double> expected;
  for (size_t row = 0; row < 2; ++row) {
    const auto own = logits.begin() + static_cast<std::ptrdiff_t>(row) * 4;
    const auto best = static_cast<size_t>(std::max_element(own, own + 4) - own);
    for (size_t place = 0; place < 16; ++place) {
      double sum = 0;
      for (size_t channel = 0; channel < 3; ++channel)
        sum += features[(row * 16 + place) * 3 + channel] * kernel[channel * 4 + best] / 16;
      expected.push_back(sum);
    }
  }
  CHECK(near(found, expected, 1e-5));
}
