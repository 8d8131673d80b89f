// An operand's part of a tile on its way to shared memory: through registers, and through its prologue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/gpu/MatmulCta.h"

namespace halftone::compiler {

/// Rows of A, or columns of B, which are "rows" here too, at `tiling.depth` indices of K. Each thread moves chunks of
/// elements that are neighbours in the operand's memory, at least if its axes are not split.
class MatmulStage {
public:
  /// The lanes of chunks of `chunk` elements; none, if those are not aligned vectors in memory.
  static Lanes lanesOf(const MatmulCta &cta, int side, int64_t chunk);
  MatmulStage(const MatmulCta &cta, int side, int64_t chunk);
  virtual ~MatmulStage() = default;

  /// Bytes of shared memory, which `at` points to from here on.
  virtual int64_t bytes() const = 0;
  void place(Emitted at) { shared = at; }

  int64_t chunks() const; // of each thread
  /// The elements of this thread's `chunk`-th chunk, of each tensor that the operand is made of, from index `firstDepth`
  /// of K on, which is not past the end. Elements past an edge are those at the edge.
  Values load(Emitted chunk, Emitted firstDepth) const;
  size_t loads() const { return size_t(pieces()) * inputs.size(); } // values of load()
  /// Makes factors of the elements that load() returned and stores them; those past the end of K are 0.
  void store(Emitted chunk, llvm::ArrayRef<Emitted> loaded, Emitted firstDepth) const;

protected:
  /// An element of the stage.
  struct Place {
    Emitted row, depth;
  };
  /// Stores a chunk's factors, a vector or one scalar, from `place` on.
  virtual void put(const Place &place, Emitted factors) const = 0;
  /// The factors that the multiplication reads, of elements that the prologue makes: a scalar, or `lanes` of them.
  virtual Emitted factorOf(Emitted element, int64_t lanes) const = 0;

  Place placeOf(Emitted chunk) const;
  void moveTo(const Place &place, Emitted firstDepth) const;
  /// Whether the element, and then its chunk too if those are vectors, is before the end of K.
  Emitted isInside(const Place &place, Emitted firstDepth) const;

  const MatmulCta &cta;
  GridFrame &frame;
  const MatmulSource &source;
  const int side;
  const bool alongDepth; // neighbours in memory are neighbours along K
  const int64_t rows, depth, chunk;
  const Lanes lanes; // of a chunk that is an aligned vector in memory; else its elements are moved one by one
  Emitted shared;

private:
  Place neighbour(const Place &place, int64_t distance) const;
  Emitted elementOf(llvm::ArrayRef<Emitted> loaded) const;
  int64_t pieces() const { return lanes.count > 0 ? 1 : chunk; } // of a chunk, that are loaded at a time

  mlir::linalg::GenericOp reader;              // the prologue, or the contraction
  llvm::SmallVector<mlir::OpOperand *> inputs; // those that the operand is made of
};

} // namespace halftone::compiler
