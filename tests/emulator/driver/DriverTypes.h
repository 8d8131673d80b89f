// Our own declarations of the CUDA driver API types in use. CudaHeader.cpp compares them with cuda.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace halftone::emulator {

enum class Result : int {
#define HALFTONE_RESULT(name, symbol, value, stops, text) name = (value),
#include "tests/emulator/driver/Results.def"
};

using DevicePointer = unsigned long long;

/// CUjit_option.
enum class JitOption : int {
  MaxRegisters = 0,
  InfoLogBuffer = 3,
  InfoLogBufferSizeBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSizeBytes = 6,
  OptimizationLevel = 7,
  Target = 9,
  LogVerbose = 12,
  CacheMode = 14,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,
  ConstSizeBytes = 2,
  LocalSizeBytes = 3,
  NumRegs = 4,
  PtxVersion = 5,
  BinaryVersion = 6,
  MaxDynamicSharedSizeBytes = 8,
  PreferredSharedMemoryCarveout = 9,
};

/// CUmemPool_attribute.
enum class PoolAttribute : int {
  ReuseFollowEventDependencies = 1,
  ReuseAllowOpportunistic = 2,
  ReuseAllowInternalDependencies = 3,
  ReleaseThreshold = 4,
  ReservedMemCurrent = 5,
  ReservedMemHigh = 6,
  UsedMemCurrent = 7,
  UsedMemHigh = 8
};

/// CUmemPoolProps. The emulator reads only the device.
struct PoolProperties {
  int allocType;
  int handleTypes;
  int locationType;
  int locationId;
  void *win32SecurityAttributes;
  unsigned char rest[64];
};

/// CUDA_KERNEL_NODE_PARAMS_v1; the newer version begins with the same fields.
struct KernelNodeParams {
  void *func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
};

/// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNodeParams {
  DevicePointer dst;
  size_t pitch;
  unsigned value;
  unsigned elementSize;
  size_t width;
  size_t height;
};

/// CUmemorytype.
enum class MemoryType : unsigned { Host = 1, Device = 2 };

/// CUDA_MEMCPY3D. The emulator supports copies of one row.
struct Copy3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  MemoryType srcMemoryType;
  const void *srcHost;
  DevicePointer srcDevice;
  void *srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  MemoryType dstMemoryType;
  void *dstHost;
  DevicePointer dstDevice;
  void *dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
};

} // namespace halftone::emulator
