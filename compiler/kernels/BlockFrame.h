// What emitters of all targets know of the kernel whose blocks they write: extents, indices, where tensors lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/KernelSource.h"
#include "mlir/IR/IRMapping.h"

namespace halftone::compiler {

/// Where the elements of a tensor of the linalg form are: memory, dense and row-major over the dims of the access, or a
/// value at hand.
struct TensorStorage {
  Emitted pointer;    // null: `value`
  mlir::Type element; // as stored
  Emitted value;      // a scalar, or a vector along the emitter's vector dim
  bool isRow = false; // memory of one row: outer dims do not count
};

/// The part of a kernel's function that no target changes. A target's frame derives from it: it makes the function and
/// calls bind().
class BlockFrame : public CodeBuilder {
public:
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
  int64_t dims = 0;
  Values extents;                                     // of dims, then block sizes, then lookup arguments
  Values index;                                       // of each dim, at the present place of emission
  llvm::DenseMap<mlir::Value, TensorStorage> storage; // of operands and of values that are results
  mlir::IRMapping outside;                            // of values around the generics: launch arguments, constants

protected:
  explicit BlockFrame(const KernelSource &source);
  /// Gives the index arguments their values, i64, and operands and results their addresses: of buffer 0, 1, ...
  void bind(Values extents, llvm::function_ref<Emitted(unsigned)> buffer);
};

} // namespace halftone::compiler
