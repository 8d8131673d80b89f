// Tiles of an attention kernel's operands in scratch, their products, and steps along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/AttentionDims.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/attention/TileProduct.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"
#include <optional>

namespace halftone::compiler {

/// `value` rounded up to whole vectors, and a vector more: so rows of any length begin in different sets of a cache.
template <class Number> Number paddedPitch(Number value, Number lanes) {
  return ceilDivide(value, lanes) * lanes + lanes;
}

/// The block sizes of the kernel.
struct AttentionTileSizes {
  Emitted queries, keys;
};

/// Tiles that are factors of products hold f32. If the form names an instruction, they hold pairs of bf16 instead:
/// neighbours along the depth of the product, the first in the lowest bits. The last pair of an odd depth ends in a 0. For
/// tdpbf16ps a depth is so many whole tiles of pairs, which end in zeros, and matrices have the rows of whole tiles.
class AttentionTiles {
public:
  explicit AttentionTiles(KernelFrame &frame);

  /// The next `rows` rows of scratch.
  ScratchMatrix take(Emitted rows, Emitted columns);
  /// The whole vectors that hold `columns` elements, in elements.
  Emitted padded(Emitted columns) const { return ceilDivide(columns, step) * step; }
  /// How many elements of a factor hold `depth` numbers.
  Emitted groups(Emitted depth) const;
  /// Rows of the tiles that hold `rows` rows of sums.
  Emitted wholeRows(Emitted rows) const { return usesTiles() ? padded(rows) : rows; }
  /// After the last product.
  void end();

  /// Where an operand's tile begins: `count` indices of dim `dim` from `first` on, of the factor `side` of
  /// `contraction`.
  struct Tile {
    mlir::linalg::GenericOp contraction;
    int side, dim;
    Emitted first, count;
  };
  // The tile as a factor. The operand's other index is along its innermost dim.
  /// A row for each index; depth is innermost.
  void copyRows(const Tile &tile, const ScratchMatrix &to);
  /// A row for each group of indices, which are the depth.
  void copyDepth(const Tile &tile, const ScratchMatrix &to);
  /// A row for each group along the innermost dim, which is the depth. Columns past the tile's end repeat its last
  /// index.
  void copyColumns(const Tile &tile, const ScratchMatrix &to);
  // `from`, `rows` rows of `columns` f32, as a factor: itself, or pairs in `to`.
  /// Columns are the depth.
  ScratchMatrix packRows(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to);
  /// Rows are the depth.
  ScratchMatrix packDepth(const ScratchMatrix &from, Emitted rows, Emitted columns, const ScratchMatrix &to);
  /// Whether a tile of pairs has a subnormal number; null if tiles hold f32.
  Emitted hasSubnormal(const ScratchMatrix &matrix, Emitted rows, Emitted columns) const;
  /// Whether a factor has no infinity and no NaN.
  Emitted isFinite(const ScratchMatrix &matrix, Emitted rows, Emitted columns) const;
  /// Makes the product. `widens`, which may be null, says whether its pairs may hold subnormal numbers.
  void multiply(const TileProductCall &call, Emitted widens);
  /// The factor a whose rows are the columns of `from`, in `to` if a product asks for neighbours of its rows side by side.
  MatrixPlace turned(const ScratchMatrix &from, Emitted rows, Emitted depth, const ScratchMatrix &to);

  Emitted address(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted load(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  Emitted loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  void store(Emitted vector, const ScratchMatrix &matrix, Emitted row, Emitted column) const;
  /// Stores `value` in all elements of `rows` rows.
  void fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const;

  /// The values of a generic's only output for a vector of queries from the frame's index on, where `given` are the
  /// values of the inputs that are not in memory.
  Emitted alongQueries(mlir::linalg::GenericOp generic, llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given) const;
  /// The same of one query along the dim `dim`, stored where the kernel's result is.
  void storeAlong(int dim, mlir::linalg::GenericOp generic,
                  llvm::function_ref<Emitted(mlir::Value, Emitted column)> given) const;
  /// The same of an element at the frame's index.
  void storeScalar(mlir::linalg::GenericOp generic, llvm::function_ref<Emitted(mlir::Value)> given) const;

  /// Whether `test` holds for one of the `count` queries from `first` on. It gets the column of a vector of them, and the
  /// lanes that are queries; the frame's index is that of the first.
  Emitted holdsForAny(Emitted first, Emitted count, llvm::function_ref<Emitted(Emitted, const Lanes &)> test) const;

  /// The exponential of a vector of numbers that are not above 0.
  Emitted expOfDistance(Emitted x) const;
  Emitted larger(Emitted a, Emitted b) const { return select(a > b, a, b); }
  Emitted splat(Emitted scalar) const { return frame.splat(scalar, frame.lanes); }
  /// Loops over vectors of `columns` elements.
  void forVectors(Emitted columns, llvm::function_ref<void(Emitted)> body) const {
    frame.loop(frame.constant(0), columns, step, body);
  }

  KernelFrame &frame;
  mlir::VectorType vector;
  Emitted step; // lanes of a vector
  bool pairs;
  /// Whether products are made by tiles.
  bool usesTiles() const { return frame.source.form.instruction == name(MatmulInstruction::tdpbf16ps); }

private:
  int innermostDim(const Tile &tile) const;
  /// Loops over the elements of a row along the innermost dim, with the lanes of each vector's numbers.
  void forInnermost(const Tile &tile, int64_t numbers, llvm::function_ref<void(Emitted, const Lanes &)> body);
  Emitted stored(const Tile &tile, const Lanes &lanes) const;
  Emitted factor(const Tile &tile, const Lanes &lanes) const;
  Emitted narrowed(Emitted numbers) const;
  Emitted interleaved(Emitted first, Emitted second) const;
  Emitted pairOf(Emitted row, Emitted count, llvm::function_ref<Emitted(Emitted)> numbers) const;

  TileProduct product;
  std::optional<TileProduct> widenedProduct;
  Emitted next;
};

/// Which of `count` runs of queries comes `number`th. With `causal` a later run has more keys; then the last run comes
/// first, the first one second, and so on, so that neighbouring blocks have as much work as others.
Emitted inFairOrder(const KernelFrame &frame, Emitted number, Emitted count);
/// a | b, where null stands for false; null if both are.
Emitted either(Emitted a, Emitted b);
/// Bytes of scratch of matrices that take() makes.
class AttentionScratch {
public:
  AttentionScratch(const KernelSource &source, const CpuTarget &target);
  void add(int64_t rows, int64_t columns);
  int64_t padded(int64_t columns) const { return (columns + lanes - 1) / lanes * lanes; }
  /// AttentionTiles::wholeRows.
  int64_t wholeRows(int64_t rows) const { return usesTiles ? padded(rows) : rows; }
  int64_t bytes = 0;
  bool pairs, usesTiles;

private:
  int64_t lanes;
};

/// How the code computes, for reports.
std::string attentionMethod(const KernelSource &source);

} // namespace halftone::compiler
