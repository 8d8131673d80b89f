// Builds, updates and launches graphs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaGraph.h"

namespace halftone::cuda {

StatusOr<std::unique_ptr<CudaGraph>> CudaGraph::build(std::shared_ptr<Gpu> gpu, std::span<const Work> list) {
  std::unique_ptr<CudaGraph> built(new CudaGraph(gpu));
  HALFTONE_RETURN_IF_ERROR(gpu->check(gpu->calls().graphCreate(&built->graph_, 0), "creating a graph"));
  std::vector<GraphNode> last; // at most one node
  for (const Work &work : list) {
    HALFTONE_RETURN_IF_ERROR(built->add(work, last));
    if (built->nodes_.back())
      last = {built->nodes_.back()};
  }
  HALFTONE_RETURN_IF_ERROR(
      gpu->check(gpu->calls().graphInstantiate(&built->execution_, built->graph_, 0), "instantiating a graph"));
  return built;
}

CudaGraph::~CudaGraph() {
  const StatusOr<GpuLock> lock = gpu_->lock();
  if (!lock.isOk())
    return;
  if (execution_)
    (void)gpu_->calls().graphExecDestroy(execution_);
  if (graph_)
    (void)gpu_->calls().graphDestroy(graph_);
}

Status CudaGraph::add(const Work &work, std::span<const GraphNode> after) {
  const Functions &calls = gpu_->calls();
  GraphNode node = nullptr;
  Result result = Result::success;
  if (const auto *kernel = std::get_if<KernelWork>(&work)) {
    std::vector<void *> pointers;
    const KernelNode described = kernel->node(pointers);
    result = calls.graphAddKernelNode(&node, graph_, after.data(), after.size(), &described);
  } else if (const auto *copy = std::get_if<CopyWork>(&work)) {
    const CopyNode described = copy->node();
    result = calls.graphAddMemcpyNode(&node, graph_, after.data(), after.size(), &described, gpu_->context());
  } else if (const auto *fill = std::get_if<FillWork>(&work)) {
    const FillNode described = fill->node();
    result = calls.graphAddMemsetNode(&node, graph_, after.data(), after.size(), &described, gpu_->context());
  }
  nodes_.push_back(node);
  return gpu_->check(result, "adding to a graph");
}

Status CudaGraph::update(size_t position, const Work &work) {
  const Functions &calls = gpu_->calls();
  const GraphNode node = nodes_[position];
  Result result = Result::success;
  if (const auto *kernel = std::get_if<KernelWork>(&work)) {
    std::vector<void *> pointers;
    const KernelNode described = kernel->node(pointers);
    result = calls.graphExecKernelNodeSetParams(execution_, node, &described);
  } else if (const auto *copy = std::get_if<CopyWork>(&work)) {
    const CopyNode described = copy->node();
    result = calls.graphExecMemcpyNodeSetParams(execution_, node, &described, gpu_->context());
  } else if (const auto *fill = std::get_if<FillWork>(&work)) {
    const FillNode described = fill->node();
    result = calls.graphExecMemsetNodeSetParams(execution_, node, &described, gpu_->context());
  }
  ++gpu_->counters.graphUpdates;
  return gpu_->check(result, "changing a graph");
}

Status CudaGraph::launch() {
  ++gpu_->counters.graphLaunches;
  return gpu_->check(gpu_->calls().graphLaunch(execution_, gpu_->compute()), "launching a graph");
}

} // namespace halftone::cuda
