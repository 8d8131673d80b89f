// SpectralNormalization reproduces the results of real Keras (spectral.jsonl), in calls and in training steps.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::vector<double> valuesOf(const Json &json) { return json.at("values").get<std::vector<double>>(); }
Tensor tensorOf(const Json &json) {
  return Tensor(valuesOf(json), Shape(json.at("shape").get<std::vector<int64_t>>())).astype(float32);
}
std::vector<Tensor> tensorsOf(const Json &list) {
  std::vector<Tensor> tensors;
  for (const Json &each : list)
    tensors.push_back(tensorOf(each));
  return tensors;
}
void checkWeights(const Layer &layer, const Json &expected, double tolerance) {
  const std::vector<Tensor> found = layer.get_weights();
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(near(numbers(found[i]), valuesOf(expected[i]), tolerance));
}

} // namespace

TEST_CASE("SpectralNormalization gives Keras's outputs and weights in calls and in steps of training") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/spectral.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const Json row = Json::parse(line);
    INFO(row["config"].dump());
    const Layer wrapper = deserialize(Config::parse(row["config"].dump()));
    const Tensor x = tensorOf(row["x"]);
    const std::vector<int64_t> dims = x.shape().dims();
    const Sequential model({Input(Shape(std::vector<int64_t>(dims.begin() + 1, dims.end()))), wrapper});
    const std::string policy = wrapper.dtype_policy().name();
    const double tolerance = policy == "float32" ? 2e-5 : policy == "mixed_float16" ? 4e-3 : 4e-2;
    const std::vector<Tensor> before = tensorsOf(row["weights"]);
    model.set_weights(before);
    CHECK(near(numbers(model(x)), valuesOf(row["output"]), tolerance));
    checkWeights(model, row["weights"], 1e-7);
    CHECK(near(numbers(model(x, {.training = true})), valuesOf(row["called"]), tolerance));
    checkWeights(model, row["after"], tolerance);
    model.set_weights(before);
    model.compile({.optimizer = optimizers::SGD(0.25), .loss = "mse"});
    model.train_on_batch(x, Tensor::zeros(tensorOf(row["output"]).shape()));
    checkWeights(model, row["trained"], tolerance);
  }
  CHECK(count == 16);
}

TEST_CASE("The kernel that SpectralNormalization uses in training has a largest singular value of 1") {
  const SpectralNormalization layer(Dense(6, {.use_bias = false}), 30, {.name = "sn"});
  const Tensor x = Tensor::normal({9, 9});
  const Tensor identity(std::vector<float>([] {
                          std::vector<float> eye(81, 0.0f);
                          for (size_t i = 0; i < 9; ++i)
                            eye[i * 10] = 1.0f;
                          return eye;
                        }()),
                        {9, 9});
  (void)layer(x);
  const std::vector<double> kernel = numbers(layer(identity, {.training = true}));
  double most = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<double> v = numbers(Tensor::normal({6}));
    double squares = 0, length = 0;
    for (const double each : v)
      length += each * each;
    for (size_t i = 0; i < 9; ++i) {
      double sum = 0;
      for (size_t j = 0; j < 6; ++j)
        sum += kernel[i * 6 + j] * v[j];
      squares += sum * sum;
    }
    most = std::max(most, squares / length);
  }
  CHECK(most <= 1.0 + 1e-4);
  CHECK(most > 0.5);
  CHECK(layer.layer().class_name() == "Dense");
}

TEST_CASE("SpectralNormalization is saved with its estimate, and its layer's weights only once among its own") {
  const TemporaryFolder folder;
  const Sequential model({Input({5}), SpectralNormalization(Dense(3)), Dense(2)});
  CHECK(model.get_weights().size() == 5);
  (void)model(Tensor::normal({4, 5}), {.training = true});
  model.save(folder / "model.keras");
  const Model loaded = load_model(folder / "model.keras");
  const Tensor x = Tensor::normal({3, 5});
  CHECK(numbers(loaded.predict(x, {.verbose = 0})) == numbers(model.predict(x, {.verbose = 0})));
  for (size_t i = 0; i < 5; ++i)
    CHECK(numbers(loaded.get_weights()[i]) == numbers(model.get_weights()[i]));
}

TEST_CASE("SpectralNormalization refuses layers without a kernel, and no iterations") {
  CHECK_THROWS_WITH(SpectralNormalization(Dense(3), 0), Contains("`power_iterations` should be greater than zero"));
  CHECK_THROWS_WITH(SpectralNormalization(Flatten())(Tensor::ones({2, 3})),
                    Contains("Flatten object has no attribute 'kernel' nor 'embeddings'"));
}
