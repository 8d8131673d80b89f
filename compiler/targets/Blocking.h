// How kernels are cut into blocks: a function of extents, numerics and target, never of threads or machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/KernelTraits.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// Rows and columns of one block of a loop kernel.
struct LoopBlocks {
  int64_t rows = 1, columns = 1;
};

/// The space of a loop kernel: `rows` x `columns` elements. Each costs as much as `weight` elements of a kernel without
/// reduction; in a reduction loop `weight` is how many values make an element.
struct LoopSpace {
  int64_t rows = 1, columns = 1, weight = 1;
  bool transposes = false; // an operand is read along its own last axis, which is not the space's
  bool packs = false;      // a result is stored in panels
  bool sharesRows = false; // of a reduction loop: rows lie behind the reduced axes, and operands are the same for many
  bool groups = false;     // of a reduction loop: lanes run along groups (GroupedTraits)
};

/// The rules of one target.
class Blocking {
public:
  virtual ~Blocking() = default;

  virtual MatmulTile matmulTile(const MatmulTraits &traits) const = 0;
  /// In how many equal parts of K the sums of a product are made, to be added up by a kernel of their own: a divisor of K, 1
  /// if the tiles of the whole product are blocks enough. Depends on the extents alone.
  virtual int64_t depthParts(const MatmulTraits &traits) const = 0;
  /// The tile of an attention kernel; nullopt where there is no code for one, or where two products with a softmax
  /// between them are as fast.
  virtual std::optional<AttentionTile> attentionTile(const AttentionTraits & /*traits*/) const { return std::nullopt; }
  /// Rows of a block of a recurrence kernel; nullopt where launches of each step's kernels are as fast, or where there is no
  /// code for one.
  virtual std::optional<int64_t> recurrenceRows(const RecurrenceTraits & /*traits*/) const { return std::nullopt; }
  virtual LoopBlocks loopBlocks(const LoopSpace &space) const = 0;
  /// Rows of a block of a row kernel.
  virtual int64_t rowBlock(int64_t rows, int64_t columns) const = 0;
  /// Rows of a block of a scatter kernel into `rows` x `columns` that adds the updates of `indices`.
  virtual int64_t scatterBlock(int64_t rows, int64_t indices, int64_t columns) const = 0;
  /// Indices of `blockedAxis(shape)` in one block of a loop or row kernel with side reductions. 1 for a scalar.
  virtual int64_t rowsPerBlock(llvm::ArrayRef<int64_t> shape) const = 0;

  /// Whether a block of a row kernel may have a side reduction that keeps some axes of the row and reduces others.
  virtual bool keepsPartsOfRows() const { return true; }

  /// The `tile` of a partial_reduce over the first `reduced` axes of `shape` in a loop or row kernel with that blocking.
  llvm::SmallVector<int64_t> sideReductionTile(llvm::ArrayRef<int64_t> shape, int64_t reduced) const;

protected:
  /// The divisor of `k` from 2 to `most` that is nearest to `wanted`, the larger ones first, and whose quotient is a
  /// multiple of the same power of two, up to 16, as `k`: parts of a row are aligned as the row is. 1 if there is none.
  static int64_t nearestParts(int64_t k, int64_t wanted, int64_t most);
};

/// The axis that loop and row kernels with side reductions are cut along: the first of extent > 1, or 0 when there is
/// none.
int64_t blockedAxis(llvm::ArrayRef<int64_t> shape);

int64_t ceilDivide(int64_t a, int64_t b); // no overflow where a + b would
/// The least multiple of `step` that is not below `value`.
int64_t roundUp(int64_t value, int64_t step);

} // namespace halftone::compiler
