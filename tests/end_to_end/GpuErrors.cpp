// Errors of the CUDA driver as users see them: one exception each, after which the same GPU continues to compute.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

using namespace halftone;

namespace {

struct DriverError {
  int value;
  std::string symbol;
  bool stops; // ends all work of the process
};

const std::vector<DriverError> &driverErrors() {
  static const auto &errors = *new std::vector<DriverError>{
#define HALFTONE_RESULT(name, symbol, value, stops, text) {value, #symbol, stops},
#include "tests/emulator/driver/Results.def"
  };
  return errors;
}

using FailCall = void(const char *function, uint64_t nth, int result);

/// The function of the emulated driver that schedules an error; null, with a printed reason, for other drivers.
FailCall *planOfErrors() {
  void *const driver = dlopen(std::getenv("HALFTONE_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(driver != nullptr);
  void *const plan = dlsym(driver, "halftoneEmulatorFail");
  if (!plan)
    WARN("skipped: HALFTONE_CUDA_DRIVER names another driver than the emulated one, which returns errors where asked");
  return reinterpret_cast<FailCall *>(plan);
}

template <class F> std::string messageOf(const F &call) {
  try {
    call();
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::device_error);
    return error.message();
  }
  return "no error";
}

} // namespace

TEST_CASE("A product on a GPU is right after each error of the driver that concerns one request") {
  FailCall *const failCall = planOfErrors();
  if (!failCall)
    return;
  const DeviceScope scope(Device::cuda(0));
  const Tensor a({1, 2, 3, 4}, {2, 2}), b({5, 6, 7, 8}, {2, 2});
  const std::vector<float> product = {19, 22, 43, 50};
  const auto multiply = jit([](const Value &x, const Value &y) { return ops::matmul(x, y); });
  const auto values = [&] { return multiply(a, b).to_vector<float>(); };
  CHECK(values() == product);
  for (const DriverError &error : driverErrors()) {
    if (error.value == 0 || error.stops)
      continue;
    INFO(error.symbol);
    CHECK(values() == product);
    CHECK(values() == product); // played as a graph
    failCall("cuGraphLaunch", 1, error.value);
    CHECK_THAT(messageOf(values), Catch::Contains("launching a graph: ") && Catch::Contains("(" + error.symbol + ")"));
    CHECK(values() == product);
  }
  CHECK(values() == product);
}

TEST_CASE("A step of training that the driver refuses is one exception, and the next step trains") {
  FailCall *const failCall = planOfErrors();
  if (!failCall)
    return;
  const DeviceScope scope(Device::cuda(0));
  set_random_seed(1);
  Sequential model({layers::Input({4}), layers::Dense(3)});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = losses::MeanSquaredError()});
  const Tensor x = Tensor::full({8, 4}, 1), y = Tensor::full({8, 3}, 2);
  const auto step = [&] { return model.train_on_batch(x, y)["loss"]; };
  for (const char *call : {"cuGraphLaunch", "cuEventRecord", "cuEventSynchronize"}) {
    INFO(call);
    for (int i = 0; i < 3; ++i)
      step();
    failCall(call, 1, 999);
    CHECK_THAT(messageOf(step), Catch::Contains("CUDA_ERROR_UNKNOWN"));
    const double before = step();
    step();
    CHECK(step() < before);
  }
}
