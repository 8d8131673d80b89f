// The functions of the driver: order of streams, events and graphs, memory, modules, and persistent faults.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/tests/DriverLibrary.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <csignal>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone::emulator;
using Catch::Contains;

namespace {

bool is(int result, Result expected) { return result == static_cast<int>(expected); }

/// Adds `by` to each of 64 words.
const std::string addPtx = kernelPtx(
    ".param .u64 x, .param .u32 by",
    ".reg .b32 %t, %r<3>; .reg .b64 %x, %d; mov.u32 %t, %tid.x; ld.param.u64 %x, [x]; ld.param.u32 %r1, [by];\n"
    "mul.wide.u32 %d, %t, 4; add.s64 %x, %x, %d; ld.global.u32 %r0, [%x]; add.u32 %r0, %r0, %r1; "
    "st.global.u32 [%x], %r0; ret;");
/// Doubles each of 64 words.
const std::string doublePtx =
    kernelPtx(".param .u64 x", ".reg .b32 %t, %r<3>; .reg .b64 %x, %d; mov.u32 %t, %tid.x; ld.param.u64 %x, [x];\n"
                               "mul.wide.u32 %d, %t, 4; add.s64 %x, %x, %d; ld.global.u32 %r0, [%x]; "
                               "add.u32 %r0, %r0, %r0; st.global.u32 [%x], %r0; ret;");

std::vector<std::pair<std::string, std::string>> seeded(int seed) {
  return {{"HALFTONE_EMULATOR_SEED", std::to_string(seed)}};
}

std::string faultText(const DriverLibrary &driver) { return driver.find<const char *()>("halftoneEmulatorFault")(); }

} // namespace

TEST_CASE("The device is described as an sm_80 with 108 multiprocessors, or as the environment asks") {
  DriverLibrary driver;
  int value = 0, version = 0, count = 0;
  CHECK(driver.call("cuDeviceGetAttribute", &value, 16, 0) == 0);
  CHECK(value == 108);
  CHECK(driver.call("cuDeviceGetAttribute", &value, 75, 0) == 0);
  CHECK(value == 8);
  CHECK(driver.call("cuDriverGetVersion", &version) == 0);
  CHECK(version == 12000);
  CHECK(driver.call("cuDeviceGetCount", &count) == 0);
  CHECK(count == 1);
  CHECK(is(driver.call("cuDeviceGetAttribute", &value, 16, 3), Result::InvalidDevice));
  const char *name = nullptr;
  CHECK(driver.call("cuGetErrorName", 700, &name) == 0);
  CHECK(name == std::string("CUDA_ERROR_ILLEGAL_ADDRESS"));
  DriverLibrary newer({{"HALFTONE_EMULATOR_CAPABILITY", "86"}});
  CHECK(newer.call("cuDeviceGetAttribute", &value, 97, 0) == 0);
  CHECK(value == 99 * 1024);
}

TEST_CASE("Without a device cuInit says so, and before cuInit nothing works") {
  DriverLibrary driver({{"HALFTONE_EMULATOR_DEVICES", "0"}});
  CHECK(is(driver.initialised, Result::NoDevice));
  int count = 0;
  CHECK(is(driver.call("cuDeviceGetCount", &count), Result::NotInitialized));
}

TEST_CASE("A stub driver says at once that it is one") {
  DriverLibrary driver({{"HALFTONE_EMULATOR_STUB", "1"}});
  CHECK(is(driver.initialised, Result::StubLibrary));
  int version = 0;
  CHECK(is(driver.call("cuDriverGetVersion", &version), Result::StubLibrary));
}

TEST_CASE("A context that is popped leaves the one that was current before it was pushed") {
  DriverLibrary driver;
  void *own = nullptr, *seen = nullptr;
  CHECK(driver.call("cuCtxGetCurrent", &own) == 0);
  REQUIRE(own != nullptr);
  CHECK(driver.call("cuCtxSetCurrent", static_cast<void *>(nullptr)) == 0);
  CHECK(driver.call("cuCtxPushCurrent_v2", own) == 0);
  CHECK(driver.call("cuCtxGetCurrent", &seen) == 0);
  CHECK(seen == own);
  seen = nullptr;
  CHECK(driver.call("cuCtxPopCurrent_v2", &seen) == 0);
  CHECK(seen == own);
  CHECK(driver.call("cuCtxGetCurrent", &seen) == 0);
  CHECK(seen == nullptr);
  CHECK(is(driver.call("cuCtxPopCurrent_v2", &seen), Result::InvalidContext));
  CHECK(is(driver.call("cuCtxPushCurrent_v2", static_cast<void *>(nullptr)), Result::InvalidContext));
}

