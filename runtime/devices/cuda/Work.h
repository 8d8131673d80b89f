// Driver-level form of a queue operation: a kernel with its parameter values, a copy, or a fill.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/Modules.h"
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace halftone::cuda {

/// One launch. The parameters are those of GpuAbi.h, or those of a kernel built into the device.
struct KernelWork {
  const LoadedKernel *kernel = nullptr;
  unsigned grid = 0;
  std::vector<uint64_t> parameters; // eight bytes each, of which a narrower parameter uses the first
  std::vector<uint64_t> table;      // of the parts; empty if the parameters suffice
  int64_t scratchBytes = 0;         // of all blocks together
  size_t fixed = 0;                 // position of `table` among the parameters
  const std::string *key = nullptr; // null: a kernel built into the device
  const std::string *site = nullptr;

  void setTable(const std::byte *memory) { parameters[fixed] = addressOf(memory); }
  void setScratch(const std::byte *memory) { parameters[fixed + 2] = addressOf(memory); }
  /// "kernel <key> of <site>".
  std::string text() const;
  /// The launch as a graph node. Valid while `pointers` and this object live.
  KernelNode node(std::vector<void *> &pointers) const;
};

struct CopyWork {
  Address to = 0, from = 0;
  size_t bytes = 0;
  CopyNode node() const;
};

struct FillWork { // with zeros
  Address to = 0;
  size_t bytes = 0;
  FillNode node() const;
};

/// std::monostate: no operation.
using Work = std::variant<std::monostate, KernelWork, CopyWork, FillWork>;

/// The work of a launch, without the addresses of its table and its scratch. device_error if it has more blocks than a
/// GPU supports.
StatusOr<Work> workOf(LaunchParts parts);
/// The work of a copy or a fill. A conditional one is a kernel of `modules`; errors are those of loading it.
StatusOr<Work> workOf(const QueuedCopy &copy, Modules &modules);
/// The work of at least two copies that may run concurrently: one launch.
StatusOr<Work> workOf(std::span<const QueuedCopy *const> copies, Modules &modules);
/// The number of leading `operations` that form one work item: either independent copies and fills, each with so few
/// bytes that its launch takes longer than the copy itself, or a single operation.
size_t togetherOf(std::span<const QueuedOperation> operations);

/// Memory that kernel work points to, apart from operands and results.
struct WorkMemory {
  DeviceMemory table, scratch;
};
/// Allocates the memory, writes the table, and sets both addresses. Scratch that `memory` already has is kept. The
/// caller holds a GpuLock.
Status place(KernelWork &work, WorkMemory &memory);

/// Queues the work on the compute stream. The caller holds a GpuLock.
Status queue(Gpu &gpu, const Work &work);

} // namespace halftone::cuda
