// A list of work as a CUDA graph: a chain of nodes, launched by one call.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/Work.h"
#include <memory>
#include <span>
#include <vector>

namespace halftone::cuda {

/// The caller of each member holds a GpuLock. The owner of the object keeps the kernels alive.
class CudaGraph {
public:
  static StatusOr<std::unique_ptr<CudaGraph>> build(std::shared_ptr<Gpu> gpu, std::span<const Work> list);
  ~CudaGraph();
  CudaGraph(const CudaGraph &) = delete;
  CudaGraph &operator=(const CudaGraph &) = delete;
  /// Replaces the work at that position with work of the same kind, for subsequent launches.
  Status update(size_t position, const Work &work);
  /// Queues the whole list on the compute stream.
  Status launch();

private:
  explicit CudaGraph(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Status add(const Work &work, std::span<const GraphNode> after);
  std::shared_ptr<Gpu> gpu_;
  Graph graph_ = nullptr;
  GraphExecution execution_ = nullptr;
  std::vector<GraphNode> nodes_; // by position in the list; null where there is nothing to do
};

} // namespace halftone::cuda
