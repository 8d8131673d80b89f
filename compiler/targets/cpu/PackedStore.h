// Results of loop kernels that are stored as panels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// A result that a matmul reads as its packed right operand: 16-bit elements in groups of two, panels of 16 columns. A
/// block stages `stagedRows` rows of it in scratch, row-major, and then moves them to their places in whole lines of 64
/// bytes.
class PackedStore {
public:
  /// For a packed result, staged as number `place` of those of the kernel; nullopt for a row-major one. Fails with a
  /// diagnostic when the layout is another one.
  static mlir::FailureOr<std::optional<PackedStore>> of(KernelFrame &frame, mlir::Value result, unsigned place);

  /// Where the element of the block's first column in staged row `row` is.
  mlir::Value staged(mlir::Value row) const;
  /// Moves the staged rows: `rowBegin` to `rowEnd`, at most `stagedRows`, columns `columnBegin` to `columnEnd`.
  /// Both begin where lines do.
  void move(mlir::Value rowBegin, mlir::Value rowEnd, mlir::Value columnBegin, mlir::Value columnEnd) const;

private:
  PackedStore(KernelFrame &frame, mlir::Value result, const Panels &panels, unsigned place);
  void moveRowPairs(mlir::Value rowBegin, mlir::Value rowEnd, mlir::Value columnBegin, mlir::Value columnEnd) const;
  void moveColumnPairs(mlir::Value rowBegin, mlir::Value columnBegin, mlir::Value columnEnd) const;
  void loop(mlir::Value begin, mlir::Value end, int64_t step, llvm::function_ref<void(mlir::Value)> body) const;

  KernelFrame &frame;
  mlir::Value pointer;        // of the result
  mlir::Value scratch, pitch; // of the staged rows; elements between two rows
  int64_t depth;              // the axis along which pairs go
};

} // namespace halftone::compiler