TEST_CASE("A kernel in a stream runs when the host waits, after the work before it") {
  for (int seed : {0, 1, 2}) {
    DriverLibrary driver(seeded(seed));
    DevicePointer x = driver.allocate(256);
    driver.upload(x, std::vector<uint32_t>(64, 1));
    void *add = driver.function(addPtx), *twice = driver.function(doublePtx), *stream = driver.stream();
    CHECK(driver.launch(add, stream, 64, x, 4u) == 0);
    CHECK(driver.launch(twice, stream, 64, x) == 0);
    CHECK(driver.launch(add, stream, 64, x, 1u) == 0);
    CHECK(is(driver.call("cuStreamQuery", stream), Result::NotReady));
    CHECK(driver.call("cuStreamSynchronize", stream) == 0);
    CHECK(driver.download<uint32_t>(x, 64) == std::vector<uint32_t>(64, 11));
  }
}

TEST_CASE("Streams without an event between them run in orders that the seed draws") {
  std::set<uint32_t> results;
  for (int seed = 0; seed < 12; ++seed) {
    DriverLibrary driver(seeded(seed));
    DevicePointer x = driver.allocate(256);
    driver.upload(x, std::vector<uint32_t>(64, 1));
    void *add = driver.function(addPtx), *twice = driver.function(doublePtx), *first = driver.stream(),
         *second = driver.stream();
    CHECK(driver.launch(add, first, 64, x, 4u) == 0);
    CHECK(driver.launch(twice, second, 64, x) == 0);
    CHECK(driver.call("cuCtxSynchronize") == 0);
    results.insert(driver.download<uint32_t>(x, 1)[0]);
  }
  CHECK(results == std::set<uint32_t>{6, 10});
}

TEST_CASE("An event orders two streams under every seed, and measures time") {
  for (int seed = 0; seed < 8; ++seed) {
    DriverLibrary driver(seeded(seed));
    DevicePointer x = driver.allocate(256);
    driver.upload(x, std::vector<uint32_t>(64, 1));
    void *add = driver.function(addPtx), *twice = driver.function(doublePtx), *first = driver.stream(),
         *second = driver.stream();
    void *start = driver.event(), *added = driver.event();
    CHECK(driver.call("cuEventRecord", start, first) == 0);
    CHECK(driver.launch(add, first, 64, x, 4u) == 0);
    CHECK(driver.call("cuEventRecord", added, first) == 0);
    CHECK(driver.call("cuStreamWaitEvent", second, added, 0u) == 0);
    CHECK(driver.launch(twice, second, 64, x) == 0);
    CHECK(driver.call("cuStreamSynchronize", second) == 0);
    CHECK(driver.download<uint32_t>(x, 1)[0] == 10);
    float milliseconds = -1;
    CHECK(driver.call("cuEventElapsedTime", &milliseconds, start, added) == 0);
    CHECK(milliseconds >= 0);
  }
}

TEST_CASE("An event that is polled comes to be reached") {
  DriverLibrary driver;
  DevicePointer x = driver.allocate(256);
  driver.upload(x, std::vector<uint32_t>(64, 1));
  void *add = driver.function(addPtx), *stream = driver.stream(), *done = driver.event();
  CHECK(driver.launch(add, stream, 64, x, 4u) == 0);
  CHECK(driver.call("cuEventRecord", done, stream) == 0);
  int polls = 0;
  while (is(driver.call("cuEventQuery", done), Result::NotReady))
    REQUIRE(++polls < 10);
  CHECK(polls > 0);
  CHECK(driver.download<uint32_t>(x, 1)[0] == 5);
}

