// A plan: launches, copies, collectives and counted repeats over numbered slots of known lifetime; no branch, no callback.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Signature.h"
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halftone {

enum class SlotKind : uint8_t { arena, variable, shadow, feed, fetch, constant };

/// The displacement of a slot in a repeat: `bytes` times t in iteration t, counted from 0, or `bytes` times (t + phase)
/// % period if there is a period.
struct Stride {
  int64_t bytes = 0, period = 0, phase = 0;
  /// Returns the displacement in this iteration, in bytes.
  int64_t at(int64_t iteration) const { return (period ? (iteration + phase) % period : iteration) * bytes; }
  bool operator==(const Stride &) const = default;
};

/// The memory location of a tensor while a plan plays or, with an offset or strides, of one slice of a tensor.
struct Slot {
  SlotKind kind = SlotKind::arena;
  TensorType type; // of the slice
  /// arena: byte offset in the plan's arena, a multiple of bufferAlignment. feed, fetch: index in the signature.
  /// variable, shadow, constant: index in the respective list of Executable.
  int64_t index = 0;
  int64_t offset = 0;            // of the slice, in bytes from the start of the tensor
  std::vector<Stride> strides{}; // one per enclosing repeat of a step, outermost first; no more than there are repeats

  bool isSlice() const { return offset != 0 || !strides.empty(); }
  /// The offset of the slice in the first iteration of every repeat.
  int64_t start() const {
    return std::accumulate(strides.begin(), strides.end(), offset,
                           [](int64_t sum, const Stride &stride) { return sum + stride.at(0); });
  }
};
using SlotId = int32_t;

/// The predicate of a step. The step runs only if the byte in `slot` is non-zero (zero when `negated`). The player
/// reads the byte when it reaches the step.
struct Predicate {
  SlotId slot = -1;
  bool negated = false;
  bool operator==(const Predicate &) const = default;
};

struct LaunchStep {
  std::string kernel;           // key in Executable::kernels
  int64_t grid = 1;             // number of blocks
  std::vector<SlotId> buffers;  // slots of the operands, then of the results
  int64_t operandCount = 0;     // number of operands among `buffers`
  std::vector<int64_t> extents; // the launch arguments, in the order of the kernel's description
  int64_t scratchBytes = 0;     // per thread; per block on a GPU
  std::optional<Predicate> predicate;
  /// True if this is another part of the preceding launch, with the same kernel and predicate. Blocks of all parts may
  /// run in any order, so no part accesses memory that another part writes. The player reads the predicate once, at the
  /// first part.
  bool joined = false;
  int32_t site = -1; // index in Executable::sites; -1 for none
  double cost = 0;   // estimated nanoseconds on one core; determines whether threads are worth waking
};

/// Copies the bytes of `from` to `to`, slots of the same dtype and element count. If `from` < 0, fills `to` with zeros.
struct CopyStep {
  SlotId from = -1, to = -1;
  std::optional<Predicate> predicate;
};

/// sum, max: every process receives all results. scattered_sum: each process receives its part of the sums. gather:
/// every process receives all parts.
enum class CollectiveKind : uint8_t { sum, max, scattered_sum, gather };

/// Returns the name in printed plans, such as "all_reduce sum" or "reduce_scatter".
std::string_view name(CollectiveKind kind);
/// Returns true if each process owns a part of the values, given by `offsets`.
constexpr bool isDivided(CollectiveKind kind) { return kind >= CollectiveKind::scattered_sum; }

/// Starts an asynchronous collective from `from` into `to`, slot by slot. It completes at its WaitStep; until then no
/// step may write `from` or access `to`. All processes have the same collectives in the same order.
struct CollectiveStep {
  CollectiveKind kind = CollectiveKind::sum;
  std::vector<SlotId> from{}, to{}; // pairs of the same dtype
  /// For scattered_sum and gather: rank r owns elements [offsets[i][r], offsets[i][r + 1]) of pair i. This process is
  /// `rank`.
  std::vector<std::vector<int64_t>> offsets{};
  int64_t rank = 0;
};

/// Waits for the oldest collective in flight.
struct WaitStep {};

/// Plays the next `steps` steps `count` times; `steps` includes inner repeats and their steps. With `running`, the
/// repeat ends before the first iteration in which the predicate does not hold. A device may read that byte late and
/// play up to `count` iterations: once the predicate does not hold, the body must keep it so and must change nothing
/// that is read after the repeat.
struct RepeatStep {
  int64_t count = 0, steps = 0;
  std::optional<Predicate> running{};
};
/// The maximum nesting depth of repeats.
inline constexpr size_t maxRepeats = 8;

using Step = std::variant<LaunchStep, CopyStep, CollectiveStep, WaitStep, RepeatStep>;

/// A slot that a step accesses.
struct TouchedSlot {
  SlotId slot = -1;
  bool isWritten = false;
};
/// The slots of a step: operands and predicates first, then results. Excludes those of a repeat's body.
std::vector<TouchedSlot> slotsOf(const Step &step);

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  int64_t arenaBytes = 0;
  int64_t largestLiveBytes = 0; // the maximum of live arena bytes over all steps; arenaBytes is at least this

  /// The index one past the last step of a repeat's body.
  size_t bodyEnd(size_t repeat) const;
  /// The number of times that each step plays, from the counts of the enclosing repeats. A repeat with `running` counts
  /// once, since its iteration count is unknown.
  std::vector<int64_t> timesPlayed() const;
  /// The number of launches that a device gets; joined parts do not count.
  int64_t launches() const;
};

} // namespace halftone
