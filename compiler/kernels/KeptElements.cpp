// In-place loops that change few elements.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KeptElements.h"
#include "compiler/kernels/KernelForm.h"
#include "compiler/kernels/Lanes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr StringLiteral keepsName = "halftone.keeps";

/// The select that computes the only result, possibly before a truncation to the tensor's type; null if there is none.
static arith::SelectOp choiceOf(linalg::GenericOp generic) {
  if (generic.getNumDpsInits() != 1 || !GenericForm::read(generic).combiners[0].empty())
    return {};
  Value yielded = generic.getBody()->getTerminator()->getOperand(0);
  if (auto narrowed = yielded.getDefiningOp<arith::TruncFOp>())
    yielded = narrowed.getIn();
  return yielded.getDefiningOp<arith::SelectOp>();
}

/// The index of the input whose stored element at the result's index is `value`; -1 if there is none.
static int64_t oldInput(linalg::GenericOp generic, Value value) {
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    value = widened.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != generic.getBody() ||
      int64_t(argument.getArgNumber()) >= generic.getNumDpsInputs())
    return -1;
  OpOperand &input = generic->getOpOperand(argument.getArgNumber()), &init = *generic.getDpsInitOperand(0);
  const bool isSame = isa<BlockArgument>(input.get()) &&
                      generic.getMatchingIndexingMap(&input) == generic.getMatchingIndexingMap(&init) &&
                      getElementTypeOrSelf(input.get()) == getElementTypeOrSelf(init.get());
  return isSame ? int64_t(argument.getArgNumber()) : -1;
}

/// Returns true if `value` is uniform along the generic's last dim, and cheap.
static bool isOfRow(linalg::GenericOp generic, Value value) {
  constexpr size_t maxOps = 16;
  const unsigned last = generic.getNumLoops() - 1;
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t next = 0; next < open.size(); ++next) {
    Value each = open[next];
    if (open.size() > maxOps)
      return false;
    if (each.getParentBlock() != generic.getBody())
      continue;
    if (auto argument = dyn_cast<BlockArgument>(each)) {
      if (generic.getMatchingIndexingMap(&generic->getOpOperand(argument.getArgNumber())).isFunctionOfDim(last))
        return false;
      continue;
    }
    Operation *op = each.getDefiningOp();
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (isa<tensor::ExtractOp>(op) || (index && index.getDim() == last))
      return false;
    open.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

void markKept(linalg::GenericOp generic) {
  arith::SelectOp choice = choiceOf(generic);
  if (!choice || generic.getNumLoops() < 2 || !isOfRow(generic, choice.getCondition()))
    return;
  for (Value side : {choice.getFalseValue(), choice.getTrueValue()})
    if (const int64_t input = oldInput(generic, side); input >= 0) {
      choice->setAttr(keepsName, OpBuilder(choice).getDenseI64ArrayAttr({side == choice.getTrueValue(), input}));
      return;
    }
}

KeptElements::KeptElements(BlockFrame &frame, linalg::GenericOp generic) : frame(frame), generic(generic) {
  for (auto select : generic.getBody()->getOps<arith::SelectOp>())
    if (auto note = select->getAttrOfType<DenseI64ArrayAttr>(keepsName);
        note && note.size() == 2 && note[1] >= 0 && note[1] < generic.getNumDpsInputs())
      choice = select;
}

/// The attribute's entries: whether the condition selects the old element, and the input that holds it.
static ArrayRef<int64_t> noteOf(arith::SelectOp choice) {
  return choice->getAttrOfType<DenseI64ArrayAttr>(keepsName).asArrayRef();
}

Emitted KeptElements::isInPlace() const {
  linalg::GenericOp reader = generic;
  const auto addressOf = [&](Value tensor) {
    const Value pointer = frame.storage.lookup(tensor).pointer;
    return frame.wrap(LLVM::PtrToIntOp::create(frame, frame.getI64Type(), pointer));
  };
  return equal(addressOf(reader.getDpsInputs()[unsigned(noteOf(choice)[1])]), addressOf(reader.getResult(0)));
}

Emitted KeptElements::areNew() {
  IRMapping known = frame.outside;
  arith::SelectOp select = choice;
  const Emitted holds = valueAt(select.getCondition(), known);
  return noteOf(choice)[0] != 0 ? negated(holds) : holds;
}

/// Emits `value`, which the body computes from scalars, at the frame's index.
Emitted KeptElements::valueAt(Value value, IRMapping &known) {
  if (known.contains(value))
    return frame.wrap(known.lookup(value));
  Operation *op = value.getDefiningOp();
  Emitted result;
  if (value.getParentBlock() != generic.getBody()) {
    result = frame.wrap(frame.outside.lookupOrDefault(value));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand &input = generic->getOpOperand(argument.getArgNumber());
    result = loadLanes(frame, frame.storage.lookup(input.get()), frame.source.accessOf(generic, input), {});
  } else if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    result = frame.asLong(frame.index[size_t(dimsOf(generic)[index.getDim()])]);
  } else {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(valueAt(operand, known));
    // Indices are i64 here. `known` already has the operands.
    result = isa<arith::IndexCastOp>(op) ? operands[0] : frame.wrap(frame.clone(*op, known)->getResult(0));
  }
  known.map(value, result.value());
  return result;
}

} // namespace halftone::compiler
