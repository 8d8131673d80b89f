// Loads and stores of tensors within a matmul kernel: indices, offsets, lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/MatmulBlock.h"

namespace halftone::compiler {

/// Whether all lanes of a vector are within the tile, as far as it is known at compile time. With `unknown`, code for
/// CPUs without cheap masked accesses tests it at run time; `notAll` only selects the masked access, which is correct
/// for any vector.
enum class LanesInside : uint8_t { all, notAll, unknown };

/// The index at the insertion point, for each role (for the role of the lanes: the index of the first lane).
struct MatmulIndex {
  std::array<Emitted, 4> linear;
  Values ofDim; // the index along each kernel dim
  std::optional<MatmulRole> laneRole;
  Emitted start, count; // with lanes: the first lane's index within the tile, and the number of indices in the tile
  LanesInside inside = LanesInside::unknown;
  /// The position of the current index of K within its word of a panel, if known at compile time; else 0.
  int64_t inWord = 0;
  /// An index of K at which inputs that vary only along K have the same elements as at the current one; they are loaded
  /// there.
  std::optional<Emitted> sameLookups;
};

/// An access to a tensor: the offset of the first lane, and the stride of the lanes.
struct MatmulReach {
  Emitted offset;
  bool varies = false, contiguous = false;
  Emitted stride; // between lanes, if it is constant
};

class MatmulAccess {
public:
  explicit MatmulAccess(const MatmulBlock &block) : block(block), frame(block.frame), plan(block.plan) {}

  /// The index at the block's batch and at `linear` for the role `role`.
  MatmulIndex indexAt(MatmulRole role, Emitted linear) const;
  /// Sets `ofDim` of the dims of `role` from `linear`.
  void moveTo(MatmulIndex &index, MatmulRole role, Emitted linear) const;
  void setLanes(MatmulIndex &index, MatmulRole role, Emitted tileStart, Emitted start, Emitted count) const;

  /// Loads lanes of `tensor` (in its stored type) at `index`; lanes past the tile's end are undefined.
  Emitted load(mlir::Value tensor, const TensorAccess &access, const MatmulIndex &index) const;
  /// Loads each input of `generic`; as a scalar if all lanes have the same element.
  Values loadInputs(mlir::linalg::GenericOp generic, const MatmulIndex &index) const;
  /// Stores the lanes that are within the tile.
  void store(Emitted lanes, mlir::Value tensor, const TensorAccess &access, const MatmulIndex &index) const;
  /// Like store(), for lanes that are contiguous in memory, the first one at `at`. Of `index`, only the fields of the
  /// lanes are used.
  void storeRun(Emitted lanes, Emitted at, const MatmulIndex &index) const;
  /// The vectors that the body of `generic` yields at `index`.
  Values body(mlir::linalg::GenericOp generic, const Values &arguments, const MatmulIndex &index) const;
  MatmulReach reach(const TensorAccess &access, const MatmulIndex &index) const;
  /// Whether the inputs of `generic` that vary only along K have equal elements at the `count` indices of K from
  /// `first` on.
  Emitted haveEqualLookups(mlir::linalg::GenericOp generic, Emitted first, int64_t count) const;
  /// The mask of the lanes within the tile.
  Emitted laneMask(const MatmulIndex &index) const;
  /// `lanes` within the tile, `other` past its end.
  Emitted selectInside(const MatmulIndex &index, Emitted lanes, Emitted other) const {
    return index.inside == LanesInside::all ? lanes : select(laneMask(index), lanes, other);
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
