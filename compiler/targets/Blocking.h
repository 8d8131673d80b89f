// The partition of kernels into blocks: a function of extents, numerics and target, never of threads or machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/KernelTraits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// The rows and columns of one block of a loop kernel.
struct LoopBlocks {
  int64_t rows = 1, columns = 1;
};

/// The space of a loop kernel: `rows` x `columns` elements. Each costs as much as `weight` elements of a kernel without
/// a reduction; in a reduction loop, `weight` is the number of values reduced per element.
struct LoopSpace {
  int64_t rows = 1, columns = 1, weight = 1;
  bool transposes = false; // an operand's last axis is not the last axis of the space
  bool packs = false;      // a result is packed in panels
  bool sharesRows = false; // in a reduction loop: rows come after the reduced axes, and many share operands
  bool groups = false;     // in a reduction loop: lanes run along groups (GroupedTraits)
};

/// The blocking rules of one target.
class Blocking {
public:
  virtual ~Blocking() = default;

  virtual MatmulTile matmulTile(const MatmulTraits &traits) const = 0;
  /// The number of equal parts into which K of a product is split; a separate kernel adds the partial sums. A divisor
  /// of K; 1 if the tiles of the whole product give enough blocks. Depends only on the extents.
  virtual int64_t depthParts(const MatmulTraits &traits) const = 0;
  /// The tile of an attention kernel; nullopt if the target has no code for it, or if two products with a softmax
  /// between them are as fast.
  virtual std::optional<AttentionTile> attentionTile(const AttentionTraits & /*traits*/) const { return std::nullopt; }
  /// The rows per block of a recurrence kernel; nullopt if separate launches for each step are as fast, or if the
  /// target has no code for it.
  virtual std::optional<int64_t> recurrenceRows(const RecurrenceTraits & /*traits*/) const { return std::nullopt; }
  virtual LoopBlocks loopBlocks(const LoopSpace &space) const = 0;
  /// The rows per block of a row kernel.
  virtual int64_t rowBlock(int64_t rows, int64_t columns) const = 0;
  /// The rows per block of a scatter kernel that adds the updates of `indices` to `rows` x `columns` elements.
  virtual int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const = 0;
  /// The number of indices of `blockedAxis(shape)` per block of a loop or row kernel with partial reductions. 1 for a
  /// scalar.
  virtual int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const = 0;

  /// Returns true if a row kernel may have a partial reduction that keeps some axes of the row and reduces others.
  virtual bool keepsPartsOfRows() const { return true; }

  /// The `tile` of a partial_reduce over the first `reduced` axes of `shape` in a loop or row kernel with this
  /// blocking.
  llvm::SmallVector<int64_t> partialReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced) const;

protected:
  /// The divisor of `k` from 2 to `limit` that is nearest to `wanted`; larger ones win ties. Its quotient must be a
  /// multiple of the same power of two, up to 16, as `k`, so parts of a row are aligned as the row is. 1 if there is
  /// none.
  static int64_t nearestParts(int64_t k, int64_t wanted, int64_t limit);
};

/// The axis along which loop and row kernels with partial reductions are divided into blocks: the first of extent > 1,
/// or 0 if there is none.
int64_t blockedAxis(llvm::ArrayRef<int64_t> shape);

int64_t ceilDivide(int64_t a, int64_t b); // does not overflow if a + b would
/// The least multiple of `step` that is at least `value`.
int64_t roundUp(int64_t value, int64_t step);

} // namespace halftone::compiler
