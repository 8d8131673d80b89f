// A list of operations that is played repeatedly, including its repeats.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/LoopByte.h"
#include "runtime/devices/cuda/WorkList.h"
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace halftone::cuda {

/// An operation list, divided into sections. The caller of each member holds a GpuLock.
class OperationList {
public:
  /// A repeat with more launches is queued launch by launch in each play.
  static constexpr int64_t maxWorks = 65536;
  /// A repeat of at most this many iterations is played whole, without reading its condition on the host. A longer one
  /// that may end early plays in rounds, each with twice as many iterations as the one before and at most this many,
  /// and the host reads the condition one round late.
  static constexpr int64_t maxUnchecked = 64;
  /// The iterations of the first round if their work is kept; otherwise that round has one iteration.
  static constexpr int64_t roundIterations = 16;

  OperationList(std::shared_ptr<Gpu> gpu, std::shared_ptr<Modules> modules, std::span<const QueuedOperation> operations)
      : gpu_(std::move(gpu)), modules_(std::move(modules)), operations_(operations) {}
  /// `changed` as DeviceQueue::play(); the first play reads all operations.
  Status play(std::span<const size_t> changed);

private:
  /// once: all work is kept, for a repeat the work of each iteration. rounds: a repeat that may end early; the work of
  /// `roundIterations` iterations is kept. unkept: a repeat whose operations are read in each play.
  enum class Kind : uint8_t { once, rounds, unkept };
  struct Section {
    Kind kind;
    size_t begin, end;          // positions of operations
    WorkList works;             // in execution order
    std::vector<size_t> counts; // per work item, the number of operations merged into it
  };

  void cut();
  Status bind();
  Status playSection(Section &section, bool asGraphs);
  Status playUnkept(const Section &section);
  Status readAgain(Section &section, std::span<const size_t> changed);
  StatusOr<Work> workAt(size_t position, size_t count) const;
  bool isParted(std::span<const size_t> changed) const;
  size_t takenAt(const Section &section, size_t position, size_t work) const;

  template <class Play> Status playRounds(size_t position, int64_t limit, const Play &play);
  /// Calls visit(position, most) for each operation in [begin, end), once per iteration and with the addresses of that
  /// iteration. `visit` returns the number of operations that it has consumed, at most `limit`.
  template <class Visit> Status walk(size_t begin, size_t end, bool isInRepeat, const Visit &visit);
  template <class Visit> Status walkRepeat(size_t position, int64_t count, const Visit &visit);
  template <class Visit> Status walk(const Section &section, const Visit &visit);

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<Modules> modules_;
  const std::span<const QueuedOperation> operations_;
  std::vector<Section> sections_;    // none before the first play
  std::map<size_t, LoopByte> bytes_; // of repeats that may end early, by their positions
};

} // namespace halftone::cuda
