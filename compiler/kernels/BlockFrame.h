// The target-independent state of an emitter: extents, indices and the storage of tensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/KernelSource.h"
#include "mlir/IR/IRMapping.h"

namespace halftone::compiler {

/// Storage of a tensor of the linalg form: memory, dense and row-major over the dims of the access, or an SSA value.
struct TensorStorage {
  Emitted pointer;    // null: `value`
  mlir::Type element; // the stored type
  Emitted value;      // a scalar, or a vector along the emitter's vector dim
  bool isRow = false; // memory of one row: outer dims are ignored
};

/// The target-independent part of a kernel's function. A target's frame derives from it, creates the function and calls
/// bind().
class BlockFrame : public CodeBuilder {
public:
  /// The product of the extents of `dims`.
  Emitted size(llvm::ArrayRef<int> dims);
  /// Sets `index` of each of `dims` from the row-major linear index `linear`.
  void delinearize(Emitted linear, llvm::ArrayRef<int> dims);
  /// Emits a loop nest over `dims`, the last innermost, and sets `index`. `body` maps the carried values to the next
  /// ones.
  Values loops(llvm::ArrayRef<int> dims, llvm::ArrayRef<Emitted> carried,
               llvm::function_ref<Values(const Values &)> body);
  /// The offset of `access` at the current index, in elements.
  Emitted offset(const TensorAccess &access);
  /// The neutral element, with which a reduction's output starts.
  Emitted initialOf(mlir::linalg::GenericOp generic, unsigned output) {
    return constant(source.initialOf(generic, output));
  }

  const KernelSource &source;
  int64_t dims = 0;
  Values extents;                                     // of dims, then block sizes, then lookup arguments
  Values index;                                       // of each dim, at the insertion point
  llvm::DenseMap<mlir::Value, TensorStorage> storage; // of operands and of values that are results
  mlir::IRMapping outside;                            // maps launch arguments and constants, used by generics

protected:
  explicit BlockFrame(const KernelSource &source);
  /// Binds the index arguments to their values, i64, and operands and results to the addresses of buffers 0, 1, ...
  void bind(Values extents, llvm::function_ref<Emitted(unsigned)> buffer);
};

} // namespace halftone::compiler
