// Hands the collectives of a plan to the group of processes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/PlanCollectives.h"

namespace halftone {

PlanCollectives::PlanCollectives(const Plan &plan, std::shared_ptr<ProcessGroup> group) : group_(std::move(group)) {
  for (const Step &step : plan.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step)) {
      Bound &bound = bound_.emplace_back(Bound{collective, {}});
      for (SlotId slot : collective->from) {
        const TensorType &type = plan.slots[static_cast<size_t>(slot)].type;
        bound.arrays.push_back({type.dtype, type.elements(), nullptr, nullptr});
      }
    }
}

void PlanCollectives::start(const std::vector<std::byte *> &addresses, DeviceQueue &queue) {
  Bound &bound = bound_[next_++];
  for (size_t i = 0; i < bound.arrays.size(); ++i) {
    bound.arrays[i].from = addresses[static_cast<size_t>(bound.step->from[i])];
    bound.arrays[i].to = addresses[static_cast<size_t>(bound.step->to[i])];
  }
  if (group_) {
    travelling_.push_back(
        group_->start([&bound](Collectives &all) { return all.allReduce(bound.step->kind, bound.arrays); }));
    return;
  }
  for (const SharedArray &array : bound.arrays)
    queue.copy(array.to, array.from, array.elements * itemsize(array.dtype), {});
}

Status PlanCollectives::wait() {
  if (travelling_.empty())
    return {};
  const uint64_t oldest = travelling_.front();
  travelling_.pop_front();
  return group_->wait(oldest);
}

void PlanCollectives::settle() {
  while (!travelling_.empty())
    (void)wait(); // play() reports the first failure, and the group returns it to each later wait
  next_ = 0;
}

} // namespace halftone
