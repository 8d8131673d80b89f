// The NVVM op of each thread operation.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/NvptxOps.h"
#include "compiler/targets/nvptx/PtxRounding.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace halftone::compiler {
using namespace mlir;

Emitted NvptxOps::blockIndex(CodeBuilder &builder) const {
  return builder.wrap(NVVM::BlockIdXOp::create(builder, builder.getI32Type()));
}

Emitted NvptxOps::threadIndex(CodeBuilder &builder) const {
  return builder.wrap(NVVM::ThreadIdXOp::create(builder, builder.getI32Type()));
}

void NvptxOps::barrier(CodeBuilder &builder) const { NVVM::BarrierOp::create(builder); }

Emitted NvptxOps::shuffle(CodeBuilder &builder, Shuffle kind, Emitted value, Emitted lane) const {
  const Emitted all = builder.constant(builder.getI32IntegerAttr(-1)),
                clamp = builder.constant(builder.getI32IntegerAttr(warpLanes - 1));
  const NVVM::ShflKind shuffle = kind == Shuffle::down ? NVVM::ShflKind::down : NVVM::ShflKind::idx;
  return builder.wrap(NVVM::ShflOp::create(builder, value.type(), all.value(), value.value(), lane.value(),
                                           clamp.value(), shuffle, UnitAttr()));
}

Emitted NvptxOps::ballot(CodeBuilder &builder, Emitted condition) const {
  const Emitted all = builder.constant(builder.getI32IntegerAttr(-1));
  return builder.wrap(NVVM::VoteSyncOp::create(builder, builder.getI32Type(), all.value(), condition.value(),
                                               NVVM::VoteSyncKind::ballot));
}

void NvptxOps::markEntry(LLVM::LLVMFuncOp entry, int64_t threads, Numerics numerics) const {
  Builder builder(entry.getContext());
  entry->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  entry->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr({int32_t(threads)}));
  // Allows the assembler all registers that one block may use. Otherwise it spills values to the stack so that more
  // blocks fit on a multiprocessor.
  entry->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  if (numerics.roundsEachOp())
    entry.setPassthroughAttr(builder.getStrArrayAttr({StringRef(strictFunction)}));
}

} // namespace halftone::compiler
