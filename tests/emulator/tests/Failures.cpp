// Errors that the emulated driver returns at a test's request, and its limits of shared memory and memory pools.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/DriverLibrary.h"
#include <catch2/catch.hpp>

using namespace halftone::emulator;

namespace {

constexpr int unknownError = 999, illegalAddress = 700, invalidValue = 1;

void plan(const DriverLibrary &driver, const char *function, uint64_t nth, int result) {
  driver.find<void(const char *, uint64_t, int)>("halftoneEmulatorFail")(function, nth, result);
}

} // namespace

TEST_CASE("The call that the environment names ends with its error, and no other call") {
  const DriverLibrary driver({{"HALFTONE_EMULATOR_FAIL", "cuStreamCreate 2 999"}});
  void *stream = nullptr;
  const int results[] = {driver.call("cuStreamCreate", &stream, 1u), driver.call("cuStreamCreate", &stream, 1u),
                         driver.call("cuStreamCreate", &stream, 1u)};
  CHECK(std::vector<int>(std::begin(results), std::end(results)) == std::vector<int>{0, unknownError, 0});
  CHECK(driver.find<uint64_t(const char *)>("halftoneEmulatorCalls")("cuStreamCreate") == 3);
}

TEST_CASE("An error that ends all work is the result of each later call, any other error of one call") {
  const DriverLibrary driver;
  DevicePointer pointer = 0;
  plan(driver, "cuMemAlloc_v2", 1, unknownError);
  CHECK(driver.call("cuMemAlloc_v2", &pointer, size_t(64)) == unknownError);
  CHECK(driver.call("cuMemAlloc_v2", &pointer, size_t(64)) == 0);
  plan(driver, "cuMemAlloc_v2", 1, illegalAddress);
  CHECK(driver.call("cuMemAlloc_v2", &pointer, size_t(64)) == illegalAddress);
  CHECK(driver.call("cuMemAlloc_v2", &pointer, size_t(64)) == illegalAddress);
  CHECK(driver.call("cuCtxSynchronize") == illegalAddress);
}

TEST_CASE(
    "Shared memory of a launch beyond 48 KiB, that of fixed size included, is given to a function that asked for it") {
  const DriverLibrary driver;
  constexpr unsigned fixed = 16 << 10;
  void *const function = driver.function(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry test()\n{\n"
                                         "  .shared .align 4 .b8 fixed[16384];\n  ret;\n}\n");
  const auto launch = [&](unsigned bytes) {
    return driver.call("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, bytes, static_cast<void *>(nullptr),
                       static_cast<void **>(nullptr), static_cast<void **>(nullptr));
  };
  CHECK(launch((48 << 10) - fixed) == 0);
  CHECK(launch((48 << 10) - fixed + 1) == invalidValue);
  REQUIRE(driver.call("cuFuncSetAttribute", function, static_cast<int>(FunctionAttribute::MaxDynamicSharedSizeBytes),
                      48 << 10) == 0);
  CHECK(launch(48 << 10) == 0);
}

TEST_CASE("A context that is closed names what it still held") {
  const DriverLibrary driver;
  driver.stream();
  driver.event();
  driver.event();
  CHECK(driver.call("cuDevicePrimaryCtxRelease_v2", 0) == 0);
  CHECK(std::string(driver.find<const char *()>("halftoneEmulatorLeft")()) == "1 stream, 2 events");
}

TEST_CASE("A wait is idle if it ends with no work left") {
  const DriverLibrary driver;
  void *const stream = driver.stream(), *const event = driver.event();
  const auto idleWaits = driver.find<uint64_t()>("halftoneEmulatorIdleWaits");
  DevicePointer memory = 0;
  REQUIRE(driver.call("cuMemAlloc_v2", &memory, size_t(64)) == 0);
  const auto fill = [&] {
    REQUIRE(driver.call("cuMemsetD8Async", memory, static_cast<unsigned char>(1), size_t(64), stream) == 0);
  };
  fill();
  REQUIRE(driver.call("cuEventRecord", event, stream) == 0);
  fill();
  REQUIRE(driver.call("cuEventSynchronize", event) == 0);
  CHECK(idleWaits() == 0);
  REQUIRE(driver.call("cuEventSynchronize", event) == 0); // it has already been reached
  CHECK(idleWaits() == 0);
  REQUIRE(driver.call("cuStreamSynchronize", stream) == 0);
  CHECK(idleWaits() == 1);
  REQUIRE(driver.call("cuStreamSynchronize", stream) == 0); // there is nothing to wait for
  CHECK(idleWaits() == 1);
}

TEST_CASE("An allocation waits for memory that another stream frees, unless its pool adds no dependency") {
  for (const bool adds : {true, false}) {
    const DriverLibrary driver;
    PoolProperties properties{};
    void *pool = nullptr, *const first = driver.stream(), *const second = driver.stream();
    REQUIRE(driver.call("cuMemPoolCreate", &pool, static_cast<const PoolProperties *>(&properties)) == 0);
    int value = adds;
    REQUIRE(driver.call("cuMemPoolSetAttribute", pool, static_cast<int>(PoolAttribute::ReuseAllowInternalDependencies),
                        static_cast<void *>(&value)) == 0);
    DevicePointer memory = 0;
    const auto allocate = [&](void *stream) {
      REQUIRE(driver.call("cuMemAllocFromPoolAsync", &memory, size_t(64), pool, stream) == 0);
      return driver.find<uint64_t()>("halftoneEmulatorPoolWaits")();
    };
    CHECK(allocate(first) == 0);
    REQUIRE(driver.call("cuMemFreeAsync", memory, first) == 0);
    CHECK(allocate(first) == 0);
    CHECK(allocate(second) == (adds ? 1 : 0));
  }
}
