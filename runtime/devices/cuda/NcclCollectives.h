// NCCL collectives between this GPU and those of other processes, on a separate stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/DeviceCollectives.h"
#include "runtime/communication/ProcessGroup.h"
#include "runtime/devices/cuda/Gpu.h"
#include "runtime/devices/cuda/Nccl.h"
#include <deque>
#include <memory>

namespace halftone::cuda {

/// NCCL chooses the order of additions by the GPUs and the links between them, and rounds 16-bit sums at each addition,
/// so bits are reproducible only on the same topology. Its maximum may drop a NaN.
class NcclCollectives final : public DeviceCollectives {
public:
  /// Joins the GPUs of all processes of the group; each process makes this call at the same point. The processes tell
  /// each other through the group whether they can join. If one cannot, all get the same runtime_error, which names the
  /// first such rank and the reason.
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
  Status runAfter(Stream later, Stream first);

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<const Nccl> nccl_;
  nccl::Comm comm_ = nullptr;
  Stream stream_ = nullptr;
  std::deque<Event> inFlight_; // each recorded after a collective
};

} // namespace halftone::cuda
