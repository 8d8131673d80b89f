// Edge cases: sums that overflow a dtype, masks that broadcast, gradients that cancel; and the accompanying warnings.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Tensor maskOf(const std::vector<float> &steps, const Shape &shape) {
  return Tensor(std::vector<float>(steps), shape).astype(DType::bool_);
}

/// The output of a layer in training on an input and a mask.
template <class LayerClass> std::vector<double> masked(const LayerClass &layer, const Tensor &x, const Tensor &mask) {
  return numbers(runOnce(Run::compiled, {x, mask}, [&](const std::vector<Value> &v) {
    return std::vector<Value>{Value(layer(Values{v[0], v[1]}, {.training = true}))};
  })[0]);
}

/// The gradient of sum(f(x) * weights) by x.
std::vector<double> slope(Run run, const Tensor &x, const Tensor &weights,
                          const std::function<Value(const Value &)> &f) {
  return numbers(runOnce(run, {x, weights}, [&](const std::vector<Value> &v) {
    return std::vector<Value>{gradients(ops::sum(ops::cast(f(v[0]) * v[1], float32)), {v[0]})[0]};
  })[0]);
}

} // namespace

TEST_CASE("BatchNormalization counts the elements of a mask that broadcasts") {
  const Tensor ones = Tensor::ones({1, 2, 3, 4});
  for (const Shape &shape :
       {Shape{1, 2, 3}, Shape{1, 2, 1}, Shape{1, 1, 3}, Shape{1, 1, 1}, Shape{2, 3}, Shape{3}, Shape{1}}) {
    CAPTURE(shape.str());
    const layers::BatchNormalization layer;
    CHECK(near(masked(layer, ones, Tensor::ones(shape)), std::vector<double>(24, 0.0), 1e-3));
    CHECK(near(numbers(layer.get_weights()[2]), std::vector<double>(4, 0.01)));
    CHECK(near(numbers(layer.get_weights()[3]), std::vector<double>(4, 0.99)));
  }
  // Features along axis 1: the mask has elements for them too.
  const layers::BatchNormalization first({.axis = 1, .momentum = 0.0});
  masked(first, Tensor({1, 2, 3, 4, 5, 9}, {1, 2, 3}), maskOf({1, 0}, {1, 2}));
  CHECK(near(numbers(first.get_weights()[2]), {2.0, 0.0}));
  // A mask of one element per sample applies to all steps of the sample.
  const layers::BatchNormalization samples({.momentum = 0.0});
  masked(samples, Tensor({1, 3, 100, 200}, {2, 2, 1}), maskOf({1, 0}, {2, 1}));
  CHECK(near(numbers(samples.get_weights()[2]), {2.0}));
  CHECK(near(numbers(samples.get_weights()[3]), {1.0}));
}

TEST_CASE("A mask that does not broadcast is refused with its shape, the input's shape and the layer") {
  for (const Shape &shape : {Shape{1, 2}, Shape{4}, Shape{1, 2, 3, 4}, Shape{2, 2, 3}}) {
    CAPTURE(shape.str());
    const layers::BatchNormalization layer({.name = "norm"});
    try {
      masked(layer, Tensor::ones({1, 2, 3, 4}), Tensor::ones(shape));
      FAIL("no error");
    } catch (const Error &error) {
      CHECK(error.layer_path() == "norm");
      CHECK_THAT(error.message(), Contains("The mask has shape " + shape.str()) && Contains("(1, 2, 3, 4)"));
    }
  }
  const layers::GlobalAveragePooling1D pool;
  CHECK_THAT(errorOf([&] { masked(pool, Tensor::ones({2, 3, 4}), Tensor::ones({2, 4})); }),
             Contains("The mask has shape (2, 4)") && Contains("(2, 3, 4)"));
}