TEST_CASE("A copy from pinned memory reads it late, a copy from other memory at once") {
  DriverLibrary driver;
  DevicePointer x = driver.allocate(8);
  void *pinned = nullptr, *stream = driver.stream();
  CHECK(driver.call("cuMemHostAlloc", &pinned, size_t(4), 0u) == 0);
  uint32_t plain = 1;
  *static_cast<uint32_t *>(pinned) = 1;
  CHECK(driver.call("cuMemcpyHtoDAsync_v2", x, static_cast<const void *>(pinned), size_t(4), stream) == 0);
  CHECK(driver.call("cuMemcpyHtoDAsync_v2", x + 4, static_cast<const void *>(&plain), size_t(4), stream) == 0);
  *static_cast<uint32_t *>(pinned) = 2;
  plain = 2;
  CHECK(driver.call("cuStreamSynchronize", stream) == 0);
  CHECK(driver.download<uint32_t>(x, 2) == std::vector<uint32_t>{2, 1});
  CHECK(driver.call("cuMemFreeHost", pinned) == 0);
}

TEST_CASE("Memory of a pool lives from its place to its place in the stream's order") {
  DriverLibrary driver(seeded(3));
  void *stream = driver.stream(), *pool = nullptr;
  CHECK(driver.call("cuDeviceGetDefaultMemPool", &pool, 0) == 0);
  uint64_t threshold = UINT64_MAX;
  CHECK(driver.call("cuMemPoolSetAttribute", pool, 4, static_cast<void *>(&threshold)) == 0);
  DevicePointer x = 0, again = 0;
  CHECK(driver.call("cuMemAllocAsync", &x, size_t(256), stream) == 0);
  CHECK(driver.call("cuMemsetD32Async", x, 7u, size_t(64), stream) == 0);
  CHECK(driver.launch(driver.function(addPtx), stream, 64, x, 1u) == 0);
  CHECK(driver.call("cuStreamSynchronize", stream) == 0);
  CHECK(driver.download<uint32_t>(x, 64) == std::vector<uint32_t>(64, 8));
  CHECK(driver.call("cuMemFreeAsync", x, stream) == 0);
  CHECK(driver.call("cuStreamSynchronize", stream) == 0);
  CHECK(driver.call("cuMemAllocAsync", &again, size_t(256), stream) == 0);
  CHECK(again == x); // in steady state a pool returns the same blocks
}

TEST_CASE("A stream that uses memory before its allocation in another stream is caught under some seed") {
  int caught = 0;
  for (int seed = 0; seed < 8; ++seed) {
    DriverLibrary driver(seeded(seed));
    void *stream = driver.stream(), *other = driver.stream();
    DevicePointer x = 0;
    CHECK(driver.call("cuMemAllocAsync", &x, size_t(256), stream) == 0);
    CHECK(driver.call("cuMemsetD8Async", x, static_cast<unsigned char>(0), size_t(256), other) == 0);
    if (is(driver.call("cuStreamSynchronize", other), Result::IllegalAddress)) {
      ++caught;
      CHECK_THAT(faultText(driver), Contains("not yet there"));
    }
  }
  CHECK(caught > 0);
}

TEST_CASE("A full device refuses memory and keeps what it has") {
  DriverLibrary driver({{"HALFTONE_EMULATOR_MEMORY", "4096"}});
  DevicePointer x = driver.allocate(4000), y = 0;
  CHECK(is(driver.call("cuMemAlloc_v2", &y, size_t(200)), Result::OutOfMemory));
  size_t freeBytes = 0, total = 0;
  CHECK(driver.call("cuMemGetInfo_v2", &freeBytes, &total) == 0);
  CHECK(freeBytes == 96);
  CHECK(total == 4096);
  CHECK(driver.call("cuMemFree_v2", x) == 0);
  CHECK(driver.call("cuMemAlloc_v2", &y, size_t(200)) == 0);
  CHECK(is(driver.call("cuMemFree_v2", y + 1), Result::InvalidValue));
}

TEST_CASE("PTX that cannot be read gives its line in the error log") {
  DriverLibrary driver;
  std::string bad = kernelPtx("", "frobnicate;"), log(200, '\0');
  int options[] = {5, 6};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  void *module = nullptr;
  CHECK(is(driver.call("cuModuleLoadDataEx", &module, static_cast<const void *>(bad.c_str()), 2u,
                       static_cast<int *>(options), static_cast<void **>(values)),
           Result::InvalidPtx));
  CHECK_THAT(log.c_str(), Contains("line 7") && Contains("frobnicate"));
  CHECK(reinterpret_cast<size_t>(values[1]) == std::string(log.c_str()).size());
}

