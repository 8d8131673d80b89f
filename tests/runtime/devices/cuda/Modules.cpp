// Kernel code on a GPU: rejected and shared modules.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Modules.h"
#include "runtime/base/OpenFile.h"
#include "tests/TemporaryFolder.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using test::EmulatedGpu;

namespace {

Status refusal(const EmulatedGpu &gpu, const KernelCode &code) {
  const Status status = gpu->load({{"k1", code}}).status();
  REQUIRE(!status.isOk());
  CHECK(status.kind() == ErrorKind::value_error);
  return status;
}

} // namespace

TEST_CASE("Code that is not for this GPU is refused with its kernel's name") {
  const EmulatedGpu gpu;
  KernelCode code = test::addingKernel();
  auto with = [&](const std::string &target) {
    code.target = target;
    return refusal(gpu, code).message();
  };
  CHECK(with("x86_64-unknown-linux-gnu|x86-64-v3|") ==
        "kernel k1: compiled for 'x86_64-unknown-linux-gnu|x86-64-v3|', expected code for an NVIDIA GPU ('nvptx|...')");
  CHECK(with("nvptx|new") == "kernel k1: compiled for 'nvptx|new', expected 'nvptx|sm_<compute capability>|...'");
  CHECK(with("nvptx|sm_90a|ptx80") == "kernel k1: compiled for sm_90a, but the GPU has compute capability 8.0");
  CHECK(with("nvptx|sm_86") == "kernel k1: compiled for sm_86, but the GPU has compute capability 8.0");
}

TEST_CASE("Code for one compute capability alone runs on no other, code for an older one runs") {
  const EmulatedGpu newer({{"HALFTONE_EMULATOR_CAPABILITY", "100"}});
  KernelCode code = test::addingKernel();
  CHECK(newer->load({{"k1", code}}).isOk());
  code.target = "nvptx|sm_90a|ptx80";
  CHECK(refusal(newer, code).message() == "kernel k1: compiled for sm_90a, but the GPU has compute capability 10.0");
}

TEST_CASE("Code that the driver does not compile is refused with the driver's log") {
  const EmulatedGpu gpu;
  KernelCode code = test::addingKernel();
  code.code.replace(code.code.find("add.u32 %r0"), 11, "odd.u32 %r0");
  const std::string message = refusal(gpu, code).message();
  CHECK_THAT(message, Catch::StartsWith("kernel k1: the driver cannot compile it: a PTX JIT compilation failed "
                                        "(CUDA_ERROR_INVALID_PTX): ptx, "));
  CHECK_THAT(message, Catch::Contains("odd.u32"));
}

TEST_CASE("Code without its entry, and a block that no GPU runs, are refused") {
  const EmulatedGpu gpu;
  KernelCode code = test::addingKernel();
  code.symbol = "other";
  CHECK(refusal(gpu, code).message() == "kernel k1: the code has no entry 'other'");
  code = test::addingKernel();
  for (const int64_t threads : {int64_t(0), int64_t(-1), int64_t(1025)}) {
    code.launch.threads = threads;
    CHECK_THAT(refusal(gpu, code).message(), Catch::Contains("threads in a block, expected 1 to 1024"));
  }
  code.launch = {32, 164 << 10};
  CHECK(refusal(gpu, code).message() == "kernel k1: a block requests 167936 bytes of dynamic shared memory in addition "
                                        "to 0 static bytes; the GPU has 166912 in total");
}

TEST_CASE("A block gets as much shared memory as it asks for") {
  const EmulatedGpu gpu;
  for (const int64_t bytes : {1 << 10, 48 << 10, 100 << 10, 163 << 10}) {
    const KernelCode code = test::gpuKernel("share", 1, 1, R"(
  mov.u32 %r1, shared;
  cvt.u32.u64 %r2, %in1;
  add.u32 %r1, %r1, %r2;
  mov.u32 %r0, 77;
  st.shared.u32 [%r1], %r0;
  ld.shared.u32 %r3, [%r1];
  st.global.u32 [%in0], %r3;)",
                                            {.threads = 1, .sharedBytes = bytes});
    const auto library = gpu.load("share", code);
    const DeviceMemory result = gpu.memory(std::vector<int>(1));
    const std::string key = "share";
    const int64_t last = bytes - 4;
    std::vector<void *> buffers = {result.get()};
    const auto queue = gpu.queue();
    queue->begin();
    queue->launch({*library->find("share"), &key, 1, buffers, std::span(&last, 1), 0, 0, {}});
    REQUIRE(queue->finish().isOk());
    CHECK(gpu.values<int>(result, 1)[0] == 77);
  }
}