TEST_CASE("GlobalAveragePooling1D is 0 for a row without a step, and counts a mask that broadcasts") {
  const Tensor x({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  const layers::GlobalAveragePooling1D pool;
  CHECK(near(masked(pool, x, maskOf({0, 0, 0, 1, 0, 1}, {2, 3})), {0, 5}));
  CHECK(near(masked(pool, x, maskOf({1, 1}, {2, 1})), {2, 5}));
  CHECK(near(masked(pool, x, maskOf({1, 1, 0}, {1, 3})), {1.5, 4.5}));
  CHECK(near(masked(pool, x, maskOf({1, 0, 0}, {3})), {1, 4}));
  CHECK(near(masked(pool, Tensor({1, NAN, INFINITY}, {1, 3, 1}), maskOf({1, 0, 0}, {1, 3})), {1}));
  const Tensor mask = maskOf({0, 0, 0, 1, 1, 1}, {2, 3});
  const std::vector<Tensor> found = runOnce(Run::compiled, {x, mask}, [&](const std::vector<Value> &v) {
    return std::vector<Value>{gradients(ops::sum(pool(Values{v[0], v[1]})), {v[0]})[0]};
  });
  CHECK(near(numbers(found[0]), {0, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
  // The sum of the steps overflows float16, their mean does not.
  const layers::GlobalAveragePooling1D narrow({.dtype = "float16"});
  CHECK(near(masked(narrow, Tensor::full({1, 200, 1}, 1000.0), Tensor::ones({1, 200})), {1000}));
}

TEST_CASE("label_smoothing shares among the classes of the loss's axis") {
  const Tensor t({1, 0, 0, 1, 0, 0}, {1, 2, 3}), p({0.7f, 0.2f, 0.4f, 0.3f, 0.8f, 0.6f}, {1, 2, 3});
  const auto byHand = [&](int64_t axis, bool focal) {
    const std::vector<double> ts = numbers(t), ps = numbers(p);
    const int64_t classes = axis == 1 ? 2 : 3;
    double sum = 0;
    for (size_t i = 0; i < 6; ++i) {
      double whole = 0;
      for (size_t k = 0; k < 6; ++k)
        whole += (axis == 1 ? k % 3 == i % 3 : k / 3 == i / 3) ? ps[k] : 0.0;
      const double share = ps[i] / whole, target = ts[i] * 0.8 + 0.2 / static_cast<double>(classes);
      sum -= target * std::log(share) * (focal ? 0.25 * (1 - share) * (1 - share) : 1.0);
    }
    return sum / (6.0 / static_cast<double>(classes));
  };
  for (const int64_t axis : {1, -2, 2, -1}) {
    CAPTURE(axis);
    const int64_t front = axis < 0 ? axis + 3 : axis;
    const losses::CategoricalCrossentropy plain({.label_smoothing = 0.2, .axis = axis});
    const losses::CategoricalFocalCrossentropy focal({.label_smoothing = 0.2, .axis = axis});
    CHECK(near(numbers(plain(t, p)), {byHand(front, false)}, 1e-5));
    CHECK(near(numbers(focal(t, p)), {byHand(front, true)}, 1e-5));
    const metrics::CategoricalCrossentropy metric({.label_smoothing = 0.2, .axis = axis});
    metric.update_state(t, p);
    CHECK(near({metric.result()}, {byHand(front, false)}, 1e-5));
  }
}

TEST_CASE("Softmax and its relatives over axes whose sum leaves float16 are right, with their slopes") {
  for (const int64_t count : {65504, 65520, 70000}) {
    const Tensor x = Tensor::zeros({1, count}, float16);
    std::vector<float> first(static_cast<size_t>(count), 0.0f);
    first[0] = 1.0f;
    const Tensor pick = Tensor(std::vector<float>(first), {1, count}).astype(float16);
    const double share = 1.0 / static_cast<double>(count);
    for (const Run run : {Run::compiled, Run::strict}) {
      CAPTURE(count, static_cast<int>(run));
      const std::vector<Tensor> found = runOnce(run, {x}, [&](const std::vector<Value> &v) {
        const Value pair = ops::reshape(v[0], {1, 2, count / 2});
        return std::vector<Value>{ops::softmax(v[0]), ops::log_softmax(v[0]),
                                  ops::reshape(layers::Softmax(Axes{1, 2}, {.dtype = "float16"})(pair), {1, count}),
                                  ops::logsumexp(v[0], Axes{-1})};
      });
      CHECK(std::abs(numbers(found[0])[0] / share - 1) < 5e-3); // subnormal in float16
      CHECK(near({numbers(found[1])[0]}, {std::log(share)}, 1e-3));
      CHECK(std::abs(numbers(found[2])[count - 1] / share - 1) < 5e-3);
      CHECK(near(numbers(found[3]), {-std::log(share)}, 1e-3));
      CHECK(near({slope(run, x, pick, [](const Value &v) { return ops::log_softmax(v); })[0]}, {1 - share}, 1e-3));
      CHECK(std::abs(slope(run, x, pick, [](const Value &v) { return ops::softmax(v); })[0] / share - 1) < 5e-3);
    }
  }
  const losses::SparseCategoricalCrossentropy loss({.from_logits = true, .dtype = "float16"});
  CHECK(near(numbers(loss(Tensor::zeros({1}), Tensor::zeros({1, 70000}))), {std::log(70000.0)}, 1e-3));
  const losses::Dice dice({.dtype = "float16"});
  CHECK(near(numbers(dice(Tensor::ones({70000}), Tensor::ones({70000}))), {0}, 1e-3));
}

TEST_CASE("Ops that divide by a norm or a sum in float16 hold sums that float16 does not") {
  for (const Run run : everyRun) {
    const Tensor x = Tensor({3000, 4000}, {1, 2}).astype(float16);
    const std::vector<Tensor> found = runOnce(run, {x}, [&](const std::vector<Value> &v) {
      return std::vector<Value>{layers::UnitNormalization({.dtype = "float16"})(v[0]), constraints::UnitNorm(1)(v[0]),
                                layers::Dot(1, {.normalize = true, .dtype = "float16"})(Values{v[0], v[0]})};
    });
    CHECK(near(numbers(found[0]), {0.6, 0.8}, 1e-3));
    CHECK(near(numbers(found[1]), {0.6, 0.8}, 1e-3));
    CHECK(near(numbers(found[2]), {1.0}, 1e-3));
    const Tensor image = Tensor::full({1, 30, 30, 1}, 1000.0).astype(float16);
    const std::vector<Tensor> sums = runOnce(run, {image}, [&](const std::vector<Value> &v) {
      const Value matrix = ops::reshape(v[0], {450, 2});
      return std::vector<Value>{layers::AdaptiveAveragePooling2D(1, {.dtype = "float16"})(v[0]),
                                layers::GlobalAveragePooling2D({.dtype = "float16"})(v[0]), ops::mean(v[0]),
                                regularizers::OrthogonalRegularizer(1.0)(matrix), regularizers::L2(1e-6)(v[0])};
    });
    for (size_t i = 0; i < sums.size(); ++i)
      CHECK(near(numbers(sums[i]), {i < 3 ? 1000.0 : i == 3 ? 1.0 : 900.0}, 1e-3));
  }
}

TEST_CASE("Ops that divide by a norm have finite slopes at zeros") {
  const Tensor zeros = Tensor::zeros({1, 2}), ones = Tensor::ones({1, 2});
  for (const Run run : everyRun) {
    const auto slopesOf = [&](const std::function<Value(const Value &, const Value &)> &f) {
      return numbers(runOnce(run, {zeros, ones}, [&](const std::vector<Value> &v) {
        return std::vector<Value>{gradients(ops::sum(f(v[0], v[1])), {v[0]})[0]};
      })[0]);
    };
    const std::vector<std::vector<double>> all = {
        slopesOf([](const Value &x, const Value &) { return layers::UnitNormalization()(x); }),
        slopesOf([](const Value &x, const Value &y) { return losses::CosineSimilarity()(y, x); }),
        slopesOf([](const Value &x, const Value &y) { return layers::Dot(1, {.normalize = true})(Values{x, y}); })};
    for (const std::vector<double> &each : all)
      CHECK((each.size() == 2 && std::isfinite(each[0]) && std::isfinite(each[1])));
    CHECK(slopesOf([](const Value &x, const Value &y) {
            return regularizers::OrthogonalRegularizer(1.0)(ops::concatenate({x, y}, 0));
          }) == std::vector<double>{0, 0});
  }
}

TEST_CASE("BinaryCrossentropy of logits has the slope of a confident right label") {
  for (const Run run : everyRun)
    for (const double z : {0.0, 0.5, 20.0, 60.0, -20.0, -60.0})
      for (const double label : {0.0, 0.25, 1.0}) {
        CAPTURE(static_cast<int>(run), z, label);
        const std::vector<Tensor> found =
            runOnce(run, {Tensor::full({1, 1}, z), Tensor::full({1, 1}, label)}, [](const std::vector<Value> &v) {
              const Value loss = losses::BinaryCrossentropy({.from_logits = true})(v[1], v[0]);
              return std::vector<Value>{loss, gradients(loss, {v[0]})[0]};
            });
        const double value = std::max(z, 0.0) - z * label + std::log1p(std::exp(-std::abs(z)));
        const double exact = label == 1.0 ? -1 / (1 + std::exp(z)) : 1 / (1 + std::exp(-z)) - label;
        CHECK(near(numbers(found[0]), {value}));
        CHECK(std::abs(numbers(found[1])[0] - exact) <= 1e-5 * std::abs(exact));
      }
}

TEST_CASE("A matrix of counts is exact above 2^24 samples in one update", "[full]") {
  const int64_t count = (int64_t(1) << 24) + 155;
  const metrics::MeanIoU mean(2);
  const Tensor zeros = Tensor::zeros({count}, uint8);
  mean.update_state(zeros, zeros);
  CHECK(numbers(mean.variables()[0])[0] == static_cast<double>(count));
}

TEST_CASE("compile() warns once of layers of mixed_float16 whose loss nothing scales") {
  const auto said = [](const CompileArgs &args, const char *policy) {
    PolicyScope scope(policy);
    const Sequential model(
        {Input({3}), layers::Dense(2, {.dtype = "mixed_float16", .name = "narrow"}), layers::Dense(1)});
    CapturedOutput output;
    model.compile(args);
    return output.text;
  };
  const CompileArgs plain{.optimizer = "sgd", .loss = "mse"};
  const std::string text = said(plain, "float32");
  CHECK_THAT(text,
             Contains("narrow' is mixed_float16, but the model's own policy is 'float32', so nothing scales the loss"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(said(plain, "mixed_float16").empty());
  CHECK(said({.optimizer = "sgd", .loss = "mse", .auto_scale_loss = false}, "float32").empty());
  CHECK(said({.optimizer = optimizers::LossScaleOptimizer("sgd"), .loss = "mse"}, "float32").empty());
  CHECK(said({.optimizer = optimizers::SGD(0.1, {.loss_scale_factor = 128.0}), .loss = "mse"}, "float32").empty());
}

TEST_CASE("A Sequential without an Input warns if its dtype rounds ids of its Embedding") {
  const auto said = [](const char *policy, int64_t rows, bool hasInput) {
    PolicyScope scope(policy);
    CapturedOutput output;
    const layers::Embedding table(rows, 2);
    const Sequential model = hasInput ? Sequential({Input({4}, {.dtype = int32}), table}) : Sequential({table});
    (void)model.predict(Tensor::zeros({1, 4}, int32), {.verbose = 0});
    return output.text;
  };
  CHECK_THAT(said("mixed_float16", 5000, false),
             Contains("has no Input, so its input is cast to float16") && Contains("ids above 2048 are rounded"));
  CHECK_THAT(said("mixed_bfloat16", 258, false), Contains("ids above 256 are rounded"));
  CHECK(said("mixed_bfloat16", 257, false).empty());
  CHECK(said("mixed_float16", 2049, false).empty());
  CHECK(said("mixed_float16", 5000, true).empty());
  CHECK(said("float32", 5000, false).empty());
}
