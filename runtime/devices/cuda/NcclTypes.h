// Declarations of NCCL's types, values and functions, independent of nccl.h. A test compares them with nccl.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/DriverTypes.h"
#include <cstddef>

namespace halftone::cuda::nccl {

/// ncclResult_t: the only value that the runtime distinguishes. The library describes the others.
enum class Result : int { success = 0 };

/// ncclDataType_t.
enum class DataType : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
};

/// ncclRedOp_t.
enum class Reduction : int { sum = 0, max = 2 };

/// ncclUniqueId: identifies a communicator that processes are about to create.
struct GroupId {
  char bytes[128];
};

using Comm = struct CommObject *; // ncclComm_t

/// NCCL's functions, named without the prefix `nccl`.
struct Functions {
  Result (*getVersion)(int *version);
  const char *(*getErrorString)(Result result);
  const char *(*getLastError)(Comm comm);
  Result (*getUniqueId)(GroupId *id);
  Result (*commInitRank)(Comm *comm, int ranks, GroupId id, int rank);
  Result (*commDestroy)(Comm comm);
  Result (*commGetAsyncError)(Comm comm, Result *error);
  Result (*groupStart)();
  Result (*groupEnd)();
  Result (*allReduce)(const void *from, void *to, size_t count, DataType type, Reduction reduction, Comm comm,
                      Stream stream);
  Result (*reduce)(const void *from, void *to, size_t count, DataType type, Reduction reduction, int root, Comm comm,
                   Stream stream);
  Result (*broadcast)(const void *from, void *to, size_t count, DataType type, int root, Comm comm, Stream stream);
};

} // namespace halftone::cuda::nccl
