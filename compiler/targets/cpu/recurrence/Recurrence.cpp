// Recurrence kernels: a block is a range of rows, and executes all steps.
// SPDX-License-Identifier: Apache-2.0
//
//   weights as factors, once for all blocks of a thread
//   for block: carries = the kernel's operands
//     for step: for generic in order:
//       a contraction: sums = rows * weights, all rows of the block together
//       else, for row: for lanes of columns: the generic's outputs, to scratch or to the step's position in memory
//       the addresses of next and current carries are swapped
//     the kernel's results = carries
#include "compiler/kernels/RecurrenceDims.h"
#include "compiler/targets/cpu/recurrence/RecurrenceProducts.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

class RecurrenceEmitter {
public:
  RecurrenceEmitter(KernelFrame &frame, const RecurrencePlan &plan)
      : frame(frame), plan(plan), matrices(frame), head(matrices.take(frame.constant(1), frame.constant(1))),
        rowsOfBlock(matrices, plan), products(matrices, head, rowsOfBlock) {}

  void emit() {
    products.packWeights();
    const Emitted blockRows = frame.extents[size_t(frame.dims)];
    frame.loop(frame.blockBegin, frame.blockEnd, frame.constant(1), [&](Emitted block) {
      const Emitted first = block * blockRows;
      rowsOfBlock.setRows(first, minimum(blockRows, frame.extents[rowDim] - first));
      emitBlock();
    });
  }

private:
  void emitBlock() {
    Values carried;
    for (auto [operand, result] : plan.carries) {
      const ScratchMatrix present = rowsOfBlock.matrix(RecurrenceMatrix::present, operand);
      const TensorAccess access = accessOf(cast<OpResult>(result));
      rowsOfBlock.copy(rowsOfBlock.inMemory(operand, access), {present.at, present.pitch, frame.getF32Type()}, access,
                       getElementTypeOrSelf(operand));
      carried.append({present.at, rowsOfBlock.matrix(RecurrenceMatrix::next, result).at});
    }
    const Emitted first = rowsOfBlock.lookupArgument(firstArgument),
                  stride = rowsOfBlock.lookupArgument(strideArgument);
    carried = frame.loop(frame.constant(0), frame.extents[stepDim], frame.constant(1), carried,
                         [&](Emitted step, const Values &now) {
                           frame.index[stepDim] = first + step * stride;
                           return emitStep(now);
                         });
    for (auto [number, carry] : llvm::enumerate(plan.carries)) {
      const auto [operand, result] = carry;
      const TensorAccess access = accessOf(cast<OpResult>(result));
      const Emitted pitch = rowsOfBlock.matrix(RecurrenceMatrix::present, operand).pitch;
      rowsOfBlock.copy({carried[2 * number], pitch, frame.getF32Type()}, rowsOfBlock.inMemory(result, access), access,
                       getElementTypeOrSelf(result));
    }
  }

  /// Takes the addresses of each carry's current and next value; returns those for the next step.
  Values emitStep(const Values &carried) {
    Values swapped;
    for (auto [number, carry] : llvm::enumerate(plan.carries)) {
      const Emitted present = carried[2 * number], next = carried[2 * number + 1];
      rowsOfBlock.setCarry(carry.first, present);
      rowsOfBlock.setCarry(carry.second, next);
      swapped.append({next, present});
    }
    for (linalg::GenericOp generic : frame.source.generics)
      if (isContraction(generic))
        products.multiply(generic);
      else
        compute(generic);
    return swapped;
  }

  TensorAccess accessOf(OpResult result) const {
    auto generic = cast<linalg::GenericOp>(result.getOwner());
    return frame.source.accessOf(generic, *generic.getDpsInitOperand(result.getResultNumber()));
  }

  /// Emits elementwise work on the block's rows.
  void compute(linalg::GenericOp generic) {
    SmallVector<std::pair<Value, RowsAddress>> tensors;
    const auto add = [&](Value tensor, const TensorAccess &access) {
      const bool isWhole = llvm::all_of(access.dims, [](int dim) { return dim >= recurrenceOuterDims; });
      if (!isWhole || tensor.getDefiningOp<tensor::ExtractSliceOp>()) // not a single row that all rows share
        tensors.emplace_back(tensor, rowsOfBlock.of(tensor, access));
    };
    for (OpOperand *input : generic.getDpsInputOperands())
      if (!generic.getMatchingBlockArgument(input).use_empty())
        add(input->get(), frame.source.accessOf(generic, *input));
    for (OpResult result : generic.getResults())
      add(result, accessOf(result));
    rowsOfBlock.forRows([&](Emitted row) {
      for (const auto &[tensor, address] : tensors)
        frame.storage[tensor] = {rowsOfBlock.row(address, row), getElementTypeOrSelf(tensor), {}, /*isRow=*/true};
      rowsOfBlock.forColumns(dimsOf(generic).back(), frame.lanes,
                             [&](Emitted, const Lanes &lanes) { storeOutputs(frame, generic, lanes); });
    });
  }

  KernelFrame &frame;
  const RecurrencePlan &plan;
  ScratchMatrices matrices;
  ScratchMatrix head;
  RecurrenceRows rowsOfBlock;
  RecurrenceProducts products;
};

} // namespace

FailureOr<std::string> emitRecurrence(KernelFrame &frame) {
  const FailureOr<RecurrencePlan> plan = RecurrencePlan::read(frame.source, frame.target);
  SmallVector<OpOperand *> weights;
  for (linalg::GenericOp contraction : llvm::make_filter_range(frame.source.generics, isContraction))
    weights.push_back(contraction.getDpsInputOperand(1));
  if (failed(plan) || failed(checkProduct(frame.source, frame.target, weights)))
    return failure();
  RecurrenceEmitter(frame, *plan).emit();
  return (frame.source.form.schedule.getStrategy() + ", carries of a block in scratch").str();
}

int64_t recurrenceScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const FailureOr<RecurrencePlan> plan = RecurrencePlan::read(source, target);
  return succeeded(plan) ? plan->scratchBytes(source, extents, target) : 0;
}

} // namespace halftone::compiler
