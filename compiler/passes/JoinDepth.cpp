// Makes the contracted axes a single axis of both operands.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = contract %x, %dy {lhs_contract = [1, 0], rhs_contract = [0, 1]} : 32 x 100 x 128 by 100 x 32 x 512
// becomes
//   %t = transpose %x {permutation = [1, 0, 2]} : 100 x 32 x 128
//   %1 = contract %t, %dy {lhs_contract = [0, 1], rhs_contract = [0, 1]}
#include "compiler/passes/JoinDepth.h"
#include "compiler/forms/KernelBody.h"
#include "compiler/passes/SplitDepth.h"
#include "dialect/TypeInference.h"
#include <array>
#include <numeric>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

namespace {

/// Both operands of a contraction without batch axes; `axes[0][i]` and `axes[1][i]` are contracted with each other.
struct Depth {
  explicit Depth(ContractOp op)
      : op(op), axes{llvm::to_vector(op.getLhsContract()), llvm::to_vector(op.getRhsContract())} {}

  int64_t rank(int side) { return tensorTypeOf(op->getOperand(side)).getRank(); }

  /// Sorts the pairs by the axes of `side`.
  void sortBy(int side) {
    SmallVector<std::pair<int64_t, int64_t>> pairs;
    for (auto [own, other] : llvm::zip_equal(axes[side], axes[1 - side]))
      pairs.emplace_back(own, other);
    llvm::sort(pairs);
    for (auto [index, pair] : llvm::enumerate(pairs))
      std::tie(axes[side][index], axes[1 - side][index]) = pair;
  }

  /// The extent of the last pair, if adjacent elements along K are adjacent along it in both operands; else 0.
  int64_t run() {
    for (int side : {0, 1})
      if (const int64_t last = rank(side) - 1; llvm::is_contained(axes[side], last) && axes[side].back() != last)
        return 0;
    return shapeOf(op.getLhs())[axes[0].back()];
  }

  /// Transposes the operand of `side` so that its contracted axes are adjacent. They come last if the innermost axis is
  /// one of them.
  void transpose(int side) {
    const bool areLast = llvm::is_contained(axes[side], rank(side) - 1);
    SmallVector<int64_t> permutation;
    for (int64_t axis = 0; axis < rank(side); ++axis)
      if (!llvm::is_contained(axes[side], axis))
        permutation.push_back(axis);
    const int64_t first = areLast ? static_cast<int64_t>(permutation.size()) : 0;
    permutation.insert(permutation.begin() + first, axes[side].begin(), axes[side].end());
    const Value operand = op->getOperand(side);
    SmallVector<int64_t> shape;
    for (const int64_t axis : permutation)
      shape.push_back(shapeOf(operand)[axis]);
    OpBuilder builder(op);
    op->setOperand(side, TransposeOp::create(builder, op.getLoc(), tensorTypeOf(operand).clone(shape), operand,
                                             builder.getDenseI64ArrayAttr(permutation)));
    std::iota(axes[side].begin(), axes[side].end(), first);
  }

  ContractOp op;
  std::array<SmallVector<int64_t>, 2> axes;
};

} // namespace

void joinDepth(ContractOp op, const Lowerings &lowerings) {
  const bool isPlain = op.getLhsBatch().empty() && !windowOf(op) && op.getLhsContract().size() > 1 &&
                       llvm::none_of(op->getOperands(), [](Value each) { return PanelsAttr::of(each.getType()); });
  if (!isPlain || (areNeighbours(op.getLhsContract()) && areNeighbours(op.getRhsContract())))
    return;
  MatmulTraits traits = matmulTraits(op);
  traits.splitDepth = true;
  traits.depthRun = Depth(op).run();
  // Prefers to transpose the operand with fewer elements; the other one must have adjacent contracted axes.
  const int first = traits.columns < traits.rows ? 1 : 0;
  for (const int side : {first, 1 - first}) {
    Depth depth(op);
    depth.sortBy(1 - side);
    if (!areNeighbours(depth.axes[1 - side]) || !lowerings.joinsDepth(traits, side == 0 ? traits.columns : traits.rows))
      continue;
    depth.transpose(side);
    op.setLhsContract(depth.axes[0]);
    op.setRhsContract(depth.axes[1]);
    return;
  }
}

} // namespace halftone::compiler