TEST_CASE("A module gives its kernels, which end with it") {
  DriverLibrary driver;
  void *module = nullptr, *function = nullptr;
  std::string ptx = addPtx;
  ptx.insert(ptx.find('{', ptx.find(".entry")) + 1, ".local .align 16 .b8 depot[20];\n.local .b32 spilled;\n");
  CHECK(driver.call("cuModuleLoadData", &module, static_cast<const void *>(ptx.c_str())) == 0);
  CHECK(is(driver.call("cuModuleGetFunction", &function, module, "absent"), Result::NotFound));
  CHECK(driver.call("cuModuleGetFunction", &function, module, "test") == 0);
  int registers = 0, local = 0;
  CHECK(driver.call("cuFuncGetAttribute", &registers, 4, function) == 0);
  CHECK(registers > 0);
  CHECK(driver.call("cuFuncGetAttribute", &local, 3, function) == 0);
  CHECK(local == 24);
  CHECK(driver.call("cuModuleUnload", module) == 0);
  CHECK(is(driver.launch(function, static_cast<void *>(nullptr), 1, DevicePointer(0), 0u), Result::InvalidHandle));
}

TEST_CASE("A launch that the kernel or the device does not allow is refused and changes nothing") {
  DriverLibrary driver;
  DevicePointer x = driver.allocate(256);
  driver.upload(x, std::vector<uint32_t>(64, 1));
  void *add = driver.function(addPtx), *none = nullptr;
  CHECK(is(driver.launch(add, none, 0, x, 1u), Result::InvalidValue));
  CHECK(is(driver.launch(add, none, 1025, x, 1u), Result::InvalidValue));
  CHECK(is(driver.call("cuFuncSetAttribute", add, 8, 200 * 1024), Result::InvalidValue));
  CHECK(driver.call("cuFuncSetAttribute", add, 8, 100 * 1024) == 0);
  CHECK(driver.download<uint32_t>(x, 1)[0] == 1);
}

TEST_CASE("A launch has 48 KiB of static and dynamic shared memory together, or what its function asked for") {
  DriverLibrary driver({{"HALFTONE_EMULATOR_CAPABILITY", "86"}});
  void *function = driver.function(kernelPtx("", "ret;", ".shared .align 16 .b8 fixed[8192];")), *none = nullptr;
  const auto launch = [&](unsigned bytes) {
    return driver.call("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, bytes, none, static_cast<void **>(nullptr),
                       static_cast<void **>(nullptr));
  };
  int limit = 0;
  CHECK(driver.call("cuFuncGetAttribute", &limit, 8, function) == 0);
  CHECK(limit == 40 * 1024);
  CHECK(launch(40 * 1024) == 0);
  CHECK(is(launch(40 * 1024 + 1), Result::InvalidValue));
  CHECK(is(launch(48 * 1024), Result::InvalidValue));
  CHECK(is(driver.call("cuFuncSetAttribute", function, 8, 99 * 1024), Result::InvalidValue));
  CHECK(is(driver.call("cuFuncSetAttribute", function, 8, 91 * 1024 + 1), Result::InvalidValue));
  CHECK(driver.call("cuFuncSetAttribute", function, 8, 91 * 1024) == 0);
  CHECK(launch(91 * 1024) == 0);
  CHECK(is(launch(91 * 1024 + 1), Result::InvalidValue));
  void *graph = nullptr, *node = nullptr;
  CHECK(driver.call("cuGraphCreate", &graph, 0u) == 0);
  for (unsigned bytes : {91 * 1024u, 92 * 1024u}) {
    KernelNodeParams kernel{function, 1, 1, 1, 32, 1, 1, bytes, nullptr, nullptr};
    CHECK(is(driver.call("cuGraphAddKernelNode", &node, graph, static_cast<void *const *>(nullptr), size_t(0),
                         static_cast<const KernelNodeParams *>(&kernel)),
             bytes == 91 * 1024u ? Result::Success : Result::InvalidValue));
  }
  CHECK(driver.call("cuCtxSynchronize") == 0);
}

