// Results of loop kernels that are stored as panels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// A result that a matmul reads as its packed right operand: 16-bit elements in groups of two or 8-bit ones in groups of
/// four, or elements of four bits in groups of eight, in panels of 16 columns. A block stages `stagedRows` rows of it in scratch, row-major, and then moves them to the panels in whole lines of 64
/// bytes.
class PackedStore {
public:
  /// For a packed result, staged at position `place` among those of the kernel; nullopt for a row-major one. Fails with
  /// a diagnostic when the layout is another one.
  static mlir::FailureOr<std::optional<PackedStore>> of(KernelFrame &frame, mlir::Value result, unsigned place);

  /// Where the element of the block's first column in staged row `row` is.
  Emitted staged(Emitted row) const;
  /// Moves the staged rows: `rowBegin` to `rowEnd`, at most `stagedRows`, columns `columnBegin` to `columnEnd`.
  /// Both begin where lines do.
  void move(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const;

private:
  PackedStore(KernelFrame &frame, mlir::Value result, const Panels &panels, unsigned place);
  void moveRowGroups(Emitted rowBegin, Emitted rowEnd, Emitted columnBegin, Emitted columnEnd) const;
  void moveColumnGroups(Emitted rowBegin, Emitted columnBegin, Emitted columnEnd) const;

  KernelFrame &frame;
  Emitted pointer; // of the result
  mlir::Type element;
  Emitted scratch, pitch; // of the staged rows; elements between two rows
  int64_t depth, group;   // the axis along which groups go, and their members
  bool halves;            // an element takes half a byte
};

} // namespace halftone::compiler
