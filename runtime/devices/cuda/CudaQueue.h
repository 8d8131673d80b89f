// The queue of a GPU: operations go to the compute stream as they come, lists from their second play on as a graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/CudaGraph.h"
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace halftone::cuda {

/// A list of operations that is played again and again. Its tables and its scratch stay where they are. Use it in the
/// GPU's turn.
class OperationList {
public:
  OperationList(std::shared_ptr<Gpu> gpu, std::shared_ptr<Modules> modules, std::span<const QueuedOperation> operations)
      : gpu_(std::move(gpu)), modules_(std::move(modules)), operations_(operations) {}
  /// `changed` as DeviceQueue::play(); the first play reads all operations.
  Status play(std::span<const size_t> changed);

private:
  bool isEmpty() const;
  Status bind();
  StatusOr<Work> workAt(size_t position) const;
  bool isParted(std::span<const size_t> changed) const;
  void forget();
  Status readAgain(size_t position);
  Status playGraph();
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Modules> modules_;
  const std::span<const QueuedOperation> operations_;
  std::vector<Work> works_;    // by position; of operations that are one piece of work, the first has it
  std::vector<size_t> firsts_; // by position: the first of its piece of work
  std::vector<size_t> counts_; // by position: how many are one with it, if it is the first
  std::vector<WorkMemory> memories_;
  const KernelWork *lastKernel_ = nullptr;
  int64_t launches_ = 0, copies_ = 0;
  bool hasPlayed_ = false;
  std::unique_ptr<CudaGraph> graph_;
};

class CudaQueue final : public DeviceQueue {
public:
  CudaQueue(std::shared_ptr<Gpu> gpu, std::shared_ptr<Modules> modules)
      : gpu_(std::move(gpu)), modules_(std::move(modules)) {}
  ~CudaQueue() override;
  void begin() override { error_ = {}; }
  void launch(LaunchParts parts) override;
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override;
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override;
  void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed) override;
  Status finish() override;

private:
  template <class F> void unlessFailed(F request);
  Status run(StatusOr<Work> work);
  Status playList(std::span<const QueuedOperation> operations, std::span<const size_t> changed);
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Modules> modules_;
  std::map<std::pair<const QueuedOperation *, size_t>, std::unique_ptr<OperationList>> lists_; // by place and length
  Status error_; // the first of the submission, whose later operations are left out
};

} // namespace halftone::cuda
