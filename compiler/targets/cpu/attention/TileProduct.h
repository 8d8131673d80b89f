// Products of small matrices in scratch, by functions that a kernel calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include "compiler/targets/cpu/matmul/MatmulSizes.h"

namespace halftone::compiler {

/// A matrix in memory: element [row][column] is `rowPitch` and `columnPitch` elements further for each row and column.
struct MatrixPlace {
  Emitted at, rowPitch, columnPitch;
};

/// A matrix of 32-bit elements in scratch; every row begins at a multiple of a vector.
struct ScratchMatrix {
  Emitted at, pitch;
};

/// c = a b, or c + a b, in f32. An element of a and b is an f32, or a pair of bf16 that are neighbours along depth.
/// Neighbours of a row of b and of c lie together, and each row begins at a multiple of a vector; `columns` are rounded
/// up to whole vectors, so b and c have room for them. By tiles, neighbours of a row of a lie together too; rows, and
/// depth, are rounded up to whole tiles, so there is room for these rows, and both factors are 0 beyond depth.
struct TileProductCall {
  MatrixPlace a;
  ScratchMatrix b, c;
  Emitted rows, columns, depth;
  bool continues = false; // adds to c
};

/// Makes the function before the code that is being emitted. Some rows and a strip of columns are multiplied in registers,
/// in the order of depth. For tiles, configureTiles() comes before the calls.
class TileProduct {
public:
  /// `widens`: by ProductRow::multiplyWidened.
  TileProduct(KernelFrame &frame, llvm::StringRef name, const ProductRow &product, bool widens = false);
  void call(const TileProductCall &call);

private:
  void emitBody(CodeBuilder &code);
  llvm::ArrayRef<int64_t> rowsBeside(int64_t vectors) const;
  void emitRows(CodeBuilder &code, Emitted column, int64_t vectors);
  void emitSquares(CodeBuilder &code);
  void emitSquare(CodeBuilder &code, Emitted row, int64_t down, Emitted column, int64_t across);
  void emitTile(CodeBuilder &code, Emitted row, Emitted column, int64_t rows, int64_t vectors);
  int64_t vectorAlignment() const { return frame.lanes * 4; } // bytes
  mlir::VectorType lanes(mlir::Type element) const { return mlir::VectorType::get(frame.lanes, element); }
  Emitted multiplyAdd(CodeBuilder &code, Emitted a, Emitted b, Emitted sum) const;

  KernelFrame &frame;
  const ProductRow &product;
  bool widens;
  MatmulSizes sizes;
  mlir::func::FuncOp function;
  TileProductCall inside; // the function's arguments
  Emitted insideContinues;
};

} // namespace halftone::compiler
