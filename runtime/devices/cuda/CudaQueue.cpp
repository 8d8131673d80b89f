// Queues operations on the compute stream, and plays lists.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaQueue.h"
#include <algorithm>
#include <utility>

namespace halftone::cuda {

bool OperationList::isEmpty() const {
  return std::ranges::all_of(works_, [](const Work &work) { return std::holds_alternative<std::monostate>(work); });
}

/// The work that begins at that position.
StatusOr<Work> OperationList::workAt(size_t position) const {
  if (counts_[position] == 1)
    return workOf(operations_[position], *modules_);
  std::vector<const QueuedCopy *> copies;
  for (const QueuedOperation &operation : operations_.subspan(position, counts_[position]))
    copies.push_back(&std::get<QueuedCopy>(operation));
  return workOf(copies, *modules_);
}

/// Reads all operations; all kernels share one block of scratch.
Status OperationList::bind() {
  int64_t scratchBytes = 0;
  works_.resize(operations_.size());
  firsts_.resize(operations_.size());
  counts_.resize(operations_.size());
  for (size_t first = 0; first < operations_.size(); first += counts_[first]) {
    counts_[first] = togetherOf(operations_.subspan(first));
    std::fill_n(firsts_.begin() + static_cast<std::ptrdiff_t>(first), counts_[first], first);
    StatusOr<Work> work = workAt(first);
    HALFTONE_RETURN_IF_ERROR(work.status());
    works_[first] = *std::move(work);
    if (const auto *kernel = std::get_if<KernelWork>(&works_[first]))
      scratchBytes = std::max(scratchBytes, kernel->scratchBytes);
  }
  DeviceMemory scratch;
  if (scratchBytes > 0) {
    StatusOr<DeviceMemory> allocated = gpu_->allocate(scratchBytes);
    HALFTONE_RETURN_IF_ERROR(allocated.status());
    scratch = *std::move(allocated);
  }
  for (const Work &work : works_) {
    const auto *kernel = std::get_if<KernelWork>(&work);
    launches_ += kernel && kernel->key;
    copies_ += kernel ? !kernel->key : !std::holds_alternative<std::monostate>(work);
  }
  memories_.assign(works_.size(), {nullptr, scratch});
  for (size_t i = 0; i < works_.size(); ++i)
    if (auto *kernel = std::get_if<KernelWork>(&works_[i])) {
      HALFTONE_RETURN_IF_ERROR(place(*kernel, memories_[i]));
      lastKernel_ = kernel->key ? kernel : lastKernel_;
    }
  return {};
}

/// Whether copies that were one piece of work have to wait for each other with their new addresses.
bool OperationList::isParted(std::span<const size_t> changed) const {
  return std::ranges::any_of(changed, [&](size_t position) {
    const size_t first = firsts_[position], count = counts_[first];
    return count > 1 && togetherOf(operations_.subspan(first, count)) != count;
  });
}

void OperationList::forget() {
  graph_.reset();
  works_.clear();
  memories_.clear();
  launches_ = copies_ = 0;
  lastKernel_ = nullptr;
  hasPlayed_ = false;
}

/// Reads an operation whose addresses may have changed, with those that are one with it.
Status OperationList::readAgain(size_t position) {
  position = firsts_[position];
  StatusOr<Work> read = workAt(position);
  HALFTONE_RETURN_IF_ERROR(read.status());
  Work &known = works_[position];
  if (auto *kernel = std::get_if<KernelWork>(&*read)) {
    const auto &old = std::get<KernelWork>(known);
    const bool hasOldTable = kernel->table == old.table;
    if (hasOldTable && !kernel->table.empty())
      kernel->setTable(memories_[position].table.get());
    if (hasOldTable && kernel->scratchBytes > 0)
      kernel->setScratch(memories_[position].scratch.get());
    if (!hasOldTable)
      HALFTONE_RETURN_IF_ERROR(place(*kernel, memories_[position]));
    const bool isSame = kernel->parameters == old.parameters;
    known = *std::move(read);
    return isSame || !graph_ ? Status() : graph_->update(position, known);
  }
  known = *std::move(read);
  return !graph_ || std::holds_alternative<std::monostate>(known) ? Status() : graph_->update(position, known);
}

Status OperationList::playGraph() {
  if (!graph_) {
    StatusOr<std::unique_ptr<CudaGraph>> built = CudaGraph::build(gpu_, works_);
    HALFTONE_RETURN_IF_ERROR(built.status());
    graph_ = *std::move(built);
  }
  gpu_->counters.launches += launches_;
  gpu_->counters.copies += copies_;
  if (lastKernel_)
    gpu_->noteLaunch(lastKernel_->key, lastKernel_->site);
  return graph_->launch();
}

Status OperationList::play(std::span<const size_t> changed) {
  if (hasPlayed_ && isParted(changed))
    forget();
  if (!hasPlayed_) {
    HALFTONE_RETURN_IF_ERROR(bind());
  } else {
    for (const size_t position : changed)
      HALFTONE_RETURN_IF_ERROR(readAgain(position));
    if (!gpu_->waitsForLaunches() && !isEmpty())
      return playGraph();
  }
  hasPlayed_ = true;
  for (const Work &work : works_)
    HALFTONE_RETURN_IF_ERROR(queue(*gpu_, work));
  return {};
}

CudaQueue::~CudaQueue() = default;

/// Makes a request in the GPU's turn, if all requests of the submission so far went well.
template <class F> void CudaQueue::unlessFailed(F request) {
  if (!error_.isOk())
    return;
  const StatusOr<GpuTurn> turn = gpu_->turn();
  error_ = turn.isOk() ? request() : turn.status();
}

Status CudaQueue::run(StatusOr<Work> work) {
  HALFTONE_RETURN_IF_ERROR(work.status());
  WorkMemory memory; // freed in the stream's order, after the work
  if (auto *kernel = std::get_if<KernelWork>(&*work))
    HALFTONE_RETURN_IF_ERROR(place(*kernel, memory));
  return queue(*gpu_, *work);
}

void CudaQueue::launch(LaunchParts parts) {
  unlessFailed([&] { return run(workOf(parts)); });
}

void CudaQueue::copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) {
  unlessFailed([&] { return run(workOf(QueuedCopy{to, from, bytes, condition}, *modules_)); });
}

void CudaQueue::fillZero(std::byte *to, int64_t bytes, Condition condition) { copy(to, nullptr, bytes, condition); }

Status CudaQueue::playList(std::span<const QueuedOperation> operations, std::span<const size_t> changed) {
  std::unique_ptr<OperationList> &list = lists_[{operations.data(), operations.size()}];
  if (!list)
    list = std::make_unique<OperationList>(gpu_, modules_, operations);
  Status status = list->play(changed);
  if (!status.isOk())
    list.reset(); // the next play reads all operations anew
  return status;
}

void CudaQueue::play(std::span<const QueuedOperation> operations, std::span<const size_t> changed) {
  unlessFailed([&] { return playList(operations, changed); });
}

Status CudaQueue::finish() {
  const Status ended = gpu_->endSubmission();
  const Status first = std::exchange(error_, {});
  return first.isOk() ? ended : first;
}

} // namespace halftone::cuda
