// A plan under construction: steps over buffers whose memory is not assigned yet.
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

/// The memory of one tensor, or a slice of it. Buffers of feeds, variables, shadows, fetches and constants have their
/// own slot; the others start in the arena and may be placed in one of those.
struct Buffer {
  SlotKind kind = SlotKind::arena;
  TensorType type;
  int64_t index = 0; // as Slot::index; for the arena, set by packArena
  BufferId placedIn = -1;
  // For a slice: the buffer that contains it, which may be a slice too; and its location in that buffer, as in Slot.
  BufferId sliceOf = -1;
  int64_t offset = 0;
  std::vector<Stride> strides{};
  BufferId restOf = -1; // for the condition of an inner branch: the condition of the other branch, which excludes it
};

/// The condition under which a step runs: the value holds, or, if `negated`, does not. Conditions are compared by value
/// rather than by buffer: a buffer that is placed in a variable holds several values in turn.
struct BufferPredicate {
  BufferId value = -1; // the buffer of the condition before placement; unique to the value
  bool negated = false;
  bool operator==(const BufferPredicate &) const = default;
};

/// A launch, a collective, the wait for a collective, the start or the end of a repeat's body, or a copy (none of
/// these; from < 0 fills with zeros).
struct DraftStep {
  dialect::LaunchOp launch;
  dialect::CollectiveOpInterface collective;
  bool waits = false;
  std::optional<int64_t> repeats{}; // the count of a repeat that starts here; it runs under `predicate`
  bool endsRepeat = false;
  BufferId from = -1, to = -1;
  /// The operands and results of a launch or collective; from and to of a copy; for a wait, those of its collective.
  std::vector<BufferId> reads, writes;
  std::optional<BufferPredicate> predicate;
  bool joined = false; // part of the launch of the previous step

  static DraftStep copy(BufferId from, BufferId to) {
    DraftStep step;
    step.from = from;
    step.to = to;
    if (from >= 0)
      step.reads.push_back(from);
    step.writes.push_back(to);
    return step;
  }
};

struct PlanDraft {
  std::vector<Buffer> buffers;
  std::vector<DraftStep> steps;
  std::vector<std::string> constants;
  std::vector<Parameter> feeds, fetches;
  std::vector<VariableSlot> variables;
  std::vector<dialect::ShadowOp> shadows;
  std::vector<BufferId> shadowed; // the source of each shadow: a variable or an earlier shadow
  /// Buffers in the order of @main's results: first the fetches, then the new values of variables and shadows.
  std::vector<BufferId> fetched;
  std::vector<std::pair<BufferId, BufferId>> updates; // the buffer of a variable or shadow, and that of its new value

  BufferId add(SlotKind kind, TensorType type, int64_t index = 0) {
    buffers.push_back({.kind = kind, .type = std::move(type), .index = index});
    return static_cast<BufferId>(buffers.size()) - 1;
  }
  /// Adds a slice of `whole` that moves by `stride` in the innermost of `depth` repeats.
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
  /// Returns true if at most one of two steps runs, because their conditions are those of the two branches of a `when`.
  bool exclude(const DraftStep &a, const DraftStep &b) const;
  bool isSlice(BufferId id) const { return buffers[holderOf(id)].sliceOf >= 0; }
  /// Returns true if the buffer is not in the arena.
  bool isFixed(BufferId id) const { return buffers[holderOf(id)].kind != SlotKind::arena; }
  /// The buffer in which a buffer is finally placed; a slice is its own holder.
  BufferId holderOf(BufferId id) const {
    while (buffers[id].placedIn >= 0)
      id = buffers[id].placedIn;
    return id;
  }
  /// Like holderOf(), but for a slice returns the holder of the tensor that contains it.
  BufferId root(BufferId id) const {
    for (id = holderOf(id); buffers[id].sliceOf >= 0;)
      id = holderOf(buffers[id].sliceOf);
    return id;
  }
};

/// Returns the steps of @main in order, with `when` and loops flattened, without the copies that store variables and
/// fetches.
StatusOr<PlanDraft> flatten(mlir::ModuleOp module);

/// Returns true if a launch may write `fresh` over `old`: it reads `old` element by element, at the indices at which it
/// writes `fresh`.
bool worksInPlace(mlir::SymbolTable &symbols, const DraftStep &step, BufferId old, BufferId fresh);

/// Merges the two slots of each alternating carry into one, if no step of an iteration reads the old value after the
/// new one is written.
void placeCarriesInPlace(PlanDraft &draft, mlir::SymbolTable &symbols);

/// Places each new value of a variable or shadow in the slot of its old value if no step reads the old value once the
/// new one may have been written. Otherwise adds a copy after the last step.
void placeUpdates(PlanDraft &draft, mlir::SymbolTable &symbols);

/// Returns the value of which `value` is a reshape, or `value` itself; the two share a buffer.
mlir::Value reshapedFrom(mlir::Value value);

/// The internal error that assign-slots cannot translate a module.
Status cannotAssign(const llvm::Twine &message);
/// The type of the buffer of a value of type `type`: of packed values, that of their bytes. An error if `type` is not a
/// tensor of a DType.
StatusOr<TensorType> bufferType(mlir::Type type);
/// The bytes of a constant as the runtime stores them: row-major, bool one byte.
std::string bytesOf(mlir::DenseElementsAttr elements);

/// Returns the plan's step for a collective, without its slots.
CollectiveStep describe(mlir::Operation *collective);

/// Assigns an offset to each buffer that stays in the arena, by best fit over its live range from first to last use.
/// Returns the arena's size and the largest sum of live bytes.
struct ArenaSize {
  int64_t bytes = 0, largestLive = 0;
};
ArenaSize packArena(PlanDraft &draft);

} // namespace halftone::compiler
