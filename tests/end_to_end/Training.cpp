// Trains a small MLP on MNIST under each float policy: it learns, accepts smaller last batches, and compiles once.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Trainer.h"
#include "runtime/devices/CpuDevice.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <sstream>

using namespace halftone;
using namespace halftone::testing;

// In pure bfloat16, beta_2 = 0.999 rounds to 1, and a step size computed in bfloat16 would be 0.
// policies 12.3
TEST_CASE("an MLP learns MNIST under every float policy") {
  const datasets::Arrays &data = mnist();
  Tensor x = data.x_train.slice(0, 6000), y = data.y_train.slice(0, 6000);
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16", "float16", "bfloat16", "float64"}) {
    INFO(policy);
    Sequential model = smallMlp(policy);
    History history = model.fit(x, y, {.batch_size = 128, .epochs = 2, .verbose = 0});
    Logs logs =
        model.evaluate(data.x_test.slice(0, 1000), data.y_test.slice(0, 1000), {.batch_size = 100, .verbose = 0});
    CHECK(history["loss"].size() == 2);
    CHECK(history["loss"][1] < history["loss"][0]);
    CHECK(logs["accuracy"] > 0.75);
  }
}

TEST_CASE("the step, the tail and the validation are compiled before the first step, and never again") {
  const datasets::Arrays &data = mnist();
  Sequential model = smallMlp("mixed_bfloat16");
  std::vector<int64_t> compiles;
  callbacks::LambdaCallback watch({.on_train_batch_end = [&](int64_t, const Logs &) {
    auto compiled = detail::compiledOf(model, "");
    compiles.push_back(compiled->train.compileCount() + compiled->test.compileCount());
  }});
  model.fit(data.x_train.slice(0, 300), data.y_train.slice(0, 300),
            {.batch_size = 128,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {&watch},
             .validation_data = {data.x_test.slice(0, 200), data.y_test.slice(0, 200)}});
  REQUIRE(compiles.size() == 6);
  CHECK(compiles.front() == 4); // training and validation, each for whole and for last batches
  CHECK(compiles.back() == 4);
}

TEST_CASE("evaluate, predict of one sample and single batches work between runs of fit") {
  const datasets::Arrays &data = mnist();
  Sequential model = smallMlp("float32");
  model.fit(data.x_train.slice(0, 500), data.y_train.slice(0, 500),
            {.batch_size = 64, .verbose = 0, .validation_split = 0.1});
  Logs first = model.evaluate(data.x_test.slice(0, 77), data.y_test.slice(0, 77), {.verbose = 0});
  CHECK(first["loss"] > 0.0);
  Tensor one = model.predict(data.x_test.slice(0, 1), {.verbose = 0});
  CHECK(one.shape().str() == "(1, 10)");
  Tensor many = model.predict(data.x_test.slice(0, 70), {.batch_size = 32, .verbose = 0});
  CHECK(many.shape().str() == "(70, 10)");
  std::vector<float> a = one.to_vector<float>(), b = many.to_vector<float>();
  CHECK(std::equal(a.begin(), a.end(), b.begin(),
                   [](float p, float q) { return std::abs(p - q) <= 1e-5f * (1.0f + std::abs(q)); }));
  Logs train = model.train_on_batch(data.x_train.slice(0, 32), data.y_train.slice(0, 32));
  Logs test = model.test_on_batch(data.x_train.slice(0, 32), data.y_train.slice(0, 32));
  CHECK(test["loss"] < train["loss"]);
  CHECK(model(data.x_test.slice(0, 3)).shape().str() == "(3, 10)");
}

TEST_CASE("the reference interpreter trains to the same numbers") {
  const datasets::Arrays &data = mnist();
  Tensor x = data.x_train.slice(0, 24), y = data.y_train.slice(0, 24);
  Sequential compiled = smallMlp("float32"), interpreted = smallMlp("float32", {.run_eagerly = true});
  for (int i = 0; i < 3; ++i) {
    Logs a = compiled.train_on_batch(x, y), b = interpreted.train_on_batch(x, y);
    CHECK(a["loss"] == Approx(b["loss"]).epsilon(1e-4));
  }
}

TEST_CASE("same seed, same bits for any number of threads") {
  const datasets::Arrays &data = mnist();
  std::vector<std::vector<std::vector<float>>> results;
  std::shared_ptr<CpuDevice> device = sharedCpuDevice().valueOrThrow();
  int before = device->threads();
  for (const char *policy : {"float32", "mixed_float16"})
    for (int threads : {1, 2, 3, 7}) {
      device->setThreads(threads).orThrow();
      Sequential model = smallMlp(policy);
      model.fit(data.x_train.slice(0, 700), data.y_train.slice(0, 700), {.batch_size = 96, .verbose = 0});
      results.push_back(valuesOf(model.variables()));
    }
  device->setThreads(before).orThrow();
  for (size_t i = 1; i < 4; ++i) {
    CHECK((results[i] == results[0]));
    CHECK((results[4 + i] == results[4]));
  }
}

TEST_CASE("A sum made in parts has the same bits for any number of threads") {
  std::shared_ptr<CpuDevice> device = sharedCpuDevice().valueOrThrow();
  const int before = device->threads();
  Tensor x = Tensor::zeros({16384, 30}), y = Tensor::zeros({16384, 10});
  for (int64_t i = 0; float &value : x.mutable_span<float>())
    value = float(i++ % 1013) / 7;
  for (int64_t i = 0; float &value : y.mutable_span<float>())
    value = float(i++ % 977 - 400) / 3;
  const auto product = jit([](const Value &a, const Value &b) { return ops::matmul(ops::transpose(a), b); });
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3, 7}) {
    device->setThreads(threads).orThrow();
    results.push_back(product(x, y).to_vector<float>());
    CHECK(results.back() == results.front());
  }
  device->setThreads(before).orThrow();
}

TEST_CASE("fit prints progress, and reports describe the trained model") {
  const datasets::Arrays &data = mnist();
  Sequential model = smallMlp("mixed_float16");
  std::string written;
  set_output([&](std::string_view text) { written += text; });
  model.fit(data.x_train.slice(0, 200), data.y_train.slice(0, 200), {.batch_size = 64, .epochs = 2});
  set_output({});
  CHECK(written.find("Epoch 1/2") != std::string::npos);
  CHECK(written.find("4/4 ━━━━━━━━━━━━━━━━━━━━") != std::string::npos);
  CHECK(written.find(" - loss: ") != std::string::npos);
  std::ostringstream summary;
  summary << model.summary();
  CHECK(summary.str().find("mixed_float16") != std::string::npos);
  CHECK(summary.str().find("50,240") != std::string::npos);
  SummaryReport report = model.summary();
  CHECK(report.trainable_params == 50890);
  REQUIRE(report.rows.size() == 4);
  CHECK(report.rows[2].path == "mlp/hidden");
  CHECK(report.rows[2].compute_dtype == float16);
}
