// Plans on an emulated GPU give the same bits as on the CPU.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Player.h"
#include "runtime/devices/CpuDevice.h"
#include "tests/runtime/TestPlan.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;

namespace {

/// The executable of TestPlan.h, but `old` is the shadow w * 0.5 + 1 of the variable, in slot 8. A plan that writes the
/// variable but not the shadow makes it stale.
Executable shadowed(int64_t n) {
  Executable exe = test::testExecutable(n);
  const TensorType vector = exe.variables[0].type;
  exe.plan.slots.push_back({SlotKind::shadow, vector, 0});
  exe.shadows = {{"w_halved", "halve of w", vector, 0, {}, false, test::launchOf("halve", n, {2}, {8})}};
  exe.plan.steps[3] = CopyStep{8, 4, {}};
  return exe;
}

std::vector<uint32_t> bitsOf(const Tensor &tensor) {
  std::vector<uint32_t> bits;
  for (const float value : tensor.to_vector<float>()) // all NaNs as one: their sign and payload are unspecified
    bits.push_back(std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(value));
  return bits;
}

/// The bits of all fetches and of the variable after each of six plays.
std::vector<std::vector<uint32_t>> play(const std::shared_ptr<DeviceRuntime> &device,
                                        std::shared_ptr<const KernelLibrary> library, const Executable &exe) {
  const int64_t n = exe.variables[0].type.elements();
  VariableStore store(device);
  std::vector<float> start(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    start[static_cast<size_t>(i)] = 0.25f * static_cast<float>(i);
  StatusOr<VariableHandle> variable = store.create("net/w", Tensor(start, Shape{n}));
  REQUIRE(variable.isOk());
  const auto player = Player::bind(std::make_shared<Executable>(exe), std::move(library), device, {{"w", *variable}});
  INFO(player.status().str());
  REQUIRE(player.isOk());
  std::vector<std::vector<uint32_t>> bits;
  std::vector<Tensor> kept; // while they live, later fetches use other memory
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float x : {1.5f, -0.0f, infinity, 3e38f, nan, 1e-42f}) {
    const std::vector<Tensor> feeds = {Tensor::full({n}, x), Tensor::full({}, kept.size() % 3 != 1, DType::bool_)};
    auto fetches = (*player)->play(feeds);
    INFO(fetches.status().str());
    REQUIRE(fetches.isOk());
    for (const Tensor &fetch : *fetches)
      bits.push_back(bitsOf(fetch));
    bits.push_back(bitsOf(*(*variable)->read()));
    kept.push_back(fetches->front());
  }
  return bits;
}

} // namespace

TEST_CASE("A plan of launches, copies, predicates and shadows has the same bits on a GPU as on the CPU") {
  for (const int64_t n : {1, 8, 100, 1001})
    for (const char *seed : {"0", "1", "2"})
      for (const Executable &exe : {test::testExecutable(n), shadowed(n)}) {
        const test::EmulatedGpu gpu({{"HALFTONE_EMULATOR_SEED", seed}});
        auto library = gpu->load(test::planKernels());
        INFO(library.status().str());
        REQUIRE(library.isOk());
        const auto there = play(gpu.device, *library, exe),
                   here = play(*CpuDevice::create(1), test::testKernels(), exe);
        REQUIRE(there.size() == here.size());
        for (size_t i = 0; i < here.size(); ++i)
          CHECK(there[i] == here[i]);
        CHECK(gpu->counters().graphLaunches == 5);
      }
}

TEST_CASE("A plan whose memory a GPU does not have is refused with what it is for") {
  const test::EmulatedGpu gpu({{"HALFTONE_EMULATOR_MEMORY", "4000000"}});
  auto library = gpu->load(test::planKernels());
  REQUIRE(library.isOk());
  VariableStore store(gpu.device);
  const int64_t n = 800000;
  const auto variable = store.create("net/w", Tensor::zeros({n}));
  REQUIRE(variable.isOk());
  const Status status =
      Player::bind(std::make_shared<Executable>(test::testExecutable(n)), *library, gpu.device, {{"w", *variable}})
          .status();
  CHECK(status.kind() == ErrorKind::device_error);
  CHECK_THAT(status.message(), Catch::Contains("its intermediate values: cuda:0: out of memory: "));
  CHECK((*variable)->read().isOk()); // no value is lost
}
