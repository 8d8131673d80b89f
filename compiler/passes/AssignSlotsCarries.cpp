// Places carries of scans in one slot each, if a step can write the next value over the current one.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/passes/AssignSlotsDraft.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

bool worksInPlace(SymbolTable &symbols, const DraftStep &step, BufferId old, BufferId fresh) {
  if (!step.launch)
    return false;
  LaunchOp launch = step.launch;
  auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
  for (size_t operand = 0; operand < step.reads.size(); ++operand) {
    if (step.reads[operand] != old)
      continue;
    const Type type = launch.getOperand(operand).getType();
    for (size_t result = 0; result < step.writes.size(); ++result)
      if (step.writes[result] == fresh && launch.getOutputs()[result].getType() != type)
        return false;
    if (!kernel || !formOf(kernel.getKind()).readsInPlace(kernel, static_cast<int64_t>(operand)))
      return false;
  }
  return true;
}

namespace {

/// A carry that alternates between two slots: the slices that a step reads and writes, and the steps that touch them.
struct AlternatingCarry {
  BufferId readSlice = -1, writtenSlice = -1;
  SmallVector<BufferId> parts; // all slices, including those of the first and of the last value
  int64_t lastReader = -1, writer = -1, writers = 0;
  bool decides = false; // the value that a step reads is the condition of the writer
};

llvm::MapVector<BufferId, AlternatingCarry> alternatingCarries(const PlanDraft &draft) {
  llvm::MapVector<BufferId, AlternatingCarry> carries; // by the buffer of both slots
  for (size_t id = 0; id < draft.buffers.size(); ++id)
    if (const Buffer &buffer = draft.buffers[id]; !buffer.strides.empty() && buffer.strides.back().period == 2)
      (buffer.strides.back().phase == 0 ? carries[buffer.sliceOf].readSlice : carries[buffer.sliceOf].writtenSlice) =
          static_cast<BufferId>(id);
  for (size_t id = 0; id < draft.buffers.size(); ++id)
    if (auto carry = carries.find(draft.buffers[id].sliceOf); carry != carries.end())
      carry->second.parts.push_back(static_cast<BufferId>(id));
  // Calls `touch` with each carry of which the buffer is a part.
  const auto visit = [&](BufferId id, auto touch) {
    for (; id >= 0; id = draft.buffers[id].sliceOf)
      if (auto carry = carries.find(draft.buffers[id].sliceOf); carry != carries.end())
        touch(carry->second, id);
  };
  for (auto [index, step] : llvm::enumerate(draft.steps)) {
    const auto at = static_cast<int64_t>(index);
    const auto read = [&, at](AlternatingCarry &carry, BufferId id) {
      carry.lastReader = id == carry.readSlice ? at : carry.lastReader;
    };
    for (BufferId id : step.reads)
      visit(id, read);
    if (step.predicate)
      visit(step.predicate->value, read);
    for (BufferId id : step.writes)
      visit(id, [&, at](AlternatingCarry &carry, BufferId part) {
        if (part != carry.writtenSlice)
          return;
        ++carry.writers;
        carry.writer = at;
      });
  }
  for (auto &[pair, carry] : carries)
    if (carry.writer >= 0 && draft.steps[carry.writer].predicate)
      visit(draft.steps[carry.writer].predicate->value,
            [&, readSlice = carry.readSlice](AlternatingCarry &, BufferId id) { carry.decides |= id == readSlice; });
  return carries;
}

} // namespace

void placeCarriesInPlace(PlanDraft &draft, SymbolTable &symbols) {
  for (const auto &[pair, carry] : alternatingCarries(draft)) {
    if (carry.writers != 1 || carry.lastReader > carry.writer || carry.decides)
      continue;
    const DraftStep &writer = draft.steps[carry.writer];
    if (!llvm::is_contained(writer.writes, carry.writtenSlice) ||
        !worksInPlace(symbols, writer, carry.readSlice, carry.writtenSlice))
      continue;
    // If the writer reads only a part of the value, the whole value is not one of its operands.
    if (carry.lastReader == carry.writer && !llvm::is_contained(writer.reads, carry.readSlice))
      continue;
    draft.buffers[pair].type.shape = {1, draft.buffers[pair].type.shape[1]};
    for (BufferId part : carry.parts) {
      draft.buffers[part].offset = 0;
      draft.buffers[part].strides.clear();
    }
  }
}

} // namespace halftone::compiler
