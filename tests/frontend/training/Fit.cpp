// fit, evaluate and predict: the number of batches that they draw, rejected arguments, and sample weights.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace halftone;
using namespace halftone::test;
using callbacks::LambdaCallback;
using Catch::Matchers::Contains;

namespace {

Sequential line() {
  Sequential model({layers::Input({1}), layers::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
  return model;
}
Tensor column(int64_t rows, float first = 0) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i)
    values.push_back(first + static_cast<float>(i));
  return Tensor(std::move(values), {rows, 1});
}

/// A stream of one-row batches, x = 0, 1, 2, ..., that fails if more batches are requested than it has.
struct Stream {
  int64_t given = 0, passes = 0;
  int64_t allowed = std::numeric_limits<int64_t>::max(), length = std::numeric_limits<int64_t>::max();
  Dataset dataset(std::optional<int64_t> cardinality = {}) {
    return Dataset::from_generator(
        [this] {
          ++passes;
          return [this, at = int64_t{0}]() mutable -> std::optional<Batch> {
            if (at == length)
              return std::nullopt;
            if (given == allowed)
              throw Error(ErrorKind::runtime_error, "asked for too much");
            ++at;
            return Batch{column(1, static_cast<float>(given++)), column(1)};
          };
        },
        cardinality);
  }
};

/// The losses by epoch. They identify batches: y is 0, so the loss is the mean of the squares of x.
std::vector<double> lossesOf(const Sequential &model, const Dataset &data, const FitArgs &args) {
  return model.fit(data, args)["loss"];
}

} // namespace

TEST_CASE("epochs of a number of steps go on in a stream and take no batch more") {
  Sequential model = line();
  Stream stream{.allowed = 6};
  CHECK(near(lossesOf(model, stream.dataset(), {.epochs = 3, .verbose = 0, .steps_per_epoch = 2}),
             {0.5, 6.5, 20.5})); // the squares of 0 and 1, of 2 and 3, of 4 and 5
  CHECK(stream.given == 6);
  CHECK(stream.passes == 1);
  Stream evaluated{.allowed = 3};
  CHECK(model.evaluate(evaluated.dataset(), {.verbose = 0, .steps = 3})["loss"] == Approx(5.0 / 3));
  CHECK(evaluated.given == 3);
  Stream batched{.allowed = 4};
  CHECK(near(lossesOf(model,
                      batched.dataset()
                          .map([](Batch b) { // back to single rows, for batch()
                            return Batch{b.x[0].reshape({1}), b.y[0].reshape({1})};
                          })
                          .batch(2),
                      {.verbose = 0, .steps_per_epoch = 2}),
             {3.5}));
}

TEST_CASE("validation with a number of steps begins anew each time and takes no batch more") {
  Sequential model = line();
  Stream stream{.allowed = 3}, validation;
  History history = model.fit(stream.dataset(), {.epochs = 3,
                                                 .verbose = 0,
                                                 .validation_data = validation.dataset(),
                                                 .steps_per_epoch = 1,
                                                 .validation_steps = 2});
  CHECK(history["val_loss"].size() == 3);
  CHECK(validation.given == 6);
  CHECK(validation.passes == 3);
}

TEST_CASE("epochs over a dataset that repeats for ever go on where the last one stopped") {
  Sequential model = line();
  const Dataset data = Dataset(column(3), Tensor::zeros({3, 1})).batch(1).repeat(); // the squares are 0, 1, 4
  CHECK(near(lossesOf(model, data, {.epochs = 3, .verbose = 0, .steps_per_epoch = 2}), {0.5, 2.0, 2.5}));
  CHECK(near(lossesOf(model, data, {.epochs = 1, .verbose = 0, .steps_per_epoch = 2}),
             {0.5})); // another fit() starts over
  CHECK(model.evaluate(data, {.verbose = 0, .steps = 4})["loss"] == Approx(5.0 / 4));
  const History history = model.fit(
      data, {.epochs = 2, .verbose = 0, .validation_data = data, .steps_per_epoch = 1, .validation_steps = 2});
  CHECK(near(history["val_loss"], {0.5, 0.5}));
}

