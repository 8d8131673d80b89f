// The driver: our declarations against cuda.h where that is installed, and clear errors for drivers that are of no use.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Driver.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/SameCall.h"
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HALFTONE_HAS_CUDA_HEADER
#include <cuda.h>
#include <type_traits>
#endif

using namespace halftone;
using test::Environment;
using test::SetEnvironment;

#ifdef HALFTONE_HAS_CUDA_HEADER
namespace halftone::cuda {
SAME_CALL(init, cuInit);
SAME_CALL(driverGetVersion, cuDriverGetVersion);
SAME_CALL(getErrorName, cuGetErrorName);
SAME_CALL(getErrorString, cuGetErrorString);
SAME_CALL(deviceGetCount, cuDeviceGetCount);
SAME_CALL(deviceGet, cuDeviceGet);
SAME_CALL(deviceGetName, cuDeviceGetName);
SAME_CALL(deviceTotalMem, cuDeviceTotalMem);
SAME_CALL(deviceGetAttribute, cuDeviceGetAttribute);
SAME_CALL(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
SAME_CALL(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease);
SAME_CALL(ctxPushCurrent, cuCtxPushCurrent);
SAME_CALL(ctxPopCurrent, cuCtxPopCurrent);
SAME_CALL(memGetInfo, cuMemGetInfo);
SAME_CALL(memPoolCreate, cuMemPoolCreate);
SAME_CALL(memPoolDestroy, cuMemPoolDestroy);
SAME_CALL(memPoolSetAttribute, cuMemPoolSetAttribute);
SAME_CALL(memPoolTrimTo, cuMemPoolTrimTo);
SAME_CALL(memAllocFromPoolAsync, cuMemAllocFromPoolAsync);
SAME_CALL(memFreeAsync, cuMemFreeAsync);
SAME_CALL(memHostAlloc, cuMemHostAlloc);
SAME_CALL(memFreeHost, cuMemFreeHost);
SAME_CALL(memcpyHtoDAsync, cuMemcpyHtoDAsync);
SAME_CALL(memcpyDtoHAsync, cuMemcpyDtoHAsync);
SAME_CALL(memcpyDtoDAsync, cuMemcpyDtoDAsync);
SAME_CALL(memsetD8Async, cuMemsetD8Async);
SAME_CALL(streamCreate, cuStreamCreate);
SAME_CALL(streamDestroy, cuStreamDestroy);
SAME_CALL(streamSynchronize, cuStreamSynchronize);
SAME_CALL(streamQuery, cuStreamQuery);
SAME_CALL(streamWaitEvent, cuStreamWaitEvent);
SAME_CALL(eventCreate, cuEventCreate);
SAME_CALL(eventDestroy, cuEventDestroy);
SAME_CALL(eventRecord, cuEventRecord);
SAME_CALL(eventQuery, cuEventQuery);
SAME_CALL(eventSynchronize, cuEventSynchronize);
SAME_CALL(moduleLoadDataEx, cuModuleLoadDataEx);
SAME_CALL(moduleUnload, cuModuleUnload);
SAME_CALL(moduleGetFunction, cuModuleGetFunction);
SAME_CALL(funcGetAttribute, cuFuncGetAttribute);
SAME_CALL(funcSetAttribute, cuFuncSetAttribute);
SAME_CALL(launchKernel, cuLaunchKernel);
SAME_CALL(graphCreate, cuGraphCreate);
SAME_CALL(graphDestroy, cuGraphDestroy);
SAME_CALL(graphAddKernelNode, cuGraphAddKernelNode);
SAME_CALL(graphAddMemcpyNode, cuGraphAddMemcpyNode);
SAME_CALL(graphAddMemsetNode, cuGraphAddMemsetNode);
SAME_CALL(graphInstantiate, cuGraphInstantiateWithFlags);
SAME_CALL(graphExecDestroy, cuGraphExecDestroy);
SAME_CALL(graphLaunch, cuGraphLaunch);
SAME_CALL(graphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams);
SAME_CALL(graphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams);
SAME_CALL(graphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams);

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(Result::success, CUDA_SUCCESS);
SAME_VALUE(Result::invalid_value, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(Result::out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(Result::not_initialized, CUDA_ERROR_NOT_INITIALIZED);
SAME_VALUE(Result::deinitialized, CUDA_ERROR_DEINITIALIZED);
SAME_VALUE(Result::stub_library, CUDA_ERROR_STUB_LIBRARY);
SAME_VALUE(Result::no_device, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(Result::invalid_image, CUDA_ERROR_INVALID_IMAGE);
SAME_VALUE(Result::no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME_VALUE(Result::invalid_ptx, CUDA_ERROR_INVALID_PTX);
SAME_VALUE(Result::unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME_VALUE(Result::not_found, CUDA_ERROR_NOT_FOUND);
SAME_VALUE(Result::not_ready, CUDA_ERROR_NOT_READY);
SAME_VALUE(Result::launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME_VALUE(Result::not_supported, CUDA_ERROR_NOT_SUPPORTED);
SAME_VALUE(DeviceAttribute::capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(DeviceAttribute::capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(DeviceAttribute::most_shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(FunctionAttribute::static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(FunctionAttribute::most_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(JitOption::error_log, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(JitOption::error_log_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(PoolAttribute::release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(MemoryKind::device, CU_MEMORYTYPE_DEVICE);
SAME_VALUE(nonBlockingStream, CU_STREAM_NON_BLOCKING);
SAME_VALUE(eventWithoutTime, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(PoolProperties().allocationKind, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME_VALUE(PoolProperties().handleKinds, CU_MEM_HANDLE_TYPE_NONE);
SAME_VALUE(PoolProperties().locationKind, CU_MEM_LOCATION_TYPE_DEVICE);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(PoolProperties, location) == offsetof(CUmemPoolProps, location.id));
static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
static_assert(offsetof(KernelNode, sharedBytes) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes));
static_assert(offsetof(KernelNode, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
static_assert(offsetof(KernelNode, context) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx));
static_assert(sizeof(FillNode) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
static_assert(offsetof(FillNode, elementBytes) == offsetof(CUDA_MEMSET_NODE_PARAMS_v1, elementSize));
static_assert(offsetof(FillNode, width) == offsetof(CUDA_MEMSET_NODE_PARAMS_v1, width));
static_assert(sizeof(CopyNode) == sizeof(CUDA_MEMCPY3D));
static_assert(offsetof(CopyNode, from) == offsetof(CUDA_MEMCPY3D, srcDevice));
static_assert(offsetof(CopyNode, toKind) == offsetof(CUDA_MEMCPY3D, dstMemoryType));
static_assert(offsetof(CopyNode, to) == offsetof(CUDA_MEMCPY3D, dstDevice));
static_assert(offsetof(CopyNode, bytes) == offsetof(CUDA_MEMCPY3D, WidthInBytes));

} // namespace halftone::cuda
#endif

namespace {

/// The error that opening the emulated driver, or its GPU 0, gives in that environment.
std::string refusal(Environment variables) {
  const SetEnvironment environment(std::move(variables));
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  const Status status = driver.isOk() ? (*driver)->gpu(0).status() : driver.status();
  REQUIRE(!status.isOk());
  CHECK(status.kind() == ErrorKind::device_error);
  return status.message();
}

} // namespace

TEST_CASE("A driver that is of no use is refused with the reason") {
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_DEVICES", "0"}}), Catch::EndsWith("finds no GPU"));
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_STUB", "1"}}),
             Catch::EndsWith("is a stub, with which programs are linked; is the NVIDIA driver installed?"));
  const std::string old = refusal({{"HALFTONE_EMULATOR_DRIVER", "11040"}});
  CHECK_THAT(old, Catch::StartsWith("driver too old: "));
  CHECK_THAT(old, Catch::EndsWith("(CUDA 11.4), expected 525 or newer (CUDA 12.0)"));
  CHECK_THAT(refusal({{"HALFTONE_EMULATOR_CAPABILITY", "75"}}),
             Catch::EndsWith("has compute capability 7.5, expected 8.0 or newer"));
}

TEST_CASE("A file that is no driver is refused with its name") {
  const Status absent = cuda::Driver::open("/no/such/libcuda.so.1").status();
  CHECK(absent.kind() == ErrorKind::device_error);
  CHECK_THAT(absent.message(), Catch::StartsWith("cannot open the CUDA driver /no/such/libcuda.so.1: "));
  CHECK(cuda::Driver::open("libc.so.6").status().message() == "libc.so.6 is no CUDA driver: it has no function cuInit");
}

TEST_CASE("An index out of range is refused with the number of GPUs") {
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  CHECK((*driver)->count() == 1);
  for (const int index : {-1, 1, 99}) {
    CHECK((*driver)->gpu(index).status().kind() == ErrorKind::device_error);
    CHECK((*driver)->gpu(index).status().message() == "there is 1 GPU, numbered from 0");
  }
}

TEST_CASE("A driver tells its GPUs and the texts of its errors") {
  const SetEnvironment environment({{"HALFTONE_EMULATOR_CAPABILITY", "86"}});
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  StatusOr<cuda::Driver::Gpu> gpu = (*driver)->gpu(0);
  REQUIRE(gpu.isOk());
  CHECK(gpu->capability == 86);
  CHECK(gpu->bytes == int64_t(4) << 30);
  CHECK(gpu->mostSharedBytes == 99 << 10);
  CHECK((*driver)->text(cuda::Result::out_of_memory) == "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  CHECK((*driver)->text(static_cast<cuda::Result>(12345)) == "error 12345 of the CUDA driver");
}

TEST_CASE("A driver that was opened before fork() is refused in the child") {
  StatusOr<std::shared_ptr<const cuda::Driver>> driver = test::openEmulated();
  REQUIRE(driver.isOk());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0)
    _exit((*driver)->gpu(0).status().message() ==
                  "the driver was opened before fork(), and a child process cannot use it"
              ? 0
              : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK((*driver)->gpu(0).isOk());
}
