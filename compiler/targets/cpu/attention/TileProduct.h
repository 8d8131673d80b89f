// Products of small matrices in scratch, by cores that all kernels of a target share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Core.h"
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

/// A kernel's calls of the core for products with one product instruction. The core accumulates some rows and a strip of
/// columns in registers, in the order of the depth. With AMX tiles, configureTiles() must precede the calls.
class TileProduct {
public:
  using Shapes = SumShapes (*)(const CpuTarget &target, const MatmulSizes &sizes);
  /// `widens`: uses ProductRow::multiplyWidened.
  TileProduct(KernelFrame &frame, const ProductRow &product, Shapes shapes, bool widens = false);
  void call(const TileProductCall &call);

private:
  KernelFrame &frame;
  Core core;
};

} // namespace halftone::compiler
