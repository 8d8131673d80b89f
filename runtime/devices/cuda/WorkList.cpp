// Allocates the memory of work, queues the work, and keeps its graphs.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/WorkList.h"
#include <algorithm>
#include <utility>

namespace halftone::cuda {

int64_t WorkList::scratchBytes() const {
  int64_t bytes = 0;
  for (const Work &work : works_)
    if (const auto *kernel = std::get_if<KernelWork>(&work))
      bytes = std::max(bytes, kernel->scratchBytes);
  return bytes;
}

Status WorkList::place(const DeviceMemory &scratch) {
  memories_.assign(works_.size(), {nullptr, scratch});
  for (size_t i = 0; i < works_.size(); ++i)
    if (auto *kernel = std::get_if<KernelWork>(&works_[i]))
      HALFTONE_RETURN_IF_ERROR(cuda::place(*kernel, memories_[i]));
  return {};
}

Status WorkList::replace(size_t index, Work work) {
  Work &known = works_[index];
  bool isSame = false;
  if (auto *kernel = std::get_if<KernelWork>(&work)) {
    const auto &old = std::get<KernelWork>(known);
    const bool hasOldTable = kernel->table == old.table;
    if (hasOldTable && !kernel->table.empty())
      kernel->setTable(memories_[index].table.get());
    if (hasOldTable && kernel->scratchBytes > 0)
      kernel->setScratch(memories_[index].scratch.get());
    if (!hasOldTable)
      HALFTONE_RETURN_IF_ERROR(cuda::place(*kernel, memories_[index]));
    isSame = kernel->parameters == old.parameters;
  }
  known = std::move(work);
  if (isSame || parts_.empty() || std::holds_alternative<std::monostate>(known))
    return {};
  const Part &part = parts_[index / maxNodes];
  return part.graph ? part.graph->update(index % maxNodes, known) : Status();
}

/// Builds the graph of a part; the part has none if there is nothing to do.
StatusOr<WorkList::Part> WorkList::build(std::span<const Work> works) const {
  Part part;
  for (const Work &work : works) {
    const auto *kernel = std::get_if<KernelWork>(&work);
    part.launches += kernel && kernel->key;
    part.copies += kernel ? !kernel->key : !std::holds_alternative<std::monostate>(work);
    part.last = kernel && kernel->key ? kernel : part.last;
  }
  if (part.launches + part.copies == 0)
    return part;
  StatusOr<std::unique_ptr<CudaGraph>> built = CudaGraph::build(gpu_, works);
  HALFTONE_RETURN_IF_ERROR(built.status());
  part.graph = *std::move(built);
  return part;
}

Status WorkList::play(bool asGraphs) {
  if (!asGraphs)
    return playFirst(works_.size());
  for (size_t begin = parts_.size() * maxNodes; begin < works_.size(); begin += maxNodes) {
    StatusOr<Part> part = build(std::span(works_).subspan(begin, std::min(maxNodes, works_.size() - begin)));
    HALFTONE_RETURN_IF_ERROR(part.status());
    parts_.push_back(*std::move(part));
  }
  for (const Part &part : parts_) {
    if (!part.graph)
      continue;
    gpu_->counters.launches += part.launches;
    gpu_->counters.copies += part.copies;
    if (part.last)
      gpu_->noteLaunch(part.last->key, part.last->site);
    HALFTONE_RETURN_IF_ERROR(part.graph->launch());
  }
  return {};
}

Status WorkList::playFirst(size_t count) {
  for (const Work &work : std::span(works_).first(count))
    HALFTONE_RETURN_IF_ERROR(queue(*gpu_, work));
  return {};
}

} // namespace halftone::cuda
