// Plays a plan: binds an executable, its kernel code, a device and variables once, then runs it.
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

/// Variables by their symbols in the executable. It may hold more variables than the executable needs.
using VariableBinding = std::map<std::string, VariableHandle>;

class Player {
public:
  /// Verifies the plan, finds every kernel, resolves every address and allocates the arena. The player keeps all
  /// arguments alive. value_error for an invalid plan or a variable of another type, key_error for a missing kernel or
  /// variable. Each play() does the work of `beforePlay` (BeforePlay.h) after checking the feeds. The plan's
  /// collectives run in `group`, or in this process alone if there is none. With a group, a non-host device joins the
  /// group; errors are those of DeviceRuntime::join().
  static StatusOr<std::shared_ptr<Player>> bind(std::shared_ptr<const Executable> executable,
                                                std::shared_ptr<const KernelLibrary> kernels,
                                                std::shared_ptr<DeviceRuntime> device, const VariableBinding &variables,
                                                std::vector<BeforePlay> beforePlay = {},
                                                std::shared_ptr<ProcessGroup> group = nullptr);
  ~Player();

  /// Runs the plan once. Takes feeds and returns fresh fetches, both in the signature's order. A feed aligned to
  /// bufferAlignment is read in place; any other feed is copied. Written variables get a new version. value_error,
  /// before anything changes, names the parameter, the expected type and the given type. runtime_error if another
  /// process fails or leaves during a collective; the variables that the plan writes are then undefined. Calls from
  /// several threads are serialized, and so are plays of players that share a variable store. The locks are acquired
  /// before the values of `beforePlay` are stored, so a play computes with the values of its own step.
  StatusOr<std::vector<Tensor>> play(std::span<const Tensor> feeds);

  const Executable &executable() const;
  const std::shared_ptr<DeviceRuntime> &device() const;
  /// A player of the same plan on `device`, with copies of the variables; it calls no `beforePlay`. Its collectives run
  /// in this process alone, or with `together` jointly with the other processes, which must then make the same calls.
  /// device_error if out of memory.
  StatusOr<std::shared_ptr<Player>> onCopies(std::shared_ptr<DeviceRuntime> device, bool together = false) const;
  /// Times of the last play, in the order of the plan's collectives. Waits for a running play.
  std::vector<CollectiveTimes> collectiveTimes() const;

private:
  struct Impl;
  explicit Player(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace halftone
