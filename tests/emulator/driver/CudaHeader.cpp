// Our declarations of the driver's types against those of cuda.h, where that is installed.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/DriverTypes.h"
#include <cuda.h>

namespace halftone::emulator {

static_assert(int(Result::InvalidValue) == CUDA_ERROR_INVALID_VALUE &&
              int(Result::OutOfMemory) == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(int(Result::NotInitialized) == CUDA_ERROR_NOT_INITIALIZED &&
              int(Result::NoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(int(Result::StubLibrary) == CUDA_ERROR_STUB_LIBRARY);
static_assert(int(Result::InvalidDevice) == CUDA_ERROR_INVALID_DEVICE &&
              int(Result::InvalidImage) == CUDA_ERROR_INVALID_IMAGE);
static_assert(int(Result::InvalidContext) == CUDA_ERROR_INVALID_CONTEXT &&
              int(Result::InvalidPtx) == CUDA_ERROR_INVALID_PTX);
static_assert(int(Result::InvalidHandle) == CUDA_ERROR_INVALID_HANDLE && int(Result::NotFound) == CUDA_ERROR_NOT_FOUND);
static_assert(int(Result::NotReady) == CUDA_ERROR_NOT_READY &&
              int(Result::IllegalAddress) == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(int(Result::LaunchOutOfResources) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
static_assert(int(Result::MisalignedAddress) == CUDA_ERROR_MISALIGNED_ADDRESS &&
              int(Result::LaunchFailed) == CUDA_ERROR_LAUNCH_FAILED);
static_assert(int(Result::NotSupported) == CUDA_ERROR_NOT_SUPPORTED);

static_assert(int(JitOption::InfoLogBuffer) == CU_JIT_INFO_LOG_BUFFER &&
              int(JitOption::ErrorLogBuffer) == CU_JIT_ERROR_LOG_BUFFER);
static_assert(int(JitOption::InfoLogBufferSizeBytes) == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
static_assert(int(JitOption::ErrorLogBufferSizeBytes) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(int(JitOption::MaxRegisters) == CU_JIT_MAX_REGISTERS &&
              int(JitOption::OptimizationLevel) == CU_JIT_OPTIMIZATION_LEVEL);
static_assert(int(JitOption::Target) == CU_JIT_TARGET && int(JitOption::LogVerbose) == CU_JIT_LOG_VERBOSE);
static_assert(int(JitOption::CacheMode) == CU_JIT_CACHE_MODE);

static_assert(int(FunctionAttribute::NumRegs) == CU_FUNC_ATTRIBUTE_NUM_REGS &&
              int(FunctionAttribute::LocalSizeBytes) == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(int(FunctionAttribute::MaxDynamicSharedSizeBytes) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(int(FunctionAttribute::PreferredSharedMemoryCarveout) ==
              CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
static_assert(int(PoolAttribute::ReleaseThreshold) == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD &&
              int(PoolAttribute::UsedMemHigh) == CU_MEMPOOL_ATTR_USED_MEM_HIGH);
static_assert(unsigned(MemoryType::Host) == CU_MEMORYTYPE_HOST && unsigned(MemoryType::Device) == CU_MEMORYTYPE_DEVICE);
static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr));

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps) &&
              offsetof(PoolProperties, locationId) == offsetof(CUmemPoolProps, location.id));
static_assert(sizeof(KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
static_assert(offsetof(KernelNodeParams, kernelParams) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
static_assert(sizeof(MemsetNodeParams) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1) &&
              offsetof(MemsetNodeParams, width) == offsetof(CUDA_MEMSET_NODE_PARAMS_v1, width));
static_assert(sizeof(Copy3D) == sizeof(CUDA_MEMCPY3D) &&
              offsetof(Copy3D, dstDevice) == offsetof(CUDA_MEMCPY3D, dstDevice));
static_assert(offsetof(Copy3D, WidthInBytes) == offsetof(CUDA_MEMCPY3D, WidthInBytes));

} // namespace halftone::emulator
