// Declarations of the CUDA driver's types, values and functions, independent of cuda.h. Tests compare them with cuda.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace halftone::cuda {

/// CUresult. Driver::text() describes each value, and DriverErrors.h gives its scope. A result that is ignored is cast
/// to void, with the reason where it is not obvious.
enum class [[nodiscard]] Result : int {
#define HALFTONE_DRIVER_RESULT(name, symbol, value, reach, advice) name = (value),
#include "runtime/devices/cuda/DriverResults.def"
};

using Address = unsigned long long; // CUdeviceptr
using Context = struct ContextObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Pool = struct PoolObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Graph = struct GraphObject *;
using GraphNode = struct GraphNodeObject *;
using GraphExecution = struct GraphExecutionObject *;

enum class DeviceAttribute : int {
  capability_major = 75,
  capability_minor = 76,
  max_shared_bytes = 97,
  memory_pools_supported = 115,
};
enum class FunctionAttribute : int {
  static_shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  max_dynamic_shared_bytes = 8,
};
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };
enum class PoolAttribute : int { reuse_with_new_dependencies = 3, release_threshold = 4 };
enum class MemoryKind : int { device = 2 };

inline constexpr unsigned nonBlockingStream = 1;
inline constexpr unsigned eventWithoutTime = 2;

/// CUmemPoolProps.
struct PoolProperties {
  int allocationKind = 1; // pinned, the only kind
  int handleKinds = 0;    // none: the memory is not shared with other processes
  int locationKind = 1;   // a device
  int location = 0;
  void *securityAttributes = nullptr;
  unsigned char rest[64] = {};
};

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Function function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  void **parameters = nullptr;
  void **extra = nullptr;
  void *kernel = nullptr;
  Context context = nullptr; // null: the current one
};

/// CUDA_MEMSET_NODE_PARAMS.
struct FillNode {
  Address to = 0;
  size_t pitch = 0;
  unsigned value = 0;
  unsigned elementBytes = 1;
  size_t width = 0;
  size_t height = 1;
};

/// CUDA_MEMCPY3D.
struct CopyNode {
  size_t fromX = 0, fromY = 0, fromZ = 0, fromLevel = 0;
  MemoryKind fromKind = MemoryKind::device;
  const void *fromHost = nullptr;
  Address from = 0;
  void *fromArray = nullptr, *reserved = nullptr;
  size_t fromPitch = 0, fromHeight = 0;
  size_t toX = 0, toY = 0, toZ = 0, toLevel = 0;
  MemoryKind toKind = MemoryKind::device;
  void *toHost = nullptr;
  Address to = 0;
  void *toArray = nullptr, *reservedToo = nullptr;
  size_t toPitch = 0, toHeight = 0;
  size_t bytes = 0, height = 1, depth = 1;
};

/// The driver's functions, named without the prefix `cu`. DriverCalls.def lists each with its exported name.
struct Functions {
  Result (*init)(unsigned flags);
  Result (*driverGetVersion)(int *version);
  Result (*getErrorName)(Result result, const char **name);
  Result (*getErrorString)(Result result, const char **text);

  Result (*deviceGetCount)(int *count);
  Result (*deviceGet)(int *device, int index);
  Result (*deviceGetName)(char *name, int bytes, int device);
  Result (*deviceTotalMem)(size_t *bytes, int device);
  Result (*deviceGetAttribute)(int *value, DeviceAttribute attribute, int device);
  Result (*devicePrimaryCtxRetain)(Context *context, int device);
  Result (*devicePrimaryCtxRelease)(int device);
  Result (*ctxPushCurrent)(Context context);
  Result (*ctxPopCurrent)(Context *context);

  Result (*memGetInfo)(size_t *free, size_t *total);
  Result (*memPoolCreate)(Pool *pool, const PoolProperties *properties);
  Result (*memPoolDestroy)(Pool pool);
  Result (*memPoolSetAttribute)(Pool pool, PoolAttribute attribute, void *value);
  Result (*memPoolTrimTo)(Pool pool, size_t kept);
  Result (*memAllocFromPoolAsync)(Address *address, size_t bytes, Pool pool, Stream stream);
  Result (*memFreeAsync)(Address address, Stream stream);
  Result (*memHostAlloc)(void **memory, size_t bytes, unsigned flags);
  Result (*memFreeHost)(void *memory);
  Result (*memcpyHtoDAsync)(Address to, const void *from, size_t bytes, Stream stream);
  Result (*memcpyDtoHAsync)(void *to, Address from, size_t bytes, Stream stream);
  Result (*memcpyDtoDAsync)(Address to, Address from, size_t bytes, Stream stream);
  Result (*memsetD8Async)(Address to, unsigned char value, size_t count, Stream stream);

  Result (*streamCreate)(Stream *stream, unsigned flags);
  Result (*streamDestroy)(Stream stream);
  Result (*streamSynchronize)(Stream stream);
  Result (*streamQuery)(Stream stream);
  Result (*streamWaitEvent)(Stream stream, Event event, unsigned flags);
  Result (*eventCreate)(Event *event, unsigned flags);
  Result (*eventDestroy)(Event event);
  Result (*eventRecord)(Event event, Stream stream);
  Result (*eventQuery)(Event event);
  Result (*eventSynchronize)(Event event);

  Result (*moduleLoadDataEx)(Module *module, const void *image, unsigned count, JitOption *options, void **values);
  Result (*moduleUnload)(Module module);
  Result (*moduleGetFunction)(Function *function, Module module, const char *name);
  Result (*funcGetAttribute)(int *value, FunctionAttribute attribute, Function function);
  Result (*funcSetAttribute)(Function function, FunctionAttribute attribute, int value);
  Result (*launchKernel)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                         unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters,
                         void **extra);

  Result (*graphCreate)(Graph *graph, unsigned flags);
  Result (*graphDestroy)(Graph graph);
  Result (*graphAddKernelNode)(GraphNode *node, Graph graph, const GraphNode *after, size_t count,
                               const KernelNode *work);
  Result (*graphAddMemcpyNode)(GraphNode *node, Graph graph, const GraphNode *after, size_t count, const CopyNode *work,
                               Context context);
  Result (*graphAddMemsetNode)(GraphNode *node, Graph graph, const GraphNode *after, size_t count, const FillNode *work,
                               Context context);
  Result (*graphInstantiate)(GraphExecution *execution, Graph graph, unsigned long long flags);
  Result (*graphExecDestroy)(GraphExecution execution);
  Result (*graphLaunch)(GraphExecution execution, Stream stream);
  Result (*graphExecKernelNodeSetParams)(GraphExecution execution, GraphNode node, const KernelNode *work);
  Result (*graphExecMemcpyNodeSetParams)(GraphExecution execution, GraphNode node, const CopyNode *work,
                                         Context context);
  Result (*graphExecMemsetNodeSetParams)(GraphExecution execution, GraphNode node, const FillNode *work,
                                         Context context);
};

/// The exported names of the functions.
inline constexpr const char *functionNames[] = {
#define HALFTONE_DRIVER_CALL(member, symbol) #symbol,
#include "runtime/devices/cuda/DriverCalls.def"
};
static_assert(sizeof(Functions) == std::size(functionNames) * sizeof(void (*)()),
              "expected one line in DriverCalls.def for each function");

} // namespace halftone::cuda
