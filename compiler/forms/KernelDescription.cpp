// The linalg form of a kernel, built by its form.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/KernelDescription.h"
#include "compiler/forms/Forms.h"
#include "compiler/kernels/KernelForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

bool fitShortIndices(ArrayRef<int64_t> counts) {
  constexpr int64_t limit = int64_t(1) << 30; // the last step of a loop may end past its range
  int64_t product = 1;
  for (const int64_t count : counts) {
    if (count > limit / std::max<int64_t>(product, 1))
      return false;
    product *= count;
  }
  return true;
}

/// Returns true if i32 holds all indices and offsets of the kernel.
static bool fitShortIndices(KernelOp kernel, func::FuncOp function, const KernelForm &form, ArrayRef<int64_t> extents) {
  const auto fits = [](Type type) { return fitShortIndices(cast<RankedTensorType>(type).getShape()); };
  const auto blocks = extents.drop_front(size_t(form.dims(function))).take_front(size_t(form.blockSizes()));
  return llvm::all_of(kernel.getBody().getArgumentTypes(), fits) &&
         llvm::all_of(kernel.getBody().front().getTerminator()->getOperandTypes(), fits) &&
         llvm::all_of(traitsOf(form.kind).linearGroups(function, form),
                      [&](ArrayRef<int> dims) {
                        return fitShortIndices(
                            llvm::map_to_vector(dims, [&](int dim) { return extents[size_t(dim)]; }));
                      }) &&
         llvm::all_of(blocks, [](int64_t size) { return fitShortIndices(size); });
}

FailureOr<KernelDescription> describeKernel(KernelOp kernel, const Target &target, Numerics numerics) {
  kernel.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
  const KernelKind kind = kindOf(kernel.getBody().front());
  if (kernel.getKind() != kind)
    return kernel.emitOpError() << "of kind " << stringifyKernelKind(kernel.getKind())
                                << " contains the ops of a kernel of kind " << stringifyKernelKind(kind);
  FailureOr<KernelDescription> description = formOf(kind).describe(kernel, target, numerics);
  if (failed(description) || !target.shortIndices)
    return description;
  func::FuncOp function = *description->module->getOps<func::FuncOp>().begin();
  FailureOr<KernelForm> form = KernelForm::read(function);
  if (failed(form))
    return failure();
  form->shortIndices = fitShortIndices(kernel, function, *form, description->extents);
  form->write(function);
  return description;
}

} // namespace halftone::compiler
