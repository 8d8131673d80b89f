// One operation of a queue as the driver takes it: a kernel with the values of its parameters, a copy, or a fill.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/Modules.h"
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace halftone::cuda {

/// One launch. The parameters are those of GpuAbi.h, or of a kernel that the device brings itself.
struct KernelWork {
  const LoadedKernel *kernel = nullptr;
  unsigned grid = 0;
  std::vector<uint64_t> parameters; // each in eight bytes of its own, the first of them used
  std::vector<uint64_t> table;      // of the parts; empty: the parameters say all
  int64_t scratchBytes = 0;         // of all blocks together
  size_t fixed = 0;                 // position of `table` among the parameters
  const std::string *key = nullptr; // null: a kernel of the device itself
  const std::string *site = nullptr;

  void setTable(const std::byte *memory) { parameters[fixed] = addressOf(memory); }
  void setScratch(const std::byte *memory) { parameters[fixed + 2] = addressOf(memory); }
  /// "kernel <key> of <site>".
  std::string text() const;
  /// The launch, as graphs take it. Valid as long as `pointers` and this.
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

/// std::monostate: there is nothing to do.
using Work = std::variant<std::monostate, KernelWork, CopyWork, FillWork>;

/// The work of a launch, without the addresses of its table and its scratch. device_error when it has more blocks than
/// a GPU takes.
StatusOr<Work> workOf(LaunchParts parts);
/// The work of a copy or a fill. One under a condition is a kernel of `modules`; errors as for loading it.
StatusOr<Work> workOf(const QueuedCopy &copy, Modules &modules);
/// Of at least two copies that may run at once: one launch.
StatusOr<Work> workOf(std::span<const QueuedCopy *const> copies, Modules &modules);
/// How many of `operations` from the first on are one piece of work: copies and fills that touch nothing that another
/// of them writes, each of so few bytes that its launch takes longer than it; or one operation.
size_t togetherOf(std::span<const QueuedOperation> operations);

/// Memory that kernel work points to, beside operands and results.
struct WorkMemory {
  DeviceMemory table, scratch;
};
/// Allocates the memory, writes the table, and sets both addresses. Scratch that `memory` has already is kept. In the
/// GPU's turn.
Status place(KernelWork &work, WorkMemory &memory);

/// Queues the work on the compute stream. In the GPU's turn.
Status queue(Gpu &gpu, const Work &work);

} // namespace halftone::cuda
