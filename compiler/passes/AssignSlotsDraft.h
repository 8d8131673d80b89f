// The plan in the making: steps over buffers whose memory is not settled yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "runtime/plan/Executable.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::compiler {

using BufferId = int64_t;

/// One tensor's memory, or a slice of it. Buffers of feeds, variables, shadows, fetches and constants have a slot of their
/// own; the others start in the arena and may be placed in one of those.
struct Buffer {
  SlotKind kind = SlotKind::arena;
  TensorType type;
  int64_t index = 0; // as Slot::index; for the arena, set by packArena
  BufferId placedIn = -1;
  // Of a slice: the buffer that it is part of, which may be a slice; and where in it, as in Slot.
  BufferId sliceOf = -1;
  int64_t offset = 0;
  std::vector<Stride> strides{};
  BufferId restOf = -1; // of the condition of an inner branch: the condition of the branch beside it, which excludes it
};

/// That a condition holds, or does not when `negated`. Two conditions are one if they are one value: a buffer that is placed in
/// a variable holds several values in turn, and so decides different conditions.
struct BufferPredicate {
  BufferId value = -1; // the buffer of the condition before placement, unique to the value
  bool negated = false;
  bool operator==(const BufferPredicate &) const = default;
};

/// A launch, a collective, the wait for one, the begin or the end of a repeat's body, or a copy (none of these; from < 0
/// fills with zeros).
struct DraftStep {
  dialect::LaunchOp launch;
  dialect::CollectiveOpInterface collective;
  bool waits = false;
  std::optional<int64_t> repeats{}; // the count of a repeat that begins; `predicate` is what it runs under
  bool endsRepeat = false;
  BufferId from = -1, to = -1;
  /// Of a launch or collective: operands and results. Of a copy: from and to. Of a wait: those of its collective.
  std::vector<BufferId> reads, writes;
  std::optional<BufferPredicate> predicate;
  bool joined = false; // part of the launch before it
};

struct PlanDraft {
  std::vector<Buffer> buffers;
  std::vector<DraftStep> steps;
  std::vector<std::string> constants;
  std::vector<Parameter> feeds, fetches;
  std::vector<VariableSlot> variables;
  std::vector<dialect::ShadowOp> shadows;
  std::vector<BufferId> shadowed; // of each shadow's source: a variable or a shadow before it
  /// Buffers in the order of @main's results: first the fetches, then each variable's and shadow's new value.
  std::vector<BufferId> fetched;
  std::vector<std::pair<BufferId, BufferId>> updates; // the variable's or shadow's buffer, its new value's

  BufferId add(SlotKind kind, TensorType type, int64_t index = 0) {
    buffers.push_back({.kind = kind, .type = std::move(type), .index = index});
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  /// A slice of `whole`, which moves by `stride` in the innermost of `depth` repeats.
  BufferId addSlice(BufferId whole, TensorType type, int64_t offset, size_t depth = 0, Stride stride = {}) {
    const BufferId id = add(SlotKind::arena, std::move(type));
    buffers[id].sliceOf = whole;
    buffers[id].offset = offset;
    if (stride.bytes != 0) {
      buffers[id].strides.resize(depth);
      buffers[id].strides.back() = stride;
    }
    return id;
  }
  /// Whether at most one of two steps runs: their conditions are those of a branch and of the one beside it.
  bool exclude(const DraftStep &a, const DraftStep &b) const;
  bool isSlice(BufferId id) const { return buffers[place(id)].sliceOf >= 0; }
  /// Where a buffer lies in the end; a slice lies in itself.
  BufferId place(BufferId id) const {
    while (buffers[id].placedIn >= 0)
      id = buffers[id].placedIn;
    return id;
  }
  /// The same, but of a slice that of the tensor that it is part of.
  BufferId root(BufferId id) const {
    for (id = place(id); buffers[id].sliceOf >= 0;)
      id = place(buffers[id].sliceOf);
    return id;
  }
};

/// The steps of @main in order, `when` and loops flattened, without the copies that settle variables and fetches.
StatusOr<PlanDraft> flatten(mlir::ModuleOp module);

/// Whether a launch may make `fresh` where it finds `old`: it reads `old` element by element, as it writes `fresh`.
bool worksInPlace(mlir::SymbolTable &symbols, const DraftStep &step, BufferId old, BufferId fresh);

/// Gives carries that lie in two slots by turns one, if no step of an iteration reads the old value once the new one is there.
void placeCarriesInPlace(PlanDraft &draft, mlir::SymbolTable &symbols);

/// The value that `value` is a reshape of, or `value` itself: they have one buffer.
mlir::Value reshapedFrom(mlir::Value value);

/// The bytes of a constant as the runtime stores them: row-major, bool one byte.
std::string bytesOf(mlir::DenseElementsAttr elements);

/// The plan's step for a collective; its slots are still missing.
CollectiveStep describe(mlir::Operation *collective);

/// Gives each buffer that stays in the arena an offset, by best fit over its interval from first to last use; returns
/// the arena's size and the largest sum of live bytes.
struct ArenaSize {
  int64_t bytes = 0, largestLive = 0;
};
ArenaSize packArena(PlanDraft &draft);

} // namespace halftone::compiler
