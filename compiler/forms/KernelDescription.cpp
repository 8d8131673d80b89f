// The linalg form of a kernel, by its form.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/KernelDescription.h"
#include "compiler/forms/Forms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

FailureOr<KernelDescription> describeKernel(KernelOp kernel, const Target &target, bool strict) {
  kernel.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
  const KernelKind kind = kindOf(kernel.getBody().front());
  if (kernel.getKind() != kind)
    return kernel.emitOpError() << "of kind " << stringifyKernelKind(kernel.getKind()) << " holds the ops of a "
                                << stringifyKernelKind(kind);
  return formOf(kind).describe(kernel, target, strict);
}

} // namespace halftone::compiler
