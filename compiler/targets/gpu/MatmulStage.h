// Copies of an operand's part of a tile to shared memory, through registers and the operand's prologue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/gpu/MatmulCta.h"

namespace halftone::compiler {

/// Rows of A or columns of B, called "rows" for both, at `tiling.depth` indices of K. Each thread moves chunks of
/// elements that are adjacent in the operand's memory if its axes are not split.
class MatmulStage {
public:
  /// The lanes of chunks of `chunk` elements; none if the chunks are not aligned vectors in memory.
  static Lanes lanesOf(const MatmulCta &cta, int side, int64_t chunk);
  MatmulStage(const MatmulCta &cta, int side, int64_t chunk);
  virtual ~MatmulStage() = default;

  /// The bytes of shared memory that the stage needs. place() sets its address.
  virtual int64_t bytes() const = 0;
  void place(Emitted at) { shared = at; }

  int64_t chunks() const; // per thread
  /// Loads the elements of this thread's `chunk`-th chunk, of each tensor from which the operand is computed, from
  /// index `firstDepth` of K on, which must not be past the end. Elements past an edge are those at the edge.
  Values load(Emitted chunk, Emitted firstDepth) const;
  size_t loads() const { return size_t(partsPerChunk()) * inputs.size(); } // the number of values of load()
  /// Computes factors from the elements that load() returned and stores them; factors past the end of K are 0.
  void store(Emitted chunk, llvm::ArrayRef<Emitted> loaded, Emitted firstDepth) const;

protected:
  /// The position of an element in the stage.
  struct Position {
    Emitted row, depth;
  };
  /// Stores a chunk's factors, a vector or a scalar, from `position` on.
  virtual void put(const Position &position, Emitted factors) const = 0;
  /// Converts elements that the prologue computes, a scalar or `lanes` of them, to the factors that are multiplied.
  virtual Emitted factorOf(Emitted element, int64_t lanes) const = 0;

  Position positionOf(Emitted chunk) const;
  void moveTo(const Position &position, Emitted firstDepth) const;
  /// Whether the element, and its chunk too if chunks are vectors, is before the end of K.
  Emitted isInside(const Position &position, Emitted firstDepth) const;

  const MatmulCta &cta;
  GridFrame &frame;
  const MatmulSource &source;
  const int side;
  const bool alongDepth; // adjacent elements in memory are neighbours along K
  const int64_t rows, depth, chunk;
  const Lanes lanes; // of a chunk that is an aligned vector in memory; otherwise elements are moved one by one
  Emitted shared;

private:
  Position neighbour(const Position &position, int64_t distance) const;
  Emitted elementOf(llvm::ArrayRef<Emitted> loaded) const;
  int64_t partsPerChunk() const { return lanes.count > 0 ? 1 : chunk; } // parts of a chunk that are loaded separately

  mlir::linalg::GenericOp reader;              // the prologue, or the contraction
  llvm::SmallVector<mlir::OpOperand *> inputs; // those from which the operand is computed
};

} // namespace halftone::compiler
