// Plays a plan: an executable, its kernels' code, a device and variables, bound once.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "runtime/BeforePlay.h"
#include "runtime/Device.h"
#include "runtime/KernelLibrary.h"
#include "runtime/VariableStore.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone {
class ProcessGroup;
struct CollectiveTimes;

/// Variables by their symbols in the executable. May hold more variables than the executable needs.
using VariableBinding = std::map<std::string, VariableHandle>;

class Player {
public:
  /// Verifies the plan, finds every kernel, resolves every address and allocates the arena. The player keeps all
  /// arguments alive. value_error for a bad plan or a variable of another type, key_error for a missing kernel or
  /// variable. Each play() does the work of `beforePlay` (BeforePlay.h) after it has checked the feeds. The collectives of
  /// the plan are those of `group`; without one, of this process alone.
  /// With a group and a device that is no host, the device joins the group: errors are those of DeviceRuntime::join().
  static StatusOr<std::shared_ptr<Player>> bind(std::shared_ptr<const Executable> executable,
                                                std::shared_ptr<const KernelLibrary> kernels,
                                                std::shared_ptr<DeviceRuntime> device, const VariableBinding &variables,
                                                std::vector<BeforePlay> beforePlay = {},
                                                std::shared_ptr<ProcessGroup> group = nullptr);
  ~Player();

  /// Runs the plan once: takes feeds in the signature's order and makes fresh fetches in the signature's order. The
  /// player reads a feed in place if it is aligned to bufferAlignment, and copies it otherwise. Written variables get a
  /// new version.
  /// value_error before anything changes: it names the parameter, the expected type and the given one. runtime_error
  /// when another process fails or leaves during a collective; the variables that the plan writes are then undefined.
  /// Calls from several threads take turns; so do players that share a variable store. The turn begins before the values of
  /// `beforePlay` are put in place, so that a play computes with those of its own step.
  StatusOr<std::vector<Tensor>> play(std::span<const Tensor> feeds);

  const Executable &executable() const;
  const std::shared_ptr<DeviceRuntime> &device() const;
  /// A player of the same plan, by way of `device`, on copies of the variables; it calls no `beforePlay`. Its collectives are
  /// those of this process alone, or `together` with the others, which then make the same calls. device_error when there is
  /// no room.
  StatusOr<std::shared_ptr<Player>> onCopies(std::shared_ptr<DeviceRuntime> device, bool together = false) const;
  /// Of the last play, by the order of the plan's collectives. Waits while a play runs.
  std::vector<CollectiveTimes> collectiveTimes() const;

private:
  struct Impl;
  explicit Player(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace halftone
