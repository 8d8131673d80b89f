// The attributes of a kernel's linalg form as structs: all code reads and writes them here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::compiler {

/// `halftone.panels`: how a packed operand or result lies in memory, a matrix whose axis `depth` a contraction sums
/// over, as #halftone.panels says.
struct Panels {
  int64_t depth = 0, columns = 0, group = 0;
};

/// The attributes of one operand or result.
struct TensorForm {
  std::optional<Panels> panels; // nullopt: row-major
  std::string partial;          // `halftone.partial`: the combiner of a side reduction, "" for other results
};

/// The attributes of the function, named `halftone.<field>`; docs/kernel-form.md has their meaning. `halftone.outer`
/// is always there; every other attribute is absent if its field has the default value.
struct KernelForm {
  std::string kind;     // the form's name
  bool strict = false;  // each op rounds to its dtype
  int64_t outer = 0;    // leading dims that are outer
  int64_t reduced = 0;  // reduction_loop, scan: dims after those that are reduced, or along which a scan adds
  int64_t numbers = 0;  // index arguments after the block sizes: extents and starts of axes that are looked up
  int64_t indices = 0;  // scatter: dims of the indices
  bool reverse = false; // scan: sums begin at the last index
  // matmul
  llvm::SmallVector<int64_t, 4> roles; // how many dims are batch, M, N, K
  std::string instruction;             // "": one multiply-add at a time
  bool fewRows = false;                // M is small
  bool evenDepth = false;              // K is even
  llvm::SmallVector<int64_t, 4> tile;  // rows and columns of a block's tile, if they are constants of the code
  llvm::SmallVector<int64_t, 4> steps; // of each dim: a power of two, at most 16, that divides its extent
  std::vector<TensorForm> operands, results;

  /// Reads the attributes of `function`, a linalg form. On failure a diagnostic says which one was expected.
  static mlir::FailureOr<KernelForm> read(mlir::func::FuncOp function);
  void write(mlir::func::FuncOp function) const;

  /// Block sizes among the index arguments: of rows and columns, or of rows alone.
  int64_t blockSizes() const;
  /// Index arguments of `function`: extents of dims, block sizes, numbers.
  static int64_t indexArguments(mlir::func::FuncOp function);
  /// Dims of `function`, whose form this is.
  int64_t dims(mlir::func::FuncOp function) const { return indexArguments(function) - blockSizes() - numbers; }
  /// The attributes of `value`, an operand of `function` or a value that it returns; those of neither are defaults.
  const TensorForm &of(mlir::func::FuncOp function, mlir::Value value) const;
};

/// The attributes of one linalg.generic.
struct GenericForm {
  llvm::SmallVector<int> dims;              // the kernel dims that its loops run over
  llvm::SmallVector<std::string> combiners; // of each output, "" for an elementwise one

  static GenericForm read(mlir::linalg::GenericOp generic);
  void write(mlir::linalg::GenericOp generic) const;
};

} // namespace halftone::compiler
