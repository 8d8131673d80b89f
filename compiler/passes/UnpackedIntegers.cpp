// Integers that are unpacked by shifts, and their casts.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/UnpackedIntegers.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

bool isUnpacked(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ShrOp>(op);
}

void castUnpackedLast(func::FuncOp main) {
  SmallVector<CastOp> casts;
  main.walk([&](CastOp op) {
    if (isUnpacked(op.getX()))
      casts.push_back(op);
  });
  for (CastOp op : casts)
    while (op->hasOneUse()) {
      Operation *next = *op->user_begin();
      if (!isa<ReshapeOp, SliceOp>(next))
        break;
      OpBuilder builder(next);
      auto type = cast<RankedTensorType>(next->getResult(0).getType());
      Operation *earlier = builder.clone(*next);
      earlier->setOperand(0, op.getX());
      earlier->getResult(0).setType(RankedTensorType::get(type.getShape(), getElementTypeOrSelf(op.getX().getType())));
      op->moveAfter(earlier);
      op.getXMutable().assign(earlier->getResult(0));
      op.getResult().setType(type);
      next->getResult(0).replaceAllUsesWith(op.getResult());
      next->erase();
    }
}

} // namespace halftone::compiler