TEST_CASE("A dataset that repeats for ever needs a number of steps") {
  Sequential model = line();
  int64_t begun = 0;
  const LambdaCallback count(
      {.on_train_begin = [&](const Logs &) { ++begun; }, .on_test_begin = [&](const Logs &) { ++begun; }});
  const Dataset data = Dataset(column(3), column(3)).batch(1).repeat(), finite = Dataset(column(3), column(3)).batch(1);
  const auto needs = [](const char *argument) {
    return Catch::Matchers::Predicate<Error>([=](const Error &error) {
      return error.kind() == ErrorKind::value_error &&
             error.message() == "When passing an infinitely repeating dataset, you must specify the `" +
                                    std::string(argument) + "` argument: repeat() without a count never ends";
    });
  };
  CHECK_THROWS_MATCHES(model.fit(data, {.verbose = 0, .callbacks = {count}}), Error, needs("steps_per_epoch"));
  CHECK_THROWS_MATCHES(model.fit(data.prefetch(2).map([](Batch b) { return b; }), {.verbose = 0}), Error,
                       needs("steps_per_epoch"));
  CHECK_THROWS_MATCHES(model.evaluate(data, {.verbose = 0, .callbacks = {count}}), Error, needs("steps"));
  CHECK_THROWS_MATCHES(model.fit(finite, {.verbose = 0, .callbacks = {count}, .validation_data = data}), Error,
                       needs("validation_steps"));
  CHECK_THROWS_MATCHES(model.fit(column(3), column(3), {.verbose = 0, .validation_data = data}), Error,
                       needs("validation_steps"));
  CHECK(begun == 0);
  CHECK(model.optimizer().iterations() == 0);
  CHECK(lossesOf(model, data.take(3), {.verbose = 0}).size() == 1);
  CHECK(lossesOf(model, finite.repeat(2), {.verbose = 0}).size() == 1);
  CHECK(model.optimizer().iterations() == 3 + 6);
  CHECK_THROWS_WITH(model.fit(finite.repeat(0), {.verbose = 0}), Contains("the dataset is empty"));
  CHECK_THROWS_WITH(model.fit(Stream{.length = 0}.dataset().repeat(), {.verbose = 0, .steps_per_epoch = 2}),
                    Contains("the dataset is empty"));
}

TEST_CASE("epochs over a cache ask its source once") {
  Sequential model = line();
  Stream stream{.length = 4};
  const std::vector<double> losses = lossesOf(model, stream.dataset().cache(), {.epochs = 3, .verbose = 0});
  CHECK(losses == std::vector<double>(3, losses[0]));
  CHECK(stream.given == 4);
  Stream known{.length = 4};
  const Dataset kept = known.dataset(4).cache(); // fit() does not request the end of a pass
  model.fit(kept.prefetch(2), {.epochs = 3, .verbose = 0});
  (void)model.evaluate(kept, {.verbose = 0});
  CHECK(known.given == 4);
  CHECK(known.passes == 1);
}

TEST_CASE("fit asks a stream of known length for no more elements") {
  Sequential model = line();
  Stream stream{.allowed = 4};
  CHECK(near(lossesOf(model, stream.dataset(2), {.epochs = 2, .verbose = 0}), {0.5, 6.5}));
  CHECK(stream.passes == 2);
  Stream elements{.allowed = 3};
  CHECK(lossesOf(model,
                 elements.dataset(3)
                     .map([](Batch b) { return Batch{b.x[0].reshape({1}), b.y[0].reshape({1})}; })
                     .shuffle(100)
                     .batch(2),
                 {.verbose = 0})
            .size() == 1);
}

TEST_CASE("EarlyStopping watches the epochs that have its value") {
  Sequential model = line();
  CapturedOutput output;
  callbacks::EarlyStopping stopping({.patience = 2, .restore_best_weights = true}); // val_loss
  History history = model.fit(column(4), column(4),
                              {.epochs = 20,
                               .verbose = 0,
                               .callbacks = {&stopping},
                               .validation_data = {column(4), column(4)},
                               .validation_freq = 3});
  CHECK(stopping.stopped_epoch() == 8); // the third validation
  CHECK(history.epoch().size() == 9);
  CHECK(output.text == "\nwarning: Early stopping conditioned on metric `val_loss` which is not available. Available "
                       "metrics are: loss\n");
}

TEST_CASE("stop_training draws nothing more") {
  Sequential model = line();
  Stream stream{.allowed = 2};
  model.fit(stream.dataset(),
            {.verbose = 0, .callbacks = {LambdaCallback({.on_train_batch_end = [&](int64_t i, const Logs &) {
                             if (i == 1)
                               model.stop_training();
                           }})}});
  CHECK(stream.given == 2);
}

