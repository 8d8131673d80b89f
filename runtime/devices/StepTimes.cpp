// Plays a plan by way of a device that looks at the clock around every launch.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/StepTimes.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/devices/ForwardingDevice.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// 0 of no values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return values.empty() ? 0 : *middle;
}

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
  std::vector<std::vector<double>> seconds;    // of each step, one for each play
};

class TimedQueue final : public ForwardingQueue {
public:
  TimedQueue(std::unique_ptr<DeviceQueue> inner, TimedDevice &device)
      : ForwardingQueue(std::move(inner)), device_(device) {}
  void launch(LaunchParts parts) override {
    const Clock::time_point start = Clock::now();
    ForwardingQueue::launch(parts);
    if (const auto step = device_.steps.find(parts.front().kernel); step != device_.steps.end())
      device_.seconds[step->second].push_back(secondsSince(start));
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
  constexpr size_t mostPlays = 20;
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
  for (std::vector<double> &ofStep : device->seconds)
    ofStep.clear();
  std::vector<double> plays;
  const Clock::time_point start = Clock::now();
  while (plays.size() < mostPlays && (plays.empty() || secondsSince(start) < enoughSeconds)) {
    const Clock::time_point began = Clock::now();
    HALFTONE_RETURN_IF_ERROR((*copy)->play(*feeds).status());
    plays.push_back(secondsSince(began));
  }
  StepTimes times;
  times.plays = std::ssize(plays);
  times.total = median(std::move(plays));
  for (std::vector<double> &ofStep : device->seconds)
    times.seconds.push_back(median(std::move(ofStep)));
  return times;
}

} // namespace halftone