TEST_CASE("A fault stays: every later call gives it, and its text names the kernel and the line") {
  DriverLibrary driver;
  DevicePointer x = driver.allocate(256);
  driver.upload(x, std::vector<uint32_t>(64, 1));
  void *add = driver.function(addPtx), *stream = driver.stream();
  CHECK(driver.launch(add, stream, 65, x, 1u) == 0); // detected when it runs
  CHECK(is(driver.call("cuStreamSynchronize", stream), Result::IllegalAddress));
  CHECK(is(driver.call("cuCtxSynchronize"), Result::IllegalAddress));
  DevicePointer y = 0;
  CHECK(is(driver.call("cuMemAlloc_v2", &y, size_t(4)), Result::IllegalAddress));
  CHECK_THAT(faultText(driver),
             Contains("kernel test, line 8") && Contains("thread (64, 0, 0)") && Contains("reads 4 bytes"));
}

TEST_CASE("A graph runs its nodes in an order that its edges allow, and takes new parameters") {
  for (int seed = 0; seed < 6; ++seed) {
    DriverLibrary driver(seeded(seed));
    DevicePointer x = driver.allocate(256), y = driver.allocate(256), z = driver.allocate(256);
    void *add = driver.function(addPtx), *twice = driver.function(doublePtx), *graph = nullptr, *fill = nullptr,
         *first = nullptr, *second = nullptr, *copied = nullptr, *execution = nullptr, *stream = driver.stream(),
         *none = nullptr;
    CHECK(driver.call("cuGraphCreate", &graph, 0u) == 0);
    MemsetNodeParams memset{x, 0, 3, 4, 64, 1};
    CHECK(driver.call("cuGraphAddMemsetNode", &fill, graph, static_cast<void *const *>(nullptr), size_t(0),
                      static_cast<const MemsetNodeParams *>(&memset), none) == 0);
    uint32_t by = 4;
    void *parameters[] = {&x, &by};
    KernelNodeParams kernel{add, 1, 1, 1, 64, 1, 1, 0, parameters, nullptr};
    CHECK(driver.call("cuGraphAddKernelNode", &first, graph, static_cast<void *const *>(&fill), size_t(1),
                      static_cast<const KernelNodeParams *>(&kernel)) == 0);
    KernelNodeParams doubling{twice, 1, 1, 1, 64, 1, 1, 0, parameters, nullptr};
    CHECK(driver.call("cuGraphAddKernelNode", &second, graph, static_cast<void *const *>(&first), size_t(1),
                      static_cast<const KernelNodeParams *>(&doubling)) == 0);
    Copy3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = MemoryType::Device;
    copy.srcDevice = x, copy.dstDevice = y, copy.WidthInBytes = 256, copy.Height = copy.Depth = 1;
    CHECK(driver.call("cuGraphAddMemcpyNode", &copied, graph, static_cast<void *const *>(&second), size_t(1),
                      static_cast<const Copy3D *>(&copy), none) == 0);
    CHECK(driver.call("cuGraphInstantiateWithFlags", &execution, graph, 0ull) == 0);
    CHECK(driver.call("cuGraphLaunch", execution, stream) == 0);
    by = 1;
    CHECK(driver.call("cuGraphExecKernelNodeSetParams", execution, first,
                      static_cast<const KernelNodeParams *>(&kernel)) == 0);
    copy.dstDevice = z;
    CHECK(driver.call("cuGraphExecMemcpyNodeSetParams", execution, copied, static_cast<const Copy3D *>(&copy), none) ==
          0);
    CHECK(driver.call("cuGraphLaunch", execution, stream) == 0);
    CHECK(driver.call("cuStreamSynchronize", stream) == 0);
    CHECK(driver.download<uint32_t>(y, 64) == std::vector<uint32_t>(64, 14)); // the first launch keeps its parameters
    CHECK(driver.download<uint32_t>(z, 64) == std::vector<uint32_t>(64, 8));
    CHECK(driver.call("cuGraphExecDestroy", execution) == 0);
    CHECK(driver.call("cuGraphDestroy", graph) == 0);
    CHECK(is(driver.call("cuGraphDestroy", graph), Result::InvalidHandle));
  }
}

TEST_CASE("A host that touches device memory ends") {
  DriverLibrary driver;
  DevicePointer x = driver.allocate(64);
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    int value = *reinterpret_cast<volatile int *>(x);
    _exit(value ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}
