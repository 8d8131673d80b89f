// A plan: a list of launches, copies, collectives and repeats over numbered slots with known lifetimes. No branch, no callback; loops have a count.
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

/// How far a slot moves in a repeat: in iteration t, counted from 0, by `bytes` times t, or times (t + phase) % period
/// if there is a period.
struct Stride {
  int64_t bytes = 0, period = 0, phase = 0;
  /// In bytes.
  int64_t at(int64_t iteration) const { return (period ? (iteration + phase) % period : iteration) * bytes; }
  bool operator==(const Stride &) const = default;
};

/// The place of a tensor while a plan plays; or, with an offset or strides, of one slice of a tensor.
struct Slot {
  SlotKind kind = SlotKind::arena;
  TensorType type; // of the slice
  /// arena: byte offset in the plan's one arena, a multiple of bufferAlignment. feed, fetch: position in the signature.
  /// variable, shadow, constant: position in Executable's list of them.
  int64_t index = 0;
  int64_t offset = 0;            // of the slice, in bytes from the tensor's begin
  std::vector<Stride> strides{}; // in the repeats around a step, the outermost first; no more than there are repeats

  bool isSlice() const { return offset != 0 || !strides.empty(); }
  /// The offset of the slice in the first iteration of every repeat.
  int64_t start() const {
    return std::accumulate(strides.begin(), strides.end(), offset,
                           [](int64_t sum, const Stride &stride) { return sum + stride.at(0); });
  }
};
using SlotId = int32_t;

/// A step runs only if the byte in `slot` is non-zero (zero when `negated`). The player reads the byte when it reaches
/// the step.
struct Predicate {
  SlotId slot = -1;
  bool negated = false;
  bool operator==(const Predicate &) const = default;
};

struct LaunchStep {
  std::string kernel;           // key in Executable::kernels
  int64_t grid = 1;             // count of blocks
  std::vector<SlotId> buffers;  // slots of the operands, then of the results
  int64_t operandCount = 0;     // how many of `buffers` are operands
  std::vector<int64_t> extents; // the launch arguments, in the order of the kernel's description
  int64_t scratchBytes = 0;     // per thread, on a GPU per block
  std::optional<Predicate> predicate;
  /// Whether this is a further part of the launch before it: same kernel, same predicate. Blocks of all parts run in
  /// any order, so no part touches memory that another part writes. The player reads the predicate once, at the first
  /// part.
  bool joined = false;
  int32_t site = -1; // position in Executable::sites; -1 for none
  double cost = 0;   // estimated nanoseconds on one core; decides whether threads are worth waking
};

/// Copies the bytes of `from` to `to`, slots of one dtype and one count of elements. If `from` < 0, fills `to` with
/// zeros.
struct CopyStep {
  SlotId from = -1, to = -1;
  std::optional<Predicate> predicate;
};

/// sum, max: every process gets all results. scattered_sum: each gets its part of the sums. gather: each gets all parts.
enum class CollectiveKind : uint8_t { sum, max, scattered_sum, gather };

/// "all_reduce sum", "reduce_scatter".
std::string_view name(CollectiveKind kind);
/// Whether each process has a part of the values, by borders.
constexpr bool isDivided(CollectiveKind kind) { return kind >= CollectiveKind::scattered_sum; }

/// Begins to combine the values of `from` with those of the other processes; the results go to `to`, slot by slot. The
/// values travel while the steps behind this one run, until a WaitStep. No such step may write `from`, or touch `to`.
/// All processes have the same collectives in the same order.
struct CollectiveStep {
  CollectiveKind kind = CollectiveKind::sum;
  std::vector<SlotId> from{}, to{}; // pairs of one dtype
  /// Of scattered_sum and gather: of pair i, process r has the elements from borders[i][r] up to borders[i][r + 1]. This
  /// process is `rank`.
  std::vector<std::vector<int64_t>> borders{};
  int64_t rank = 0;
};

/// Waits for the oldest collective that still travels.
struct WaitStep {};

/// Plays the next `steps` steps `count` times, inner repeats and their steps counted among `steps`. With `running` it
/// ends before the first iteration in which the predicate does not hold. A device may look at that byte late, and play
/// up to `count` iterations: once the predicate does not hold, the body leaves it so and changes nothing that is read
/// behind the repeat.
struct RepeatStep {
  int64_t count = 0, steps = 0;
  std::optional<Predicate> running{};
};
/// How deep repeats nest at most.
inline constexpr size_t mostRepeats = 8;

using Step = std::variant<LaunchStep, CopyStep, CollectiveStep, WaitStep, RepeatStep>;

/// A slot that a step reads or writes.
struct TouchedSlot {
  SlotId slot = -1;
  bool isWritten = false;
};
/// Operands and predicates first, then results. Those of a repeat's body are left out.
std::vector<TouchedSlot> slotsOf(const Step &step);

struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  int64_t arenaBytes = 0;
  int64_t largestLiveBytes = 0; // the largest sum of live arena bytes at any step; arenaBytes is at least that

  /// The position behind the last step of a repeat's body.
  size_t bodyEnd(size_t repeat) const;
  /// How often each step plays, by the counts of the repeats around it. A repeat with `running` counts once, since
  /// nobody knows how often it plays.
  std::vector<int64_t> timesPlayed() const;
  /// How many launches a device gets: joined parts do not count.
  int64_t launches() const;
};

} // namespace halftone