TEST_CASE("A block with shared memory of fixed size gets as much more as it asks for, up to all of the GPU's") {
  const EmulatedGpu gpu;
  for (const auto &[fixed, asked] : {std::pair(16, 32), {16, 33}, {1, 48}, {48, 1}, {40, 40}, {48, 115}}) {
    INFO(fixed << " KiB of fixed size and " << asked << " KiB");
    KernelCode code = test::gpuKernel("share", 1, 1, R"(
  mov.u32 %r1, shared;
  cvt.u32.u64 %r2, %in1;
  add.u32 %r1, %r1, %r2;
  mov.u32 %r0, 77;
  st.shared.u32 [%r1], %r0;
  mov.u32 %r2, fixed;
  st.shared.u32 [%r2], %r2;
  ld.shared.u32 %r3, [%r1];
  st.global.u32 [%in0], %r3;)",
                                      {.threads = 1, .sharedBytes = int64_t(asked) << 10});
    const size_t body = code.code.find("  .reg .pred");
    code.code.insert(body, "  .shared .align 4 .b8 fixed[" + std::to_string(std::max(fixed << 10, 4)) + "];\n");
    const auto library = gpu.load("share", code);
    const DeviceMemory result = gpu.memory(std::vector<int>(1));
    const std::string key = "share";
    const int64_t last = (int64_t(asked) << 10) - 4;
    std::vector<void *> buffers = {result.get()};
    const auto queue = gpu.queue();
    queue->begin();
    queue->launch({*library->find("share"), &key, 1, buffers, std::span(&last, 1), 0, 0, {}});
    const Status status = queue->finish();
    INFO(status.str());
    REQUIRE(status.isOk());
    CHECK(gpu.values<int>(result, 1)[0] == 77);
  }
}

TEST_CASE("Equal code is loaded once, and again after its last owner has gone") {
  const EmulatedGpu gpu;
  std::map<std::string, KernelCode> kernels;
  for (int i = 0; i < 9; ++i) // more than are compiled concurrently
    kernels["k" + std::to_string(i)] = i % 3 == 0 ? test::addingKernel() : test::countingKernel(i % 3 == 1);
  auto first = gpu->load(kernels), second = gpu->load({{"k4", kernels["k4"]}});
  REQUIRE(first.isOk());
  REQUIRE(second.isOk());
  CHECK((*first)->find("k0")->get() == (*first)->find("k3")->get());
  CHECK((*first)->find("k0")->get() != (*first)->find("k1")->get());
  CHECK((*first)->find("k1")->get() != (*first)->find("k2")->get());
  CHECK((*second)->find("k4")->get() == (*first)->find("k1")->get());
  CHECK((*second)->find("k1").status().kind() == ErrorKind::key_error);
  KernelCode wider = kernels["k0"];
  wider.launch.threads = 64; // another launch of the same text
  auto other = gpu->load({{"k0", wider}});
  REQUIRE(other.isOk());
  CHECK((*other)->find("k0")->get() != (*first)->find("k0")->get());
  first = Status(ErrorKind::value_error, "gone");
  second = Status(ErrorKind::value_error, "gone");
  CHECK(gpu->load(kernels).isOk());
}

TEST_CASE("HALFTONE_CUDA_KERNELS names a file of the registers and the local memory of each kernel that is loaded") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "kernels").string();
  KernelCode spilling = test::addingKernel();
  spilling.symbol = "spill";
  spilling.method = "one at a time";
  spilling.code.replace(spilling.code.find(".entry add"), 10, ".entry spill");
  spilling.code.insert(spilling.code.find('{') + 1, "\n  .local .align 8 .b8 depot[24];");
  for (int process = 0; process < 2; ++process) { // the second one appends
    const EmulatedGpu gpu({{"HALFTONE_CUDA_KERNELS", file}});
    const auto kept = gpu->load({{"k0", test::addingKernel()}, {"k1", test::addingKernel()}, {"k2", spilling}});
    REQUIRE(kept.isOk());
    CHECK(gpu->load({{"k0", test::addingKernel()}}).isOk()); // already loaded
  }
  const std::string text = readFile(file).valueOrThrow();
  const std::string half = text.substr(0, text.size() / 2);
  CHECK(text == half + half);
  CHECK(std::ranges::count(half, '\n') == 2);
  CHECK_THAT(half, Catch::Contains("\t0\tadd\tloop\t\n") && Catch::Contains("\t24\tspill\tloop\tone at a time\n"));
  CHECK(half.find_first_not_of("0123456789") == half.find('\t'));
  CHECK(half[0] != '0');
}

TEST_CASE("A file of HALFTONE_CUDA_KERNELS that does not open is an error of the GPU") {
  const test::SetEnvironment environment({{"HALFTONE_CUDA_KERNELS", "/none/kernels"}});
  const Status status = cuda::CudaDevice::open(test::openEmulated().valueOrThrow(), 0).status();
  CHECK(status.kind() == ErrorKind::io_error);
  CHECK_THAT(status.message(), Catch::StartsWith("HALFTONE_CUDA_KERNELS=/none/kernels: expected a writable file: ") &&
                                   Catch::Contains("No such file"));
}
