// Passes the collectives of a plan to the process group.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/PlanCollectives.h"
#include "runtime/base/Extents.h"
#include "runtime/base/Sha256.h"
#include "runtime/communication/HostWrites.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone {

using Clock = std::chrono::steady_clock;

StatusOr<std::unique_ptr<PlanCollectives>> PlanCollectives::make(const Executable &executable, DeviceRuntime &device,
                                                                 std::shared_ptr<ProcessGroup> group) {
  for (const Step &step : executable.plan.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step); collective && group && isDivided(collective->kind)) {
      const auto processes = std::ssize(collective->offsets.front()) - 1;
      if (collective->rank != group->rank() || processes != group->size())
        return Status(ErrorKind::value_error,
                      fmt::format("{}: the plan is for rank {} of {} processes, but this is rank {} of {}",
                                  executable.name, collective->rank, processes, group->rank(), group->size()));
    }
  std::shared_ptr<DeviceCollectives> onDevice;
  if (group && !device.isHost()) {
    StatusOr<std::shared_ptr<DeviceCollectives>> joined = device.join(group);
    if (!joined.isOk())
      return Status(joined.status().kind(), fmt::format("{}: {}", executable.name, joined.status().message()));
    onDevice = *std::move(joined);
  }
  return std::unique_ptr<PlanCollectives>(new PlanCollectives(executable.plan, std::move(group), std::move(onDevice)));
}

PlanCollectives::PlanCollectives(const Plan &plan, std::shared_ptr<ProcessGroup> group,
                                 std::shared_ptr<DeviceCollectives> onDevice)
    : bound_(boundOf(plan)), group_(std::move(group)), onDevice_(std::move(onDevice)) {}

static std::string nameOf(const CollectiveStep &step, std::span<const SharedArray> arrays) {
  int64_t bytes = 0;
  std::string text;
  for (const SharedArray &array : arrays) {
    bytes = extentSum(bytes, extentProduct(array.elements, itemsize(array.dtype)));
    text += fmt::format("{} {} [{}];", name(array.dtype), array.elements, fmt::join(array.offsets, ","));
  }
  return fmt::format("{} of {} bytes, {}", name(step.kind), bytes, sha256(text).substr(0, 8));
}

std::vector<PlanCollectives::Bound> PlanCollectives::boundOf(const Plan &plan) {
  std::vector<Bound> all;
  for (const Step &step : plan.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step)) {
      Bound &bound = all.emplace_back(Bound{collective, {}, {}, {}});
      for (size_t i = 0; i < collective->from.size(); ++i) {
        const TensorType &type = plan.slots[static_cast<size_t>(collective->from[i])].type;
        if (isDivided(collective->kind))
          bound.arrays.push_back(
              {type.dtype, collective->offsets[i].back(), nullptr, nullptr, std::span(collective->offsets[i])});
        else
          bound.arrays.push_back({type.dtype, type.elements(), nullptr, nullptr});
      }
    }
  for (size_t i = 0; i < all.size(); ++i)
    all[i].name = fmt::format("{} of {}: {}", i + 1, all.size(), nameOf(*all[i].step, all[i].arrays));
  return all;
}

std::vector<std::string> PlanCollectives::names(const Plan &plan) {
  std::vector<std::string> names;
  for (Bound &bound : boundOf(plan))
    names.push_back(std::move(bound.name));
  return names;
}

Status PlanCollectives::start(const std::vector<std::byte *> &addresses, DeviceQueue &queue) {
  Bound &bound = bound_[next_++];
  bound.times.started = Clock::now();
  for (size_t i = 0; i < bound.arrays.size(); ++i) {
    bound.arrays[i].from = addresses[static_cast<size_t>(bound.step->from[i])];
    bound.arrays[i].to = addresses[static_cast<size_t>(bound.step->to[i])];
  }
  if (onDevice_) {
    inFlight_.push_back(0);
    return onDevice_->start(bound.step->kind, bound.arrays);
  }
  if (group_) {
    inFlight_.push_back(group_->start(bound.name + HostWrites::words(), [&bound](Collectives &all) {
      bound.times.began = Clock::now();
      Status status = all.combine(bound.step->kind, bound.arrays);
      bound.times.ended = Clock::now();
      return status;
    }));
    return {};
  }
  copy(*bound.step, bound.arrays, queue);
  return {};
}

void PlanCollectives::copy(const CollectiveStep &step, std::span<const SharedArray> arrays, DeviceQueue &queue) {
  const auto rank = static_cast<int>(step.rank);
  for (const SharedArray &array : arrays)
    if (step.kind == CollectiveKind::scattered_sum) {
      queue.copy(array.to, array.from + array.partBegin(rank), array.partBytes(rank), {});
    } else if (step.kind == CollectiveKind::gather) {
      queue.fillZero(array.to, array.elements * itemsize(array.dtype), {});
      queue.copy(array.to + array.partBegin(rank), array.from, array.partBytes(rank), {});
    } else {
      queue.copy(array.to, array.from, array.elements * itemsize(array.dtype), {});
    }
}

Status PlanCollectives::wait() {
  if (inFlight_.empty())
    return {};
  const uint64_t oldest = inFlight_.front();
  inFlight_.pop_front();
  CollectiveTimes &times = bound_[awaited_++].times;
  times.awaited = Clock::now();
  Status status = onDevice_ ? onDevice_->wait() : group_->wait(oldest);
  times.arrived = Clock::now();
  return status;
}

std::vector<CollectiveTimes> PlanCollectives::times() const {
  std::vector<CollectiveTimes> times;
  for (const Bound &bound : bound_)
    times.push_back(bound.times);
  return times;
}

void PlanCollectives::finish() {
  while (!inFlight_.empty())
    (void)wait(); // play() reports the first failure, and the group returns it to each later wait
  next_ = awaited_ = 0;
}

} // namespace halftone
