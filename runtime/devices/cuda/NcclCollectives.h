// Collectives of a GPU with those of other processes, by NCCL, on a stream of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/DeviceCollectives.h"
#include "runtime/communication/ProcessGroup.h"
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/devices/cuda/Nccl.h"
#include <deque>
#include <memory>

namespace halftone::cuda {

/// NCCL chooses the order in which it adds, by the GPUs and the links between them, and rounds 16-bit sums at each addition:
/// bits are those of an earlier run with the same topology only. Its maximum may drop a NaN.
class NcclCollectives final : public DeviceCollectives {
public:
  /// Joins the GPUs of all processes of the group; each calls this at the same point. The processes tell each other through
  /// the group whether they can. runtime_error, the same in all, that names the first rank that cannot, and the reason.
  static StatusOr<std::shared_ptr<NcclCollectives>> join(std::shared_ptr<Gpu> gpu,
                                                         const std::shared_ptr<ProcessGroup> &group);
  ~NcclCollectives() override;
  NcclCollectives(const NcclCollectives &) = delete;
  NcclCollectives &operator=(const NcclCollectives &) = delete;
  Status start(CollectiveKind kind, std::span<const SharedArray> arrays) override;
  Status wait() override;

private:
  explicit NcclCollectives(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  Status makeStream();
  Status queue(CollectiveKind kind, std::span<const SharedArray> arrays);
  nccl::Result queue(CollectiveKind kind, const SharedArray &array);
  nccl::Result queueParts(CollectiveKind kind, const SharedArray &array);
  Status runBehind(Stream behind, Stream first);

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<const Nccl> nccl_;
  nccl::Comm comm_ = nullptr;
  Stream stream_ = nullptr;
  std::deque<Event> travelling_; // each recorded behind a collective
};

} // namespace halftone::cuda
