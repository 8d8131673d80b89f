// Target-independent loads, stores and combining along the vector dim of a kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "compiler/kernels/ScalarBody.h"

namespace halftone::compiler {

/// Vector lanes over two adjacent dims of a grouped convolution: a vector holds all `size` filters (the lanes' own dim)
/// of one or more consecutive groups (`dim`). `size` divides the number of lanes. A vector begins at index 0 of the
/// lanes' own dim.
struct LaneGroups {
  int64_t size = 0; // 0: lanes run along their own dim only
  int dim = -1;
  int channelDim = -1;  // -1: none
  int64_t channels = 1; // per group
  int64_t channel = 0;  // the index along the channels' dim, a constant in the code
};

/// One step along the vector dim: `count` consecutive elements from the frame's index of `dim` on, or a scalar (count
/// 0).
struct Lanes {
  int64_t count = 0;
  int dim = -1;
  Emitted mask = {};  // vector of i1, true for lanes that are inside; null: all are
  Emitted limit = {}; // with a mask: the end of the range
  /// The index and the extent of `dim` are multiples of `count`, so vectors along it are aligned to their size (to 64
  /// bytes if they are larger).
  bool isAligned = false;
  LaneGroups groups = {};
};

/// The lanes of a masked step that begins at the current index and ends before `limit`. With groups, `limit` counts
/// filters across all groups.
Lanes maskedLanes(BlockFrame &frame, int64_t count, int dim, Emitted limit, const LaneGroups &groups = {});

/// Loads the element or elements at the current index; a scalar if the access does not vary along the lanes. Lanes
/// outside of the mask are undefined.
Emitted loadLanes(BlockFrame &frame, const TensorStorage &storage, const TensorAccess &access, const Lanes &lanes);
/// Loads each input of `generic` that its body reads; null for the others. An input for which `provided` returns a
/// value is not loaded.
Values loadInputs(BlockFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes,
                  llvm::function_ref<Emitted(unsigned)> provided = nullptr);
void storeLanes(BlockFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &access,
                const Lanes &lanes);
/// Loads the inputs of `generic`, whose outputs are elementwise, emits its body at the current index and stores the
/// yielded values.
void storeOutputs(BlockFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes);
/// `value` in lanes that are inside, `other` in the rest.
Emitted selectInside(const Lanes &lanes, Emitted value, Emitted other);

/// Returns true if a generic's body contains a function that expands to many instructions.
bool hasLongFunction(mlir::linalg::GenericOp generic);
/// Returns true if a generic's body is so short that the latency of its accumulators exceeds the time to compute it.
bool isShort(mlir::linalg::GenericOp generic);

/// The values that a generic's body yields at the current index for the block arguments `values`.
Values emitBody(BlockFrame &frame, mlir::linalg::GenericOp generic, const Values &values, const Lanes &lanes);

/// The elements that `op`, of the body of `generic`, looks up at `indices`.
Emitted lookUpLanes(BlockFrame &frame, mlir::linalg::GenericOp generic, mlir::tensor::ExtractOp op, Emitted indices,
                    const Lanes &lanes);

/// Combines accumulators pairwise, values of `a` before those of `b`. `combiners` has a name for each accumulator; ""
/// takes none.
Values combineAll(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> a,
                  llvm::ArrayRef<Emitted> b);
/// Reduces vectors to scalars by folding halves onto halves, a fixed order.
Values combineLanes(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> vectors);

} // namespace halftone::compiler
