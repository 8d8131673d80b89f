// Reading and writing tensors from within a matmul kernel: places, offsets, lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/MatmulBlock.h"

namespace halftone::compiler {

/// Where code being emitted stands: an index for each role (the first lane's, when the role is that of the lanes).
struct MatmulPlace {
  std::array<Emitted, 4> linear;
  Values index; // of each kernel dim
  std::optional<MatmulRole> laneRole;
  Emitted start, count; // with lanes: the first lane's index within the tile, and how many there are in the tile
  bool whole = false;   // all lanes are within the tile
};

/// An access of a tensor: offset of the first lane, and how lanes continue.
struct MatmulReach {
  Emitted offset;
  bool varies = false, contiguous = false;
  Emitted stride; // between lanes, where they are evenly spaced
};

class MatmulAccess {
public:
  explicit MatmulAccess(const MatmulBlock &block) : block(block), frame(block.frame), problem(block.problem) {}

  /// The place at the block's batch and one index of another role.
  MatmulPlace placeAt(MatmulRole role, Emitted linear) const;
  /// Fills `index` of the dims of `role` from `linear`.
  void moveTo(MatmulPlace &place, MatmulRole role, Emitted linear) const;
  void setLanes(MatmulPlace &place, MatmulRole role, Emitted tileStart, Emitted start, Emitted count) const;

  /// Lanes of `tensor` (as stored) at `place`; lanes past the tile's end hold anything.
  Emitted load(mlir::Value tensor, const TensorAccess &access, const MatmulPlace &place) const;
  /// Stores the lanes that are within the tile.
  void store(Emitted lanes, mlir::Value tensor, const TensorAccess &access, const MatmulPlace &place) const;
  /// The values that the body of `generic` yields at `place`, in lanes.
  Values body(mlir::linalg::GenericOp generic, const Values &arguments, const MatmulPlace &place) const;
  MatmulReach reach(const TensorAccess &access, const MatmulPlace &place) const;
  /// Which lanes are within the tile.
  Emitted laneMask(const MatmulPlace &place) const;
  /// `lanes` within the tile, `other` past its end.
  Emitted selectInside(const MatmulPlace &place, Emitted lanes, Emitted other) const {
    return place.whole ? lanes : select(laneMask(place), lanes, other);
  }

private:
  /// The index of a kernel dim, in all lanes.
  Emitted indexLanes(int dim, const MatmulPlace &place) const;
  Emitted laneOffset(const MatmulReach &reach, const TensorAccess &access, const MatmulPlace &place,
                     int64_t lane) const;
  Emitted areAllInside(const MatmulPlace &place) const { return place.start + block.sizes.lanes <= place.count; }

  const MatmulBlock &block;
  KernelFrame &frame;
  const MatmulProblem &problem;
};

} // namespace halftone::compiler