TEST_CASE("data that run out end the epoch with a warning, and the next begins anew") {
  Sequential model = line();
  CapturedOutput output;
  Stream five{.length = 5};
  FitArgs pairs{.epochs = 4, .verbose = 0, .steps_per_epoch = 2};
  CHECK(lossesOf(model, five.dataset(), pairs).size() == 4); // batches of 2, 2, 1, and 2 of the next pass
  CHECK(five.given == 7);
  CHECK_THAT(output.text, Contains("Your input ran out of data; interrupting training: 1 of 2 batches were provided"));
  output.text.clear();
  Stream four{.length = 4};
  CHECK(lossesOf(model, four.dataset(), pairs).size() == 4); // two epochs per pass
  CHECK(four.given == 8);
  CHECK(output.text.empty());
  Stream known{.length = 5};
  CHECK(lossesOf(model, known.dataset(5), pairs).size() == 4);
  CHECK(known.given == 7);
  // The same applies to arrays, as in Keras.
  output.text.clear();
  History history = model.fit(column(3), Tensor::zeros({3, 1}),
                              {.batch_size = 1, .epochs = 3, .verbose = 0, .shuffle = false, .steps_per_epoch = 2});
  CHECK(near(history["loss"], {0.5, 4, 0.5}));
  CHECK_THAT(output.text, Contains("interrupting training: 1 of 2"));
  output.text.clear();
  model.evaluate(column(3), column(3), {.batch_size = 1, .verbose = 0, .steps = 9});
  CHECK_THAT(output.text, Contains("interrupting evaluation: 3 of 9"));
  CHECK(model.predict(column(3), {.batch_size = 2, .verbose = 0, .steps = 1}).shape() == Shape{2, 1});
  // A stream that cannot restart ends the training; a stream without a batch is an error.
  output.text.clear();
  auto left = std::make_shared<int>(3);
  Dataset once = Dataset::from_generator([left] {
    return [left]() -> std::optional<Batch> {
      return *left > 0 ? (--*left, std::optional(Batch{column(1), column(1)})) : std::nullopt;
    };
  });
  CHECK(lossesOf(model, once, {.epochs = 3, .verbose = 0}).size() == 1);
  CHECK_THAT(output.text, Contains("ran out of data"));
  CHECK_THAT(errorOf([&] { model.fit(once, {.verbose = 0}); }), Contains("the dataset is empty"));
  CHECK_THAT(errorOf([&] { model.evaluate(once, {.verbose = 0}); }), Contains("the dataset is empty"));
}

