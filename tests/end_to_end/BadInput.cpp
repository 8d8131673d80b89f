// Invalid input to whole programs: one clear error each, and an unchanged model.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::testing;
using Catch::Matchers::Contains;

namespace {
template <class F> Error errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return error;
  }
  FAIL("nothing was thrown");
  throw std::logic_error("unreachable");
}
} // namespace

TEST_CASE("wrong shapes, labels and data leave the model unchanged") {
  const datasets::Arrays &data = mnist();
  Sequential model = smallMlp("float32");
  Tensor x = data.x_train.slice(0, 64), y = data.y_train.slice(0, 64);
  model.fit(x, y, {.verbose = 0});
  auto before = valuesOf(model.variables());

  Error shape = errorOf([&] { model.fit(Tensor::zeros({8, 27, 28}, uint8), y.slice(0, 8), {.verbose = 0}); });
  CHECK(shape.kind() == ErrorKind::value_error);
  CHECK_THAT(shape.message(), Contains("(None, 28, 28)") && Contains("27"));
  CHECK_THAT(shape.what(), Contains("mlp"));

  Error label = errorOf([&] {
    std::vector<int32_t> labels(64, 3);
    labels[41] = 10;
    model.fit(x, Tensor(std::move(labels), {64}), {.verbose = 0, .shuffle = false});
  });
  CHECK(label.kind() == ErrorKind::value_error);
  CHECK_THAT(label.message(), Contains("10"));

  Error empty = errorOf([&] { model.fit(x.slice(0, 0), y.slice(0, 0), {.verbose = 0}); });
  CHECK(empty.kind() == ErrorKind::value_error);
  CHECK_THAT(empty.message(), Contains("no data"));
  CHECK_THAT(errorOf([&] {
               model.fit(Dataset::from_generator([] { return [] { return std::optional<Batch>(); }; }), {.verbose = 0});
             }).message(),
             Contains("empty"));
  CHECK_THAT(errorOf([&] { model.fit(x, y.slice(0, 32), {.verbose = 0}); }).message(), Contains("cardinality"));
  CHECK_THAT(errorOf([&] { model.fit(x, y, {.verbose = 0, .validation_split = 1.5}); }).message(),
             Contains("validation_split"));
  CHECK_THAT(errorOf([&] { model.fit(x, y, {.batch_size = 0, .verbose = 0}); }).message(), Contains("batch_size"));

  Error dtype =
      errorOf([&] { model.fit(Tensor::zeros({8, 28, 28}, DType::complex64), y.slice(0, 8), {.verbose = 0}); });
  CHECK(dtype.kind() == ErrorKind::type_error);
  CHECK_THAT(dtype.message(), Contains("complex64"));

  CHECK((valuesOf(model.variables()) == before));
  CHECK_NOTHROW(model.fit(x, y, {.verbose = 0}));
}

TEST_CASE("using a model before compile and naming unknown things are errors") {
  Sequential model({Input({3}), Dense(2)}, {.name = "net"});
  Tensor x = Tensor::zeros({2, 3}), y = Tensor::zeros({2}, int32);
  CHECK_THAT(errorOf([&] { model.fit(x, y); }).message(), Contains("You must call `compile()` before"));
  CHECK_THAT(errorOf([&] { set_dtype_policy("mixed_float15"); }).message(), Contains("mixed_float15"));
  CHECK_THAT(errorOf([&] { model.compile({.loss = "mean_cubed_error"}); }).message(), Contains("mean_cubed_error"));
  CHECK_THAT(errorOf([&] { model.compile({.optimizer = "adamant"}); }).message(), Contains("adamant"));
  model.compile({.optimizer = "sgd"});
  CHECK_THAT(errorOf([&] { model.fit(x, y, {.verbose = 0}); }).message(), Contains("No loss to compute"));
}

TEST_CASE("TerminateOnNaN ends training on a NaN input") {
  PolicyScope scope("float32");
  Sequential model({Input({4}), Dense(2)}, {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  std::vector<float> values(40 * 4, 0.5f);
  values[17 * 4] = std::numeric_limits<float>::quiet_NaN();
  Tensor x(std::move(values), {40, 4}), y = Tensor::zeros({40, 2});
  int64_t batches = 0;
  std::string written;
  set_output([&](std::string_view text) { written += text; });
  model.fit(
      x, y,
      {.batch_size = 4,
       .epochs = 3,
       .verbose = 0,
       .callbacks = {callbacks::TerminateOnNaN(),
                     callbacks::LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs &) { ++batches; }})},
       .shuffle = false});
  set_output({});
  CHECK(batches == 5); // sample 17 is in the fifth batch
  CHECK_THAT(written, Contains("Invalid loss, terminating training"));
  Error error = errorOf(
      [&] { model.fit(x, y, {.batch_size = 4, .verbose = 0, .callbacks = {callbacks::TerminateOnNaN(true)}}); });
  CHECK(error.kind() == ErrorKind::runtime_error);
}

TEST_CASE("EarlyStopping, CSVLogger and LearningRateScheduler") {
  const datasets::Arrays &data = mnist();
  Sequential model = smallMlp("float32");
  callbacks::EarlyStopping stopping(
      {.monitor = "loss", .min_delta = 100.0, .patience = 2, .restore_best_weights = true});
  std::vector<double> rates;
  History history = model.fit(data.x_train.slice(0, 64), data.y_train.slice(0, 64),
                              {.epochs = 10,
                               .verbose = 0,
                               .callbacks = {&stopping, callbacks::CSVLogger(scratchPath("history.csv")),
                                             callbacks::LearningRateScheduler([&](int64_t epoch, double rate) {
                                               rates.push_back(rate);
                                               return 1e-3 / (1.0 + static_cast<double>(epoch));
                                             })}});
  CHECK(stopping.stopped_epoch() == 2);
  CHECK(history.epoch().size() == 3);
  CHECK(rates[1] == Approx(1e-3));
  CHECK(model.optimizer().learning_rate() == Approx(1e-3 / 3));
  CHECK_THAT(errorOf([&] {
               model.fit(data.x_train.slice(0, 8), data.y_train.slice(0, 8),
                         {.verbose = 0, .callbacks = {callbacks::CSVLogger("/no/such/folder/x.csv")}});
             }).message(),
             Contains("/no/such/folder/x.csv"));
}
