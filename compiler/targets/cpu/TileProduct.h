// Products of small f32 matrices in scratch, by one function that a kernel calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// A matrix in memory: element [row][column] is `rowPitch` and `columnPitch` elements further for each row and column.
struct MatrixPlace {
  Emitted at, rowPitch, columnPitch;
};

/// c = a b, or c + a b. Neighbours of a row of b and of c lie together, and each row begins at a multiple of a vector;
/// `columns` are rounded up to whole vectors, so b and c have room for them.
struct TileProductCall {
  MatrixPlace a;
  Emitted b, bPitch, c, cPitch; // elements between rows
  Emitted rows, columns, depth;
  bool continues = false; // adds to c
};

/// Makes the function before the code that is being emitted. A row and a strip of columns are multiplied in registers, in
/// the order of depth.
class TileProduct {
public:
  TileProduct(KernelFrame &frame, llvm::StringRef name);
  void call(const TileProductCall &product);

private:
  void emitBody(CodeBuilder &code);
  void emitRows(CodeBuilder &code, Emitted column, int64_t vectors);
  void emitTile(CodeBuilder &code, Emitted row, Emitted column, int64_t rows, int64_t vectors);
  int64_t vectorAlignment() const { return frame.lanes * 4; } // bytes
  mlir::VectorType lanes(CodeBuilder &code) const { return mlir::VectorType::get(frame.lanes, code.getF32Type()); }

  KernelFrame &frame;
  mlir::func::FuncOp function;
  TileProductCall inside; // the function's arguments
  Emitted insideContinues;
};

} // namespace halftone::compiler