TEST_CASE("numbers that make no sense are one ValueError that names them") {
  Sequential model = line();
  Tensor x = column(6), y = column(6);
  auto refused = [&](FitArgs args, const char *text) {
    args.verbose = 0;
    INFO(text);
    CHECK_THAT(errorOf([&] { model.fit(x, y, args); }), Contains("ValueError") && Contains(text));
  };
  for (int64_t bad : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    refused({.batch_size = bad}, "batch_size must be positive");
    refused({.steps_per_epoch = bad}, "steps_per_epoch must be positive");
    refused({.validation_data = {x, y}, .validation_steps = bad}, "validation_steps must be positive");
    refused({.validation_data = {x, y}, .validation_batch_size = bad}, "validation_batch_size must be positive");
    refused({.validation_data = {x, y}, .validation_freq = bad}, "validation_freq must be positive");
    CHECK_THAT(errorOf([&] { model.evaluate(x, y, {.batch_size = bad, .verbose = 0}); }), Contains("batch_size"));
    CHECK_THAT(errorOf([&] { model.evaluate(x, y, {.verbose = 0, .steps = bad}); }), Contains("steps must be"));
    CHECK_THAT(errorOf([&] { model.predict(x, {.batch_size = bad, .verbose = 0}); }), Contains("batch_size"));
    CHECK_THAT(errorOf([&] { model.predict(x, {.verbose = 0, .steps = bad}); }), Contains("steps must be"));
    CHECK_THAT(errorOf([&] { Dataset(x).batch(bad); }), Contains("batch_size must be positive"));
  }
  refused({.epochs = -1}, "epochs must not be negative");
  refused({.initial_epoch = -1}, "initial_epoch must not be negative");
  for (double share :
       {-0.1, 1.0, 1.5, 0.99999, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    refused({.validation_split = share}, "validation_split=");
  CHECK(model.fit(x, y, {.epochs = 0, .verbose = 0}).epoch().empty());
  CHECK(model.optimizer().iterations() == 0);
  CHECK(History().keys().empty());
}

TEST_CASE("the largest batch size and steps_per_epoch mean all data") {
  Sequential model = line();
  Tensor x = column(6), y = column(6);
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  CapturedOutput output;
  for (int64_t size : {largest, largest - 5, int64_t{6}, int64_t{7}}) {
    model.fit(x, y, {.batch_size = size, .verbose = 2, .validation_data = {x, y}, .validation_batch_size = size});
    CHECK_THAT(output.text, Contains("1/1 - "));
    output.text.clear();
    CHECK(model.evaluate(x, y, {.batch_size = size, .verbose = 0})["loss"] == 0.0);
    CHECK(model.predict(x, {.batch_size = size, .verbose = 0}).shape() == Shape{6, 1});
    CHECK(Dataset(x, y).batch(size).cardinality() == 1);
    CHECK(Dataset::from_generator([] { return [] { return std::optional<Batch>(); }; }, largest)
              .batch(size)
              .cardinality() == (largest - 1) / size + 1);
  }
  CHECK(model.optimizer().iterations() == 4);
  model.fit(x, y, {.verbose = 2, .steps_per_epoch = largest});
  CHECK_THAT(output.text, Contains("ran out of data"));
}

TEST_CASE("class_weight weighs the batches of a dataset as it weighs arrays") {
  std::vector<float> classes{0, 1, 2, 1, 0, 2, 2}, weights;
  for (float each : classes)
    weights.push_back(each == 1.0f ? 0.25f : each == 2.0f ? 3.0f : 1.0f);
  std::vector<float> rows, oneHot;
  for (float each : classes)
    for (int i = 0; i < 3; ++i) {
      rows.push_back(each - static_cast<float>(i));
      oneHot.push_back(each == static_cast<float>(i));
    }
  Tensor x(rows, {7, 3}), index(classes, {7}), hot(oneHot, {7, 3});
  auto trained = [&](const Loss &loss, auto fit) {
    set_random_seed(3);
    Sequential model({layers::Input({3}), layers::Dense(3)});
    model.compile({.optimizer = "adam", .loss = loss});
    History history = fit(model);
    std::vector<double> result = history["loss"];
    for (const std::string &key : history.keys())
      result.push_back(history[key].back());
    for (const Tensor &weight : model.get_weights())
      for (double value : numbers(weight))
        result.push_back(value);
    return result;
  };
  const std::vector<std::pair<int64_t, double>> byClass{{1, 0.25}, {2, 3.0}};
  const FitArgs plain{.batch_size = 3, .epochs = 2, .verbose = 0, .shuffle = false};
  FitArgs weighed = plain, given = plain;
  weighed.class_weight = byClass;
  given.sample_weight = Tensor(weights, {7});
  Loss sparse = losses::SparseCategoricalCrossentropy({.from_logits = true});
  Loss dense = losses::CategoricalCrossentropy({.from_logits = true});
  auto onArrays = [&](const Tensor &y, const FitArgs &args) {
    return [&](const Sequential &model) { return model.fit(x, y, args); };
  };
  auto onDataset = [&](const Tensor &y, const FitArgs &args) {
    return [&](const Sequential &model) { return model.fit(Dataset(x, y).batch(3), args); };
  };
  for (const Tensor &y : {index, index.reshape({7, 1}), index.astype(int32), index.astype(uint8)}) {
    std::vector<double> expected = trained(sparse, onArrays(y, given));
    CHECK(trained(sparse, onArrays(y, weighed)) == expected);
    CHECK(trained(sparse, onDataset(y, weighed)) == expected);
    CHECK(trained(sparse, onArrays(y, plain)) != expected);
  }
  CHECK(trained(dense, onDataset(hot, weighed)) == trained(dense, onArrays(hot, given)));
  // Labels are rounded as in NumPy. A generator is a dataset too. Class weights do not apply to validation.
  std::vector<float> nearly = classes;
  for (float &each : nearly)
    each -= 0.001f;
  FitArgs split = weighed, splitPlain = plain;
  split.validation_split = splitPlain.validation_split = 0.4;
  auto first = [&](const FitArgs &args) {
    Sequential model({layers::Input({3}), layers::Dense(1, {.kernel_initializer = "ones"})});
    model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
    return model.fit(x, Tensor(nearly, {7, 1}), args);
  };
  CHECK(first(weighed)["loss"] == first(given)["loss"]);
  CHECK(first(split)["loss"] != first(splitPlain)["loss"]);
  CHECK(first(split)["val_loss"] == first(splitPlain)["val_loss"]);
  Dataset stream = Dataset::from_generator(
      [&] { return [&, left = 2]() mutable { return left-- > 0 ? std::optional(Batch{x, index}) : std::nullopt; }; });
  CHECK(trained(sparse, [&](const Sequential &model) { return model.fit(stream, weighed); }).size() > 2);

  Sequential model({layers::Input({3}), layers::Dense(3)});
  model.compile({.optimizer = "sgd", .loss = sparse});
  FitArgs with = weighed;
  CHECK_THAT(errorOf([&] { model.fit(Dataset(x, index, Tensor(weights, {7})).batch(3), with); }),
             Contains("You cannot `class_weight` and `sample_weight` at the same time."));
  CHECK_THAT(errorOf([&] { model.fit(x, Tensor::zeros({7, 2, 3}), with); }), Contains("one class per sample"));
  CHECK_THAT(errorOf([&] { model.fit(Dataset(x).batch(3), with); }), Contains("`class_weight` needs targets"));
  CHECK_THAT(errorOf([&] { model.fit(Dataset(x, index).batch(3), given); }),
             Contains("`sample_weight` should not be passed"));
  CHECK_THAT(errorOf([&] { model.fit(Dataset(x, index).batch(3), {.verbose = 0, .validation_split = 0.5}); }),
             Contains("`validation_split` is only supported for arrays"));
}
