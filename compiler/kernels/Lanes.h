// Reading, writing and combining along the vector dim of a kernel, for any target.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "compiler/kernels/ScalarBody.h"

namespace halftone::compiler {

/// Lanes that run along two neighbouring dims: at each index of `dim`, a group, all `size` indices of the lanes' own dim, its
/// filters. `size` divides the count of lanes. A vector begins with a group: at index 0 of the lanes' own dim.
struct LaneGroups {
  int64_t size = 0; // 0: lanes run along their own dim alone
  int dim = -1;
  int channelDim = -1;  // -1: none
  int64_t channels = 1; // of a group
  int64_t channel = 0;  // the index of the channels' dim, which is a constant of the code
};

/// One step along the vector dim: `count` neighbours that begin at the frame's index of `dim`, or a scalar (count 0).
struct Lanes {
  int64_t count = 0;
  int dim = -1;
  Emitted mask = {};  // vector of i1: which lanes are inside; null: all
  Emitted limit = {}; // with a mask: where the range ends
  /// The index and the extent of `dim` are multiples of `count`, so that vectors along it lie at multiples of their size
  /// (of 64 bytes if they are larger).
  bool isAligned = false;
  LaneGroups groups = {};
};

/// The lanes of a masked step that begins at the present index and ends before `limit`. With groups `limit` counts the
/// filters of all groups before it.
Lanes maskedLanes(BlockFrame &frame, int64_t count, int dim, Emitted limit, const LaneGroups &groups = {});

/// The element or elements at the present index; a scalar when the access does not vary along the lanes. Lanes outside
/// hold anything.
Emitted loadLanes(BlockFrame &frame, const TensorStorage &storage, const TensorAccess &access, const Lanes &lanes);
/// The same of each input of `generic` that its body reads; null for the others. An input for whose position `atHand`
/// has a value is not loaded.
Values loadInputs(BlockFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes,
                  llvm::function_ref<Emitted(unsigned)> atHand = nullptr);
void storeLanes(BlockFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &access,
                const Lanes &lanes);
/// Loads the inputs of `generic`, whose outputs are elementwise, computes its body at the present index and stores what
/// it yields.
void storeOutputs(BlockFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes);
/// `value` where the lanes are inside, else `other`.
Emitted selectInside(const Lanes &lanes, Emitted value, Emitted other);

/// Whether a generic's body holds a function that becomes many instructions.
bool hasLongFunction(mlir::linalg::GenericOp generic);
/// Whether a generic's body is so short that waiting for its accumulators would take longer than computing it.
bool isShort(mlir::linalg::GenericOp generic);

/// The values that a generic's body yields at the present index, when its block arguments are `values`.
Values emitBody(BlockFrame &frame, mlir::linalg::GenericOp generic, const Values &values, const Lanes &lanes);

/// The elements that `op` of the body of `generic` looks up at `indices`.
Emitted lookUpLanes(BlockFrame &frame, mlir::linalg::GenericOp generic, mlir::tensor::ExtractOp op, Emitted indices,
                    const Lanes &lanes);

/// Accumulators, one for each name in `combiners` ("" takes none), combined pairwise: the values of `a`, then those of
/// `b`.
Values combineAll(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> a,
                  llvm::ArrayRef<Emitted> b);
/// Vectors folded to scalars, halves onto halves: a fixed order.
Values combineLanes(BlockFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> vectors);

} // namespace halftone::compiler
