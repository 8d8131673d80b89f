// Packed results of loop kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// A result that a matmul reads as its packed right operand: 16-bit elements in groups of two, 8-bit elements in groups
/// of four, or 4-bit elements in groups of eight, in panels of 16 columns. A block stages `stagedRows` rows of it in
/// scratch, row-major, and then moves them to the panels in whole cache lines of 64 bytes.
class PackedStore {
public:
  /// The store of a packed result, the `index`-th in scratch; nullopt for a row-major result. Fails with a diagnostic
  /// if the layout is not supported.
  static mlir::FailureOr<std::optional<PackedStore>> of(KernelFrame &frame, mlir::Value result, unsigned index);

  /// The address of the element in staged row `row` and the block's first column.
  Emitted staged(Emitted row) const;
  /// Moves the staged rows `rowBegin` to `rowEnd`, at most `stagedRows`, and columns `columnBegin` to `columnEnd`. Both
  /// ranges begin at cache lines.
  void move(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const;

private:
  PackedStore(KernelFrame &frame, mlir::Value result, const Panels &panels, unsigned index);
  void moveRowGroups(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const;
  void moveColumnGroups(Emitted rowBegin, Emitted columnBegin, Emitted columnEnd) const;

  KernelFrame &frame;
  Emitted pointer; // of the result
  mlir::Type element;
  Emitted scratch, pitch; // of the staged rows; elements between rows
  int64_t depth, group;   // the axis along which groups run, and their size
  bool halves;            // an element has four bits
};

} // namespace halftone::compiler
