// Two GPUs in one process: each has its own memory, code and order of work.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/devices/Registry.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace halftone;
using namespace halftone::layers;

namespace {

/// Set before the library looks for a driver.
[[maybe_unused]] const int chosen = setenv("HALFTONE_EMULATOR_DEVICES", "2", 0);

bool areTwo() {
  if (Device::find("cuda:1"))
    return true;
  WARN("this machine has one GPU");
  return false;
}

struct Points {
  Tensor x, y;
};

/// Points, and the class of each out of three.
Points batch() {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int point = 0; point < 48; ++point) {
    y.push_back(point % 3);
    for (int feature = 0; feature < 20; ++feature)
      x.push_back(float((point * 7 + feature * 5) % 11) * 0.1f + (feature % 3 == point % 3 ? 1.0f : 0.0f));
  }
  return {Tensor(x, {48, 20}), Tensor(y, {48})};
}

Sequential classifier(Device device) {
  set_random_seed(11);
  Sequential model({Input({20}), Dense(33, {.activation = "relu"}), Dense(3)});
  model.compile({.optimizer = optimizers::Adam(0.01),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .device = device});
  return model;
}

std::vector<float> trained(Device device, int steps) {
  const Sequential model = classifier(device);
  const Points data = batch();
  for (int step = 0; step < steps; ++step)
    model.train_on_batch(data.x, data.y);
  std::vector<float> weights;
  for (const Variable &variable : model.trainable_variables()) {
    const std::vector<float> values = variable.value().to_vector<float>();
    weights.insert(weights.end(), values.begin(), values.end());
  }
  return weights;
}

int64_t launchesOf(Device device) { return deviceRuntime(device).valueOrThrow()->counters().launches; }

} // namespace

TEST_CASE("A model trains on the second GPU as on the first, bit for bit, and the first has no work of it") {
  if (!areTwo())
    return;
  const std::vector<float> first = trained(Device::cuda(0), 4);
  const int64_t before = launchesOf(Device::cuda(0));
  CHECK(trained(Device::cuda(1), 4) == first);
  CHECK(launchesOf(Device::cuda(0)) == before);
  CHECK(launchesOf(Device::cuda(1)) > 4);
}

TEST_CASE("Two threads train on two GPUs at once as each does alone") {
  if (!areTwo())
    return;
  const std::vector<float> alone = trained(Device::cuda(0), 6);
  std::vector<std::vector<float>> weights(2);
  std::vector<std::thread> threads;
  std::vector<Sequential> models{classifier(Device::cuda(0)), classifier(Device::cuda(1))};
  for (size_t gpu = 0; gpu < 2; ++gpu)
    threads.emplace_back([&, gpu] {
      const Points data = batch();
      for (int step = 0; step < 6; ++step)
        models[gpu].train_on_batch(data.x, data.y);
      for (const Variable &variable : models[gpu].trainable_variables()) {
        const std::vector<float> values = variable.value().to_vector<float>();
        weights[gpu].insert(weights[gpu].end(), values.begin(), values.end());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(weights[0] == alone);
  CHECK(weights[1] == alone);
}

TEST_CASE("A tensor goes from one GPU to the other, and a model takes feeds that lie on the other") {
  if (!areTwo())
    return;
  const Points data = batch();
  const Tensor first = data.x.to(Device::cuda(0)), second = first.to(Device::cuda(1));
  CHECK(second.device() == Device::cuda(1));
  CHECK(second.to_vector<float>() == data.x.to_vector<float>());
  const Sequential model = classifier(Device::cuda(1));
  const std::vector<float> expected = model(data.x).to_vector<float>();
  CHECK(model(second).to_vector<float>() == expected);
  CHECK(model(first).to_vector<float>() == expected);
  CHECK(model(first).device() == Device::cuda(1));
}

TEST_CASE("A third of two GPUs is one clear error") {
  if (!areTwo() || Device::list().size() != 3)
    return;
  CHECK_FALSE(Device::find("cuda:2"));
  CHECK_THROWS_WITH(Device::cuda(2), "DeviceError: cuda:2 is not available: there are 2 GPUs, numbered from 0");
}
