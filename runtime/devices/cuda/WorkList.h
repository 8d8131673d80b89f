// Work that is queued repeatedly, as graphs from its second play on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/CudaGraph.h"
#include <memory>
#include <span>
#include <vector>

namespace halftone::cuda {

/// A list of work with fixed tables and scratch. The caller of each member holds a GpuLock.
class WorkList {
public:
  static constexpr size_t maxNodes = 4096; // per graph

  explicit WorkList(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  void add(Work work) { works_.push_back(std::move(work)); }
  size_t size() const { return works_.size(); }
  int64_t scratchBytes() const;
  /// Allocates tables and sets the address of the scratch, which all lists of a plan share. Call it once.
  Status place(const DeviceMemory &scratch);
  /// Replaces the work at `index` with work of the same kind that has other addresses.
  Status replace(size_t index, Work work);
  /// Queues all work, as graphs if `asGraphs`.
  Status play(bool asGraphs);
  /// Queues the first `count` work items one by one.
  Status playFirst(size_t count);

private:
  /// A graph, and the counts to add when it is launched.
  struct Part {
    std::unique_ptr<CudaGraph> graph;
    int64_t launches = 0, copies = 0;
    const KernelWork *last = nullptr; // a kernel of the plan
  };
  StatusOr<Part> build(std::span<const Work> works) const;
  std::shared_ptr<Gpu> gpu_;
  std::vector<Work> works_;
  std::vector<WorkMemory> memories_;
  std::vector<Part> parts_; // of `maxNodes` work items each; none before the first play as graphs
};

} // namespace halftone::cuda
