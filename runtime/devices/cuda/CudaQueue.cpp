// Queues operations on the compute stream, and plays lists.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/CudaQueue.h"
#include <utility>

namespace halftone::cuda {

CudaQueue::~CudaQueue() = default;

/// Runs a request under a GpuLock if all requests of the submission so far have succeeded.
template <class F> void CudaQueue::unlessFailed(F request) {
  if (!error_.isOk())
    return;
  const StatusOr<GpuLock> lock = gpu_->lock();
  error_ = lock.isOk() ? request() : lock.status();
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

bool CudaQueue::holds(Condition condition) {
  if (!condition.byte || !error_.isOk())
    return error_.isOk();
  std::byte byte{};
  error_ = gpu_->download({&byte, 1}, condition.byte);
  return error_.isOk() && (byte != std::byte{0}) != condition.negated;
}

Status CudaQueue::playList(std::span<const QueuedOperation> operations, std::span<const size_t> changed) {
  std::unique_ptr<OperationList> &list = lists_[{operations.data(), operations.size()}];
  if (!list)
    list = std::make_unique<OperationList>(gpu_, modules_, operations);
  Status status = list->play(changed);
  if (!status.isOk())
    list.reset(); // the next play reads all operations again
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
