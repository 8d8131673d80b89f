// Products of small matrices in scratch, as functions that a kernel calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"
#include "compiler/targets/cpu/matmul/MatmulSizes.h"

namespace halftone::compiler {

/// A matrix in memory: `rowPitch` and `columnPitch` are the distances between rows and between columns, in elements.
struct MatrixAddress {
  Emitted at, rowPitch, columnPitch;
};

/// A matrix of 32-bit elements in scratch. Every row is aligned to a vector. In panels, runs of `panelColumns` columns
/// are `panelPitch` elements apart, and `pitch` is the distance between rows within a panel.
struct ScratchMatrix {
  Emitted at, pitch;
  int64_t panelColumns = 0; // 0: no panels
  Emitted panelPitch = {};
};

/// A shape of the accumulators in registers: the number of vectors of columns, and the possible numbers of rows,
/// descending, the last 1.
struct SumShape {
  int64_t vectors;
  llvm::SmallVector<int64_t, 4> rows;
};
using SumShapes = llvm::SmallVector<SumShape, 3>; // the widest first, the last has one vector
/// The shapes for tiles of many rows.
SumShapes shapesOfManyRows(const CpuTarget &target, const MatmulSizes &sizes);
/// The shapes for eight rows or a multiple.
SumShapes shapesOfEights(const CpuTarget &target, const MatmulSizes &sizes);

/// c = a b, or c + a b, in f32. An element of a and b is an f32, or a pair of bf16 that are neighbours along the depth.
/// Rows of b and c are contiguous and each is aligned to a vector; `columns` is rounded up to whole vectors, so b and c
/// must have room for them. With AMX tiles, rows of a are contiguous too; rows and depth are rounded up to whole tiles,
/// so there must be room for these rows, and both factors must be 0 beyond the depth.
struct TileProductCall {
  MatrixAddress a;
  ScratchMatrix b, c;
  Emitted rows, columns, depth;
  bool continues = false; // adds to c
};

/// Emits the function before the code that is being emitted. Some rows and a strip of columns are multiplied in
/// registers, in the order of the depth. With AMX tiles, configureTiles() must precede the calls.
class TileProduct {
public:
  using Shapes = SumShapes (*)(const CpuTarget &target, const MatmulSizes &sizes);
  /// `widens`: uses ProductRow::multiplyWidened.
  TileProduct(KernelFrame &frame, llvm::StringRef name, const ProductRow &product, Shapes shapes, bool widens = false);
  void call(const TileProductCall &call);

private:
  void emitBody(CodeBuilder &code);
  void emitRows(CodeBuilder &code, Emitted column, const SumShape &shape);
  void emitSquares(CodeBuilder &code);
  void emitSquare(CodeBuilder &code, Emitted row, int64_t down, Emitted column, int64_t across);
  void emitTile(CodeBuilder &code, Emitted row, Emitted column, int64_t rows, int64_t vectors);
  int64_t vectorAlignment() const { return frame.lanes * 4; } // bytes
  mlir::VectorType lanes(mlir::Type element) const { return mlir::VectorType::get(frame.lanes, element); }
  Emitted multiplyAdd(CodeBuilder &code, Emitted a, Emitted b, Emitted sum) const;

  KernelFrame &frame;
  const ProductRow &product;
  bool widens;
  SumShapes shapes;
  mlir::func::FuncOp function;
  TileProductCall inside; // the function's arguments
  Emitted insideContinues;
};

} // namespace halftone::compiler
