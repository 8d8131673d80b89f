// The function around a kernel's blocks: the ABI's arguments, extents, addresses of tensors, loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace halftone::compiler {

/// Where the elements of a tensor of the linalg form are: memory, dense and row-major over the dims of the access, or a
/// value at hand.
struct TensorHome {
  mlir::Value pointer; // null: `value`
  mlir::Type element;  // as stored
  mlir::Value value;   // a scalar, or a vector along the emitter's vector dim
  bool isRow = false;  // memory of one row: outer dims do not count
};

class KernelFrame {
public:
  /// Creates the function next to the source's and stands in its entry block. Index arithmetic is in i64.
  KernelFrame(const KernelSource &source, const CpuTarget &target, mlir::OpBuilder &builder);
  /// Ends the function and replaces the source's by it.
  void finish();

  mlir::Value constant(int64_t value);
  mlir::Value scalar(mlir::TypedAttr value);
  /// `scalar` in all lanes; itself for 0 lanes or when it is a vector.
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value divide(mlir::Value a, mlir::Value b); // unsigned
  mlir::Value rem(mlir::Value a, mlir::Value b);    // unsigned
  mlir::Value ceilDivide(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);

  /// Product of the extents of `dims`.
  mlir::Value size(llvm::ArrayRef<int> dims);
  /// Sets `index` of each of `dims` to its place in the row-major number `linear`.
  void delinearize(mlir::Value linear, llvm::ArrayRef<int> dims);

  /// A loop from `begin` to `end` by `step` that carries values; `body` gets its index and the values and returns the
  /// next.
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody = std::function<mlir::FailureOr<Values>(mlir::Value, mlir::ValueRange)>;
  mlir::FailureOr<Values> loop(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange carried,
                               const LoopBody &body);
  /// Loops over all of `dims`, setting `index`, the last innermost.
  mlir::FailureOr<Values> loops(llvm::ArrayRef<int> dims, mlir::ValueRange carried,
                                const std::function<mlir::FailureOr<Values>(mlir::ValueRange)> &body);

  /// The address `elements` elements after `pointer`.
  mlir::Value address(mlir::Value pointer, mlir::Type element, mlir::Value elements);
  /// Offset in elements of `access` at the present index.
  mlir::Value offset(const TensorAccess &access);

  /// The neutral element that a reduction's output starts from.
  mlir::Value initialOf(mlir::linalg::GenericOp generic, unsigned output) {
    return scalar(source.initialOf(generic, output));
  }

  const KernelSource &source;
  mlir::func::FuncOp code;
  const CpuTarget &target;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t dims = 0;
  mlir::Value blockBegin, blockEnd, scratch;
  llvm::SmallVector<mlir::Value> extents;        // of dims, then block sizes, then numbers
  llvm::SmallVector<mlir::Value> index;          // of each dim, at the present place of emission
  llvm::DenseMap<mlir::Value, TensorHome> homes; // of operands and of values that are results
  mlir::IRMapping outside;                       // index arguments and their casts, as i64
  int64_t lanes = 1;                             // of a vector: of f32, or of f64 when the kernel holds any

private:
  mlir::Value buffer(unsigned number);
};

} // namespace halftone::compiler
