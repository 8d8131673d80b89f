// Plays a plan on a device that takes timestamps around every launch.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/StepTimes.h"
#include "runtime/PlanCollectives.h"
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

/// The median; 0 if there are no values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return values.empty() ? 0 : *middle;
}

struct LaunchTimes {
  size_t step;
  Clock::time_point begin, end;
};

class TimedDevice final : public ForwardingDevice {
public:
  TimedDevice(std::shared_ptr<DeviceRuntime> inner, const Plan &plan) : ForwardingDevice(std::move(inner)) {
    for (size_t i = 0; i < plan.steps.size(); ++i)
      if (auto *launch = std::get_if<LaunchStep>(&plan.steps[i]))
        steps.emplace(&launch->kernel, i);
  }
  StatusOr<std::unique_ptr<DeviceQueue>> makeQueue(int64_t scratchBytes) override;

  std::map<const std::string *, size_t> steps; // by the address of the step's kernel key, as in Launch
  std::vector<LaunchTimes> launches;           // in execution order
};

class TimedQueue final : public ForwardingQueue {
public:
  TimedQueue(std::unique_ptr<DeviceQueue> inner, TimedDevice &device)
      : ForwardingQueue(std::move(inner)), device_(device) {}
  void launch(LaunchParts parts) override {
    const Clock::time_point start = Clock::now();
    ForwardingQueue::launch(parts);
    if (const auto step = device_.steps.find(parts.front().kernel); step != device_.steps.end())
      device_.launches.push_back({step->second, start, Clock::now()});
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

/// A player on copies, and the timing device; played once to warm up.
struct TimedPlayer {
  std::shared_ptr<TimedDevice> device;
  std::shared_ptr<Player> player;
  std::vector<Tensor> feeds; // zeros

  static StatusOr<TimedPlayer> of(const Player &player, bool together) {
    const Executable &executable = player.executable();
    if (!player.device()->isHost())
      return Status(ErrorKind::value_error, fmt::format("launches on {} are not timed: the host does not wait for them",
                                                        player.device()->name()));
    auto device = std::make_shared<TimedDevice>(player.device(), executable.plan);
    StatusOr<std::shared_ptr<Player>> copy = player.onCopies(device, together);
    HALFTONE_RETURN_IF_ERROR(copy.status());
    StatusOr<std::vector<Tensor>> feeds = zeroFeeds(executable.signature);
    HALFTONE_RETURN_IF_ERROR(feeds.status());
    HALFTONE_RETURN_IF_ERROR((*copy)->play(*feeds).status());
    device->launches.clear();
    return TimedPlayer{std::move(device), *std::move(copy), *std::move(feeds)};
  }
};

/// The collectives of the last play, which began at `start`.
std::vector<PlayRecord::Collective> collectivesOf(const Player &player, Clock::time_point start) {
  const auto seconds = [&](Clock::time_point time) { return std::chrono::duration<double>(time - start).count(); };
  const std::vector<CollectiveTimes> times = player.collectiveTimes();
  const std::vector<Step> &steps = player.executable().plan.steps;
  std::vector<PlayRecord::Collective> collectives;
  for (size_t step = 0; step < steps.size(); ++step)
    if (std::holds_alternative<CollectiveStep>(steps[step]))
      if (const CollectiveTimes &own = times[collectives.size()]; own.ended >= start)
        collectives.push_back({step, seconds(own.started), seconds(own.began), seconds(own.ended), seconds(own.awaited),
                               seconds(own.arrived)});
  return collectives;
}

} // namespace

StatusOr<StepTimes> measureSteps(const Player &player) {
  constexpr size_t maxPlays = 20;
  constexpr double enoughSeconds = 1;
  StatusOr<TimedPlayer> timed = TimedPlayer::of(player, false);
  HALFTONE_RETURN_IF_ERROR(timed.status());
  std::vector<double> plays;
  std::vector<std::vector<double>> seconds(player.executable().plan.steps.size()); // [step][play]
  const Clock::time_point start = Clock::now();
  while (plays.size() < maxPlays && (plays.empty() || secondsSince(start) < enoughSeconds)) {
    timed->device->launches.clear();
    const Clock::time_point began = Clock::now();
    HALFTONE_RETURN_IF_ERROR(timed->player->play(timed->feeds).status());
    plays.push_back(secondsSince(began));
    for (std::vector<double> &ofStep : seconds)
      ofStep.push_back(0);
    for (const LaunchTimes &launch : timed->device->launches) // iterations of a repeat add up
      seconds[launch.step].back() += std::chrono::duration<double>(launch.end - launch.begin).count();
  }
  StepTimes times;
  times.plays = std::ssize(plays);
  times.total = median(std::move(plays));
  for (std::vector<double> &ofStep : seconds)
    times.seconds.push_back(median(std::move(ofStep)));
  return times;
}

StatusOr<PlayRecord> recordPlay(const Player &player) {
  constexpr size_t plays = 7; // a number that all processes know
  StatusOr<TimedPlayer> timed = TimedPlayer::of(player, true);
  HALFTONE_RETURN_IF_ERROR(timed.status());
  std::vector<PlayRecord> records;
  for (size_t play = 0; play < plays; ++play) {
    timed->device->launches.clear();
    const Clock::time_point start = Clock::now();
    HALFTONE_RETURN_IF_ERROR(timed->player->play(timed->feeds).status());
    PlayRecord &record = records.emplace_back();
    record.total = secondsSince(start);
    const auto since = [&](Clock::time_point time) { return std::chrono::duration<double>(time - start).count(); };
    for (const LaunchTimes &launch : timed->device->launches)
      record.launches.push_back({launch.step, since(launch.begin), since(launch.end)});
    record.collectives = collectivesOf(*timed->player, start);
  }
  const auto middle = records.begin() + plays / 2;
  std::ranges::nth_element(records, middle, {}, &PlayRecord::total);
  return std::move(*middle);
}

} // namespace halftone
