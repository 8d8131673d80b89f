// Non-temporal stores, by LLVM's nontemporal stores and the x86 fence.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/x86/Streaming.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/plan/Abi.h"

namespace halftone::compiler {
using namespace mlir;

void streamLanes(KernelFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &access) {
  const Emitted pointer = frame.address(storage.pointer, storage.element, frame.offset(access));
  const int64_t bytes = cast<VectorType>(value.type()).getNumElements() * elementBytes(storage.element);
  LLVM::StoreOp::create(frame, value.value(), pointer.value(), unsigned(std::min(bytes, bufferAlignment)),
                        /*isVolatile=*/false, /*isNonTemporal=*/true);
}

void storeFence(KernelFrame &frame) {
  LLVM::CallIntrinsicOp::create(frame, frame.getStringAttr("llvm.x86.sse.sfence"), ValueRange());
}

} // namespace halftone::compiler
