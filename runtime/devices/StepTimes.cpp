// Plays a plan by way of a device that looks at the clock around every launch.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/StepTimes.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/devices/ForwardingDevice.h"
#include <chrono>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class TimedDevice final : public ForwardingDevice {
public:
  TimedDevice(std::shared_ptr<DeviceRuntime> inner, const Plan &plan)
      : ForwardingDevice(std::move(inner)), seconds(plan.steps.size()) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
      if (auto *launch = std::get_if<LaunchStep>(&plan.steps[i]))
        steps.emplace(&launch->kernel, i);
  }
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;

  std::map<const std::string *, size_t> steps; // by the address of the step's kernel key, as in Launch
  std::vector<double> seconds;                 // of each step, over all plays
};

class TimedQueue final : public ForwardingQueue {
public:
  TimedQueue(std::unique_ptr<DeviceQueue> inner, TimedDevice &device)
      : ForwardingQueue(std::move(inner)), device_(device) {}
  void launch(LaunchParts parts) override {
    const Clock::time_point start = Clock::now();
    ForwardingQueue::launch(parts);
    if (const auto step = device_.steps.find(parts.front().kernel); step != device_.steps.end())
      device_.seconds[step->second] += secondsSince(start);
  }

private:
  TimedDevice &device_;
};

StatusOr<std::unique_ptr<DeviceQueue>> TimedDevice::makeQueue(int64_t scratchBytes) {
  StatusOr<std::unique_ptr<DeviceQueue>> queue = inner().makeQueue(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(queue.status());
  return std::unique_ptr<DeviceQueue>(std::make_unique<TimedQueue>(*std::move(queue), *this));
}

StatusOr<std::vector<Tensor>> zeroFeeds(const Signature &signature) {
  std::vector<Tensor> feeds;
  for (const Parameter &parameter : signature.feeds) {
    StatusOr<Tensor> feed = makeTensor(parameter.type);
    HALFTONE_RETURN_IF_ERROR(feed.status());
    std::memset(TensorAccess::mutableData(*feed), 0, static_cast<size_t>(parameter.type.bytes()));
    feeds.push_back(*std::move(feed));
  }
  return feeds;
}

} // namespace

StatusOr<StepTimes> measureSteps(const Player &player) {
  constexpr int64_t mostPlays = 20;
  constexpr double enoughSeconds = 1;
  if (!player.device()->isHost())
    return Status(ErrorKind::value_error, fmt::format("launches on {} are not timed: the host does not wait for them",
                                                      player.device()->name()));
  auto device = std::make_shared<TimedDevice>(player.device(), player.executable().plan);
  StatusOr<std::shared_ptr<Player>> copy = player.onCopies(device);
  HALFTONE_RETURN_IF_ERROR(copy.status());
  StatusOr<std::vector<Tensor>> feeds = zeroFeeds(player.executable().signature);
  HALFTONE_RETURN_IF_ERROR(feeds.status());
  HALFTONE_RETURN_IF_ERROR((*copy)->play(*feeds).status());
  std::ranges::fill(device->seconds, 0.0);
  StepTimes times;
  const Clock::time_point start = Clock::now();
  while (times.plays < mostPlays && (times.plays == 0 || secondsSince(start) < enoughSeconds)) {
    HALFTONE_RETURN_IF_ERROR((*copy)->play(*feeds).status());
    ++times.plays;
  }
  const auto plays = static_cast<double>(times.plays);
  times.total = secondsSince(start) / plays;
  times.seconds = device->seconds;
  for (double &seconds : times.seconds)
    seconds /= plays;
  return times;
}

} // namespace halftone
