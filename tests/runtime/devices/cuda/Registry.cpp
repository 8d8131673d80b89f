// The library finds a GPU by itself: devices by name; tensors, variables and plans on them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/Player.h"
#include "runtime/VariableStore.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

using namespace halftone;

namespace {

/// Set for the whole program, before the library looks for a driver.
[[maybe_unused]] const int chosen = setenv("HALFTONE_CUDA_DRIVER", HALFTONE_EMULATED_DRIVER, 1);

std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::device_error);
    return error.message();
  }
  return "no error";
}

/// y = x, z = 0, v = x: a plan that only copies.
std::shared_ptr<Executable> copyPlan() {
  auto plan = std::make_shared<Executable>();
  const TensorType type{DType::float32, {8}};
  plan->name = "copies";
  plan->signature.feeds = {{"x", type}};
  plan->signature.fetches = {{"y", type}, {"z", type}};
  plan->variables = {{"v", "net/v", type, false, true}};
  plan->plan.slots = {
      {SlotKind::feed, type, 0}, {SlotKind::fetch, type, 0}, {SlotKind::fetch, type, 1}, {SlotKind::variable, type, 0}};
  plan->plan.steps = {CopyStep{0, 1, {}}, CopyStep{-1, 2, {}}, CopyStep{0, 3, {}}};
  return plan;
}

} // namespace

TEST_CASE("A GPU is found by its name and listed") {
  CHECK(Device::find("cuda") == Device::cuda());
  CHECK(Device::find("cuda:0") == Device::cuda(0));
  CHECK_FALSE(Device::find("cuda:1"));
  CHECK(Device::list() == std::vector<Device>{Device::cpu(), Device::cuda(0)});
  CHECK(Device::cuda(0).description() == "Halftone emulated GPU sm_80, sm_80, 4 GiB");
  CHECK(errorOf([] { (void)Device::cuda(3); }) == "cuda:3 is not available: there is 1 GPU, numbered from 0");
  CHECK(*deviceRuntime(Device::cuda(0)) == *deviceRuntime(Device::cuda(0)));
  std::thread([] {
    setenv("HALFTONE_DEVICE", "cuda:0", 1);
    CHECK(default_device() == Device::cuda(0));
    unsetenv("HALFTONE_DEVICE");
  }).join();
}

TEST_CASE("A tensor goes to a GPU and comes back") {
  const Tensor host({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor there = host.to(Device::cuda(0));
  CHECK(there.device() == Device::cuda(0));
  CHECK(there.to(Device::cuda(0)).device() == Device::cuda(0));
  CHECK(there.to_vector<float>() == host.to_vector<float>());
  CHECK(there.slice(1, 2).to_vector<float>() == std::vector<float>{4, 5, 6});
  CHECK(there.to(Device::cpu()).device() == Device::cpu());
  CHECK_THAT(errorOf([&] { (void)(there * 2.0); }), Catch::Contains("is on cuda:0: the host cannot reach"));
  CHECK_THAT(errorOf([&] { (void)there.span<float>(); }), Catch::Contains("is on cuda:0: the host cannot reach"));
  CHECK(Tensor::zeros({0, 3}).to(Device::cuda(0)).to_vector<float>().empty());
}

TEST_CASE("A plan plays on a GPU without a wait, with feeds from the host and from the GPU") {
  const std::shared_ptr<DeviceRuntime> gpu = *deviceRuntime(Device::cuda(0));
  VariableStore store(gpu);
  const VariableHandle variable = *store.create("net/v", TensorType{DType::float32, {8}});
  auto library = gpu->load({});
  REQUIRE(library.isOk());
  const auto player = Player::bind(copyPlan(), *library, gpu, {{"v", variable}});
  INFO(player.status().str());
  REQUIRE(player.isOk());
  const int64_t waits = gpu->counters().waits;
  std::vector<Tensor> last;
  for (int step = 0; step < 50; ++step) {
    const Tensor host = Tensor::full({8}, step);
    const Tensor feed = step % 2 ? host.to(Device::cuda(0)) : host;
    auto fetches = (*player)->play(std::span(&feed, 1));
    REQUIRE(fetches.isOk());
    last = *fetches;
  }
  CHECK(gpu->counters().waits == waits);
  CHECK(gpu->counters().graphLaunches >= 49);
  CHECK(last[0].device() == Device::cuda(0));
  CHECK(last[0].to_vector<float>() == std::vector<float>(8, 49));
  CHECK(last[1].to_vector<float>() == std::vector<float>(8, 0));
  CHECK(variable->read().valueOrThrow().to_vector<float>() == std::vector<float>(8, 49));
  CHECK(gpu->counters().waits > waits);
}
