// Models with an Embedding: trained like a plain computation, under mixed policies, with any number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/CpuDevice.h"
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::testing;
using Catch::Matchers::Contains;

namespace {

constexpr int64_t words = 7, width = 5, samples = 12, length = 4;

/// Indices that repeat within and across samples.
std::vector<int32_t> sentences() {
  std::vector<int32_t> ids(samples * length);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>((i * i + i / 3) % words);
  return ids;
}
std::vector<float> targets() {
  std::vector<float> values(samples);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 5) % 7) / 4 - 0.75f;
  return values;
}
std::vector<float> ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * (static_cast<float>((i * 37) % 23) / 11 - 1);
  return values;
}

/// Embedding, mean over the words, one output: full-batch gradient descent on the mean squared error, in double.
struct Plain {
  std::vector<double> table, kernel;
  double step(const std::vector<int32_t> &ids, const std::vector<float> &y, double rate) {
    std::vector<double> dTable(table.size()), dKernel(kernel.size());
    double loss = 0;
    for (size_t n = 0; n < samples; ++n) {
      std::vector<double> mean(width);
      for (size_t t = 0; t < length; ++t)
        for (size_t d = 0; d < width; ++d)
          mean[d] += table[size_t(ids[n * length + t]) * width + d] / length;
      double error = -double(y[n]);
      for (size_t d = 0; d < width; ++d)
        error += mean[d] * kernel[d];
      loss += error * error / samples;
      for (size_t d = 0; d < width; ++d) {
        dKernel[d] += 2 * error * mean[d] / samples;
        for (size_t t = 0; t < length; ++t)
          dTable[size_t(ids[n * length + t]) * width + d] += 2 * error * kernel[d] / samples / length;
      }
    }
    for (size_t i = 0; i < table.size(); ++i)
      table[i] -= rate * dTable[i];
    for (size_t d = 0; d < width; ++d)
      kernel[d] -= rate * dKernel[d];
    return loss;
  }
};

Sequential model(const char *policy) {
  PolicyScope scope(policy);
  Sequential net({Input({length}, {.dtype = int32}), Embedding(words, width, {.name = "words"}),
                  Lambda([](const Value &x) { return ops::mean(x, 1); }),
                  Dense(1, {.use_bias = false, .name = "head"})},
                 {.name = "net"});
  net.compile({.optimizer = optimizers::SGD(0.5), .loss = "mse"});
  return net;
}

double farthest(const std::vector<float> &found, const std::vector<double> &expected) {
  double distance = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    distance = std::max(distance, std::abs(double(found[i]) - expected[i]));
  return distance;
}

} // namespace

// policies 11.8
TEST_CASE("an Embedding learns as a plain computation does, under every policy") {
  std::vector<int32_t> ids = sentences();
  std::vector<float> y = targets(), table = ramp(words * width, 0.8f), kernel = ramp(width, 1.0f);
  for (auto [policy, tolerance] :
       {std::pair("float32", 1e-5), std::pair("mixed_float16", 4e-3), std::pair("mixed_bfloat16", 3e-2)}) {
    INFO(policy);
    Plain plain{{table.begin(), table.end()}, {kernel.begin(), kernel.end()}};
    Sequential net = model(policy);
    net.set_weights({Tensor(table, {words, width}), Tensor(kernel, {width, 1})});
    double first = 0, last = 0;
    for (int epoch = 0; epoch < 20; ++epoch) {
      last = plain.step(ids, y, 0.5);
      first = epoch == 0 ? last : first;
      History history = net.fit(Tensor(ids, {samples, length}), Tensor(y, {samples, 1}),
                                {.batch_size = samples, .verbose = 0, .shuffle = false});
      CHECK(history["loss"][0] == Approx(last).margin(tolerance));
    }
    CHECK(last < 0.3 * first);
    std::vector<std::vector<float>> found = valuesOf(net.variables());
    CHECK(farthest(found[0], plain.table) < tolerance);
    CHECK(farthest(found[1], plain.kernel) < tolerance);
  }
}

// policies 11.7, 11.8
TEST_CASE("the IR shows where rows are cast, and that the table is not") {
  std::string text = model("mixed_float16").ir(Stage::cast, {.program = Program::predict, .batch_size = 4});
  CHECK_THAT(text, Contains("halftone.gather") && Contains("-> tensor<4x4x5xf32>"));
  CHECK_THAT(text, Contains("origin = \"embedding\"} : tensor<4x4x5xf32> to tensor<4x4x5xf16>"));
  CHECK_THAT(text, !Contains("tensor<7x5xf16>"));
  CHECK_THAT(model("float32").ir(Stage::cast, {.program = Program::predict, .batch_size = 4}),
             !Contains("origin = \"embedding\""));
}

TEST_CASE("gradients of one row in float16 are added in float32") {
  // 4096 terms of 2^-13: if each sum were rounded to float16, the total would stall at half of its value.
  PolicyScope scope("float16");
  Sequential net({Input({4096}, {.dtype = int32}), Embedding(3, 2, {.embeddings_initializer = "zeros"})});
  net.compile({.optimizer = optimizers::SGD(1.0), .loss = [](const Value &, const Value &p) { return ops::mean(p); }});
  net.fit(Tensor::ones({1, 4096}, int32), Tensor::zeros({1, 1}), {.verbose = 0});
  CHECK(valuesOf(net.variables())[0] == std::vector<float>{0, 0, -0.5f, -0.5f, 0, 0});
}

TEST_CASE("an Embedding's gradient has the same bits for any number of threads") {
  std::vector<int32_t> ids(64 * 50);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>((i * 7919) % 601 * (i % 5) % 500);
  std::shared_ptr<CpuDevice> device = *sharedCpuDevice();
  int before = device->threads();
  std::vector<std::vector<std::vector<float>>> runs;
  for (int threads : {1, 2, 3}) {
    device->setThreads(threads).orThrow();
    PolicyScope scope("mixed_bfloat16");
    set_random_seed(5);
    Sequential net({Input({50}, {.dtype = int32}), Embedding(500, 64),
                    Lambda([](const Value &x) { return ops::mean(x, 1); }), Dense(1)});
    net.compile({.optimizer = optimizers::Adam(1e-2), .loss = "mse"});
    net.fit(Tensor(ids, {64, 50}), Tensor::ones({64, 1}), {.batch_size = 32, .epochs = 2, .verbose = 0});
    runs.push_back(valuesOf(net.variables()));
  }
  device->setThreads(before).orThrow();
  CHECK(runs[0] == runs[1]);
  CHECK(runs[0] == runs[2]);
}
