// The function around a kernel's blocks: the ABI's arguments, extents, addresses of tensors, loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/KernelSource.h"
#include "compiler/targets/cpu/CpuTarget.h"
#include "mlir/IR/IRMapping.h"

namespace halftone::compiler {

/// Where the elements of a tensor of the linalg form are: memory, dense and row-major over the dims of the access, or a
/// value at hand.
struct TensorHome {
  Emitted pointer;    // null: `value`
  mlir::Type element; // as stored
  Emitted value;      // a scalar, or a vector along the emitter's vector dim
  bool isRow = false; // memory of one row: outer dims do not count
};

class KernelFrame : public CodeBuilder {
public:
  /// Creates the function next to the source's and stands in its entry block.
  KernelFrame(const KernelSource &source, const CpuTarget &target);
  /// Erases the function, unless finish() replaced the source's by it.
  ~KernelFrame();
  void finish();

  /// Product of the extents of `dims`.
  Emitted size(llvm::ArrayRef<int> dims);
  /// Sets `index` of each of `dims` to its index in the row-major linear index `linear`.
  void delinearize(Emitted linear, llvm::ArrayRef<int> dims);
  /// Loops over all of `dims`, setting `index`, the last innermost; `body` gets the carried values and returns the next.
  Values loops(llvm::ArrayRef<int> dims, llvm::ArrayRef<Emitted> carried,
               llvm::function_ref<Values(const Values &)> body);
  /// Offset in elements of `access` at the present index.
  Emitted offset(const TensorAccess &access);
  /// The neutral element that a reduction's output starts from.
  Emitted initialOf(mlir::linalg::GenericOp generic, unsigned output) {
    return constant(source.initialOf(generic, output));
  }

  const KernelSource &source;
  const CpuTarget &target;
  mlir::func::FuncOp code;
  int64_t dims = 0;
  Emitted blockBegin, blockEnd, scratch;
  Values extents;                                // of dims, then block sizes, then lookup arguments
  Values index;                                  // of each dim, at the present place of emission
  llvm::DenseMap<mlir::Value, TensorHome> homes; // of operands and of values that are results
  mlir::IRMapping outside;                       // of values around the generics: launch arguments as i64, constants
  int64_t lanes = 1;                             // of a vector: of f32, or of f64 when the kernel holds any

private:
  Emitted buffer(unsigned position);
};

} // namespace halftone::compiler
