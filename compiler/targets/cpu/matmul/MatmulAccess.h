// Reading and writing tensors from within a matmul kernel: indices, offsets, lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

namespace halftone::compiler {

/// The index at which code being emitted stands, for each role (the first lane's, when the role is that of the lanes).
struct MatmulIndex {
  std::array<Emitted, 4> linear;
  Values ofDim; // the index along each kernel dim
  std::optional<MatmulRole> laneRole;
  Emitted start, count; // with lanes: the first lane's index within the tile, and how many there are in the tile
  bool whole = false;   // all lanes are within the tile
  /// By how many indices of K the present one lies behind the first of its word of panels, where that is known here; else
  /// 0.
  int64_t inWord = 0;
  /// An index of K whose elements in inputs that lie along K alone are those of the present one: they are read there.
  std::optional<Emitted> sameLookups;
};

/// An access of a tensor: offset of the first lane, and how lanes continue.
struct MatmulReach {
  Emitted offset;
  bool varies = false, contiguous = false;
  Emitted stride; // between lanes, where they are evenly spaced
};

class MatmulAccess {
public:
  explicit MatmulAccess(const MatmulBlock &block) : block(block), frame(block.frame), plan(block.plan) {}

  /// The index at the block's batch and at `linear` of another role.
  MatmulIndex indexAt(MatmulRole role, Emitted linear) const;
  /// Fills `ofDim` of the dims of `role` from `linear`.
  void moveTo(MatmulIndex &index, MatmulRole role, Emitted linear) const;
  void setLanes(MatmulIndex &index, MatmulRole role, Emitted tileStart, Emitted start, Emitted count) const;

  /// Lanes of `tensor` (as stored) at `index`; lanes past the tile's end hold anything.
  Emitted load(mlir::Value tensor, const TensorAccess &access, const MatmulIndex &index) const;
  /// The same of each input of `generic`; of an input that is the same in all lanes its element.
  Values loadInputs(mlir::linalg::GenericOp generic, const MatmulIndex &index) const;
  /// Stores the lanes that are within the tile.
  void store(Emitted lanes, mlir::Value tensor, const TensorAccess &access, const MatmulIndex &index) const;
  /// The values that the body of `generic` yields at `index`, in lanes.
  Values body(mlir::linalg::GenericOp generic, const Values &arguments, const MatmulIndex &index) const;
  MatmulReach reach(const TensorAccess &access, const MatmulIndex &index) const;
  /// Whether the inputs of `generic` that lie along K alone have equal elements at `count` indices of K from `first` on.
  Emitted haveEqualLookups(mlir::linalg::GenericOp generic, Emitted first, int64_t count) const;
  /// Which lanes are within the tile.
  Emitted laneMask(const MatmulIndex &index) const;
  /// `lanes` within the tile, `other` past its end.
  Emitted selectInside(const MatmulIndex &index, Emitted lanes, Emitted other) const {
    return index.whole ? lanes : select(laneMask(index), lanes, other);
  }

private:
  std::pair<Emitted, Emitted> wordsOfPanels(mlir::Value tensor, const Panels &panels, const MatmulIndex &index) const;
  Emitted loadOfPanels(mlir::Value tensor, const Panels &panels, const MatmulIndex &index) const;
  Emitted floatsOfPanels(mlir::Value tensor, const Panels &panels, const MatmulIndex &index) const;
  bool liesAlongDepth(const TensorAccess &access) const;
  /// The index of a kernel dim, in all lanes.
  Emitted indexLanes(int dim, const MatmulIndex &index) const;
  Emitted laneOffset(const MatmulReach &reach, const TensorAccess &access, const MatmulIndex &index,
                     int64_t lane) const;
  Emitted areAllInside(const MatmulIndex &index) const { return index.start + block.sizes.lanes <= index.count; }

  const MatmulBlock &block;
  KernelFrame &frame;
  const MatmulPlan &plan;
};

} // namespace halftone::compiler
