// A GPU queue: operations go to the compute stream as they come; lists are graphs from their second play on.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/OperationList.h"
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace halftone::cuda {

class CudaQueue final : public DeviceQueue {
public:
  CudaQueue(std::shared_ptr<Gpu> gpu, std::shared_ptr<Modules> modules)
      : gpu_(std::move(gpu)), modules_(std::move(modules)) {}
  ~CudaQueue() override;
  void begin() override { error_ = {}; }
  void launch(LaunchParts parts) override;
  void copy(std::byte *to, const std::byte *from, int64_t bytes, Condition condition) override;
  void fillZero(std::byte *to, int64_t bytes, Condition condition) override;
  bool holds(Condition condition) override;
  void play(std::span<const QueuedOperation> operations, std::span<const size_t> changed) override;
  Status finish() override;

private:
  template <class F> void unlessFailed(F request);
  Status run(StatusOr<Work> work);
  Status playList(std::span<const QueuedOperation> operations, std::span<const size_t> changed);
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Modules> modules_;
  std::map<std::pair<const QueuedOperation *, size_t>, std::unique_ptr<OperationList>> lists_; // by address and length
  Status error_; // the first error of the submission, whose later operations are skipped
};

} // namespace halftone::cuda
