// Compares our declarations of driver types and functions, the runtime's and the emulator's, with cuda.h if installed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/DriverTypes.h"
#include "tests/emulator/driver/DriverTypes.h"
#include "tests/runtime/devices/cuda/SameCall.h"
#include <cuda.h>
#include <string_view>

// Errors are not compared here, since each CUDA release adds some: the DriverErrors test reads their values and
// descriptions from the header.
#define SAME_VALUE(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
#define SAME_FIELD(type, field, theirType, theirField)                                                                 \
  static_assert(offsetof(type, field) == offsetof(theirType, theirField) &&                                            \
                sizeof(type::field) == sizeof(decltype(theirType::theirField)))

namespace halftone::cuda {

// cuda.h defines a name without a version, such as cuMemGetInfo, as a macro for the current one, cuMemGetInfo_v2. The
// library has both, and the name without a version is the oldest.
#define NAME_IN_HEADER(symbol) std::string_view(#symbol)
#define HALFTONE_DRIVER_CALL(member, symbol)                                                                           \
  SAME_CALL(member, symbol);                                                                                           \
  static_assert(std::string_view(#symbol) == NAME_IN_HEADER(symbol), "expected the name with its version");
#include "runtime/devices/cuda/DriverCalls.def"

static_assert(sizeof(Result) == sizeof(CUresult) && sizeof(Address) == sizeof(CUdeviceptr));
SAME_VALUE(DeviceAttribute::capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(DeviceAttribute::capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(DeviceAttribute::max_shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(DeviceAttribute::memory_pools_supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME_VALUE(FunctionAttribute::static_shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(FunctionAttribute::max_dynamic_shared_bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(JitOption::error_log, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(JitOption::error_log_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(PoolAttribute::reuse_with_new_dependencies, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
SAME_VALUE(PoolAttribute::release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(MemoryKind::device, CU_MEMORYTYPE_DEVICE);
SAME_VALUE(nonBlockingStream, CU_STREAM_NON_BLOCKING);
SAME_VALUE(eventWithoutTime, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(PoolProperties().allocationKind, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME_VALUE(PoolProperties().handleKinds, CU_MEM_HANDLE_TYPE_NONE);
SAME_VALUE(PoolProperties().locationKind, CU_MEM_LOCATION_TYPE_DEVICE);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
SAME_FIELD(PoolProperties, allocationKind, CUmemPoolProps, allocType);
SAME_FIELD(PoolProperties, handleKinds, CUmemPoolProps, handleTypes);
SAME_FIELD(PoolProperties, locationKind, CUmemPoolProps, location.type);
SAME_FIELD(PoolProperties, location, CUmemPoolProps, location.id);
SAME_FIELD(PoolProperties, securityAttributes, CUmemPoolProps, win32SecurityAttributes);

static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
SAME_FIELD(KernelNode, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_FIELD(KernelNode, gridX, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_FIELD(KernelNode, gridY, CUDA_KERNEL_NODE_PARAMS_v2, gridDimY);
SAME_FIELD(KernelNode, gridZ, CUDA_KERNEL_NODE_PARAMS_v2, gridDimZ);
SAME_FIELD(KernelNode, blockX, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
SAME_FIELD(KernelNode, blockY, CUDA_KERNEL_NODE_PARAMS_v2, blockDimY);
SAME_FIELD(KernelNode, blockZ, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME_FIELD(KernelNode, sharedBytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_FIELD(KernelNode, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_FIELD(KernelNode, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
SAME_FIELD(KernelNode, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_FIELD(KernelNode, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);

static_assert(sizeof(FillNode) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
SAME_FIELD(FillNode, to, CUDA_MEMSET_NODE_PARAMS_v1, dst);
SAME_FIELD(FillNode, pitch, CUDA_MEMSET_NODE_PARAMS_v1, pitch);
SAME_FIELD(FillNode, value, CUDA_MEMSET_NODE_PARAMS_v1, value);
SAME_FIELD(FillNode, elementBytes, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
SAME_FIELD(FillNode, width, CUDA_MEMSET_NODE_PARAMS_v1, width);
SAME_FIELD(FillNode, height, CUDA_MEMSET_NODE_PARAMS_v1, height);

static_assert(sizeof(CopyNode) == sizeof(CUDA_MEMCPY3D));
SAME_FIELD(CopyNode, fromX, CUDA_MEMCPY3D, srcXInBytes);
SAME_FIELD(CopyNode, fromY, CUDA_MEMCPY3D, srcY);
SAME_FIELD(CopyNode, fromZ, CUDA_MEMCPY3D, srcZ);
SAME_FIELD(CopyNode, fromLevel, CUDA_MEMCPY3D, srcLOD);
SAME_FIELD(CopyNode, fromKind, CUDA_MEMCPY3D, srcMemoryType);
SAME_FIELD(CopyNode, fromHost, CUDA_MEMCPY3D, srcHost);
SAME_FIELD(CopyNode, from, CUDA_MEMCPY3D, srcDevice);
SAME_FIELD(CopyNode, fromArray, CUDA_MEMCPY3D, srcArray);
SAME_FIELD(CopyNode, reserved, CUDA_MEMCPY3D, reserved0);
SAME_FIELD(CopyNode, fromPitch, CUDA_MEMCPY3D, srcPitch);
SAME_FIELD(CopyNode, fromHeight, CUDA_MEMCPY3D, srcHeight);
SAME_FIELD(CopyNode, toX, CUDA_MEMCPY3D, dstXInBytes);
SAME_FIELD(CopyNode, toY, CUDA_MEMCPY3D, dstY);
SAME_FIELD(CopyNode, toZ, CUDA_MEMCPY3D, dstZ);
SAME_FIELD(CopyNode, toLevel, CUDA_MEMCPY3D, dstLOD);
SAME_FIELD(CopyNode, toKind, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(CopyNode, toHost, CUDA_MEMCPY3D, dstHost);
SAME_FIELD(CopyNode, to, CUDA_MEMCPY3D, dstDevice);
SAME_FIELD(CopyNode, toArray, CUDA_MEMCPY3D, dstArray);
SAME_FIELD(CopyNode, reservedToo, CUDA_MEMCPY3D, reserved1);
SAME_FIELD(CopyNode, toPitch, CUDA_MEMCPY3D, dstPitch);
SAME_FIELD(CopyNode, toHeight, CUDA_MEMCPY3D, dstHeight);
SAME_FIELD(CopyNode, bytes, CUDA_MEMCPY3D, WidthInBytes);
SAME_FIELD(CopyNode, height, CUDA_MEMCPY3D, Height);
SAME_FIELD(CopyNode, depth, CUDA_MEMCPY3D, Depth);

} // namespace halftone::cuda

namespace halftone::emulator {

static_assert(sizeof(DevicePointer) == sizeof(CUdeviceptr) && sizeof(Result) == sizeof(CUresult));
SAME_VALUE(JitOption::MaxRegisters, CU_JIT_MAX_REGISTERS);
SAME_VALUE(JitOption::InfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(JitOption::InfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(JitOption::ErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(JitOption::ErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(JitOption::OptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
SAME_VALUE(JitOption::Target, CU_JIT_TARGET);
SAME_VALUE(JitOption::LogVerbose, CU_JIT_LOG_VERBOSE);
SAME_VALUE(JitOption::CacheMode, CU_JIT_CACHE_MODE);

SAME_VALUE(FunctionAttribute::MaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(FunctionAttribute::SharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::ConstSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::LocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::NumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(FunctionAttribute::PtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME_VALUE(FunctionAttribute::BinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME_VALUE(FunctionAttribute::MaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(FunctionAttribute::PreferredSharedMemoryCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);

SAME_VALUE(PoolAttribute::ReuseFollowEventDependencies, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES);
SAME_VALUE(PoolAttribute::ReuseAllowOpportunistic, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
SAME_VALUE(PoolAttribute::ReuseAllowInternalDependencies, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
SAME_VALUE(PoolAttribute::ReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(PoolAttribute::UsedMemHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME_VALUE(MemoryType::Host, CU_MEMORYTYPE_HOST);
SAME_VALUE(MemoryType::Device, CU_MEMORYTYPE_DEVICE);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
SAME_FIELD(PoolProperties, locationId, CUmemPoolProps, location.id);
static_assert(sizeof(KernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
SAME_FIELD(KernelNodeParams, gridDimX, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_FIELD(KernelNodeParams, blockDimX, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
SAME_FIELD(KernelNodeParams, sharedMemBytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_FIELD(KernelNodeParams, kernelParams, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_FIELD(KernelNodeParams, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
static_assert(sizeof(MemsetNodeParams) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
SAME_FIELD(MemsetNodeParams, dst, CUDA_MEMSET_NODE_PARAMS_v1, dst);
SAME_FIELD(MemsetNodeParams, value, CUDA_MEMSET_NODE_PARAMS_v1, value);
SAME_FIELD(MemsetNodeParams, elementSize, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
SAME_FIELD(MemsetNodeParams, width, CUDA_MEMSET_NODE_PARAMS_v1, width);
SAME_FIELD(MemsetNodeParams, height, CUDA_MEMSET_NODE_PARAMS_v1, height);
static_assert(sizeof(Copy3D) == sizeof(CUDA_MEMCPY3D));
SAME_FIELD(Copy3D, srcXInBytes, CUDA_MEMCPY3D, srcXInBytes);
SAME_FIELD(Copy3D, srcMemoryType, CUDA_MEMCPY3D, srcMemoryType);
SAME_FIELD(Copy3D, srcHost, CUDA_MEMCPY3D, srcHost);
SAME_FIELD(Copy3D, srcDevice, CUDA_MEMCPY3D, srcDevice);
SAME_FIELD(Copy3D, dstXInBytes, CUDA_MEMCPY3D, dstXInBytes);
SAME_FIELD(Copy3D, dstMemoryType, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(Copy3D, dstHost, CUDA_MEMCPY3D, dstHost);
SAME_FIELD(Copy3D, dstDevice, CUDA_MEMCPY3D, dstDevice);
SAME_FIELD(Copy3D, WidthInBytes, CUDA_MEMCPY3D, WidthInBytes);
SAME_FIELD(Copy3D, Height, CUDA_MEMCPY3D, Height);
SAME_FIELD(Copy3D, Depth, CUDA_MEMCPY3D, Depth);

} // namespace halftone::emulator
