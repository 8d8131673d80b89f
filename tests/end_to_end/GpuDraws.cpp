// Draws on a GPU have the same bits as on the host.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/layers/EveryDraw.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;

TEST_CASE("Draws have the same bits on the CPU and on a GPU, those with logarithms in strict numerics") {
  for (const Run run : {Run::compiled, Run::strict}) {
    const std::vector<Tensor> host = everyDraw(run, {5, 517});
    const DeviceScope scope(Device::cuda(0));
    const std::vector<Tensor> gpu = everyDraw(run, {5, 517});
    REQUIRE(gpu.size() == host.size());
    for (size_t i = 0; i < (run == Run::strict ? host.size() : exactDraws); ++i) {
      INFO(drawNames[i]);
      CHECK(gpu[i].dtype() == host[i].dtype());
      CHECK(numbers(gpu[i]) == numbers(host[i]));
    }
  }
}

TEST_CASE("A generator of the host follows the function that draws from it to its GPU") {
  struct Noisy {
    random::SeedGenerator generator{5};
    Value call(const Value &x, const CallContext &context) const {
      return context.training() ? x + random::uniform(x.shape(), {.seed = generator}) : x;
    }
  };
  const Noisy noisy;
  const layers::Input in({3});
  const Model model(in, layers::Dense(2)(Custom(noisy)(in)));
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse", .device = Device::cuda(0)});
  model.fit(Tensor::ones({8, 3}), Tensor::ones({8, 2}), {.batch_size = 4, .verbose = 0});
  CHECK(noisy.generator.state().value().to_vector<uint32_t>() == std::vector<uint32_t>{5, 2});
  const auto draw = [&](Device device) {
    return numbers(jit([=](const Value &x) { return x + random::uniform({4}, {.seed = noisy.generator}); },
                       {.device = device})(Tensor::zeros({4})));
  };
  const std::vector<double> onGpu = draw(Device::cuda(0)), onHost = draw(Device::cpu());
  CHECK(onGpu != onHost);
  CHECK(noisy.generator.state().value().to_vector<uint32_t>() == std::vector<uint32_t>{5, 4});
}

TEST_CASE("A generator without a seed lives on the GPU of its function, and advances there") {
  const auto draws = [](Device device) {
    set_random_seed(4);
    const auto f = jit([](const Value &x) { return random::uniform(x.shape()) + 0.0 * x; }, {.device = device});
    const Tensor x = Tensor::zeros({9});
    return std::vector{numbers(f(x)), numbers(f(x))};
  };
  const auto gpu = draws(Device::cuda(0));
  CHECK(gpu == draws(Device::cpu()));
  CHECK(gpu[0] != gpu[1]);
}
