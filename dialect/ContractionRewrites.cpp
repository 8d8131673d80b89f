// Folds transposes and broadcasts into contractions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "dialect/ExactRewrites.h"
#include "dialect/ops/Expression.h"

using namespace mlir;

namespace halftone::dialect {
namespace {

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// The origin of an axis of a contraction's result: a batch axis, by index, or a free axis of an operand.
struct ResultAxis {
  enum Origin { batch, lhs, rhs } origin;
  int64_t number;
  bool operator==(const ResultAxis &other) const { return origin == other.origin && number == other.number; }
};

/// The operands of a contraction to be created, and the roles of their axes. Side 0 is lhs.
struct Product {
  explicit Product(ContractOp op)
      : operands{op.getLhs(), op.getRhs()}, ranks{rankOf(op.getLhs()), rankOf(op.getRhs())},
        batch{SmallVector<int64_t>(op.getLhsBatch()), SmallVector<int64_t>(op.getRhsBatch())},
        contract{SmallVector<int64_t>(op.getLhsContract()), SmallVector<int64_t>(op.getRhsContract())} {}

  SmallVector<int64_t> free(size_t side) const {
    SmallVector<int64_t> taken(batch[side]);
    llvm::append_range(taken, contract[side]);
    return otherAxes(ranks[side], taken);
  }

  SmallVector<ResultAxis> resultAxes() const {
    SmallVector<ResultAxis> axes;
    for (int64_t number = 0; number < static_cast<int64_t>(batch[0].size()); ++number)
      axes.push_back({ResultAxis::batch, number});
    for (size_t side : {0, 1})
      for (int64_t axis : free(side))
        axes.push_back({side == 0 ? ResultAxis::lhs : ResultAxis::rhs, axis});
    return axes;
  }

  std::array<Value, 2> operands;
  std::array<int64_t, 2> ranks;
  std::array<SmallVector<int64_t>, 2> batch, contract;
};

/// The permutation that gives the result of `product` the axes `wanted`. Returns nullopt if it would change the
/// innermost axis, since no kernel stores such a result.
std::optional<SmallVector<int64_t>> permutationTo(ArrayRef<ResultAxis> wanted, const Product &product) {
  const SmallVector<ResultAxis> resultOrder = product.resultAxes();
  SmallVector<int64_t> permutation;
  for (const ResultAxis &axis : wanted)
    permutation.push_back(llvm::find(resultOrder, axis) - resultOrder.begin());
  const bool keepsInnermost = permutation.empty() || permutation.back() + 1 == static_cast<int64_t>(resultOrder.size());
  return keepsInnermost ? std::optional(permutation) : std::nullopt;
}

void replaceBy(PatternRewriter &rewriter, ContractOp op, const Product &product, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape(permutation.size());
  for (auto [axis, extent] : llvm::enumerate(shapeOf(op)))
    shape[permutation[axis]] = extent;
  Value result = ContractOp::create(
      rewriter, op.getLoc(), RankedTensorType::get(shape, getElementTypeOrSelf(op.getType())), product.operands[0],
      product.operands[1], product.batch[0], product.batch[1], product.contract[0], product.contract[1],
      /*tile=*/DenseI64ArrayAttr());
  if (!llvm::is_sorted(permutation))
    result = TransposeOp::create(rewriter, op.getLoc(), op.getType(), result, permutation);
  rewriter.replaceOp(op, result);
}

/// Returns true if `op` is inside a kernel, which already fixes how memory is read and written.
bool isInKernel(Operation *op) { return isa<KernelOp>(op->getParentOp()); }

/// Rewrites contract(transpose(x), y) to read x itself; reordered free axes are transposed in the result.
struct ContractReadsTransposed : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isInKernel(op))
      return rewriter.notifyMatchFailure(op, "the contraction of a kernel already determines how it reads memory");
    return success(succeeded(readThrough(0, op, rewriter)) || succeeded(readThrough(1, op, rewriter)));
  }

  static LogicalResult readThrough(size_t side, ContractOp op, PatternRewriter &rewriter) {
    Product product(op);
    auto transpose = product.operands[side].getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "the operand is not a transpose");
    const ArrayRef<int64_t> permutation = transpose.getPermutation();
    const auto inX = [&](int64_t &axis) { axis = permutation[axis]; };
    SmallVector<ResultAxis> wanted = product.resultAxes();
    for (ResultAxis &axis : wanted)
      if (axis.origin == (side == 0 ? ResultAxis::lhs : ResultAxis::rhs))
        inX(axis.number);
    product.operands[side] = transpose.getX();
    llvm::for_each(product.batch[side], inX);
    llvm::for_each(product.contract[side], inX);
    const auto order = permutationTo(wanted, product);
    if (!order)
      return rewriter.notifyMatchFailure(op, "no transpose of the result has the required order of axes");
    replaceBy(rewriter, op, product, *order);
    return success();
  }
};

/// Rewrites contract(broadcast(x), y) with a batch axis that exists only in the broadcast. The axis becomes a free axis
/// of y, so the products of all batch entries form one larger product, and x is read directly.
struct ContractReadsBroadcast : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (isInKernel(op))
      return rewriter.notifyMatchFailure(op, "the contraction of a kernel already determines how it reads memory");
    return success(succeeded(readThrough(0, op, rewriter)) || succeeded(readThrough(1, op, rewriter)));
  }

  static bool isAdded(Value operand, int64_t axis) {
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    return broadcast && !llvm::is_contained(broadcast.getAxes(), axis);
  }

  static LogicalResult readThrough(size_t side, ContractOp op, PatternRewriter &rewriter) {
    const Product before(op);
    Product product = before;
    SmallVector<int64_t> dropped; // axes of the broadcast
    SmallVector<ResultAxis> wanted;
    product.batch = {};
    for (auto [own, other] : llvm::zip_equal(before.batch[side], before.batch[1 - side])) {
      if (isAdded(before.operands[side], own) && !isAdded(before.operands[1 - side], other)) {
        dropped.push_back(own);
        wanted.push_back({side == 0 ? ResultAxis::rhs : ResultAxis::lhs, other});
        continue;
      }
      wanted.push_back({ResultAxis::batch, static_cast<int64_t>(product.batch[0].size())});
      product.batch[side].push_back(own);
      product.batch[1 - side].push_back(other);
    }
    if (dropped.empty())
      return rewriter.notifyMatchFailure(op, "no batch axis is added only by a broadcast");
    const auto left = [&](int64_t axis) {
      return axis - llvm::count_if(dropped, [&](int64_t each) { return each < axis; });
    };
    for (ResultAxis axis : ArrayRef(before.resultAxes()).drop_front(before.batch[0].size())) {
      const bool isOwn = axis.origin == (side == 0 ? ResultAxis::lhs : ResultAxis::rhs);
      wanted.push_back({axis.origin, isOwn ? left(axis.number) : axis.number});
    }
    for (SmallVector<int64_t> *axes : {&product.batch[side], &product.contract[side]})
      for (int64_t &axis : *axes)
        axis = left(axis);
    product.ranks[side] -= static_cast<int64_t>(dropped.size());
    const auto order = permutationTo(wanted, product);
    if (!order)
      return rewriter.notifyMatchFailure(op, "no transpose of the result has the required order of axes");
    auto broadcast = before.operands[side].getDefiningOp<BroadcastOp>();
    SmallVector<int64_t> shape;
    for (auto [axis, extent] : llvm::enumerate(shapeOf(broadcast)))
      if (!llvm::is_contained(dropped, static_cast<int64_t>(axis)))
        shape.push_back(extent);
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(broadcast.getType()));
    product.operands[side] = rewriter.createOrFold<BroadcastOp>(broadcast.getLoc(), type, broadcast.getX(),
                                                                llvm::map_to_vector(broadcast.getAxes(), left));
    replaceBy(rewriter, op, product, *order);
    return success();
  }
};

/// Rewrites a transpose(contract(x, y)) that moves the free axes of y before those of x to contract(y, x).
struct SwapContract : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getX().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the operand is not a contraction with one use");
    int64_t batch = contract.getLhsBatch().size(), left = contract.getLhsFree().size(),
            right = contract.getRhsFree().size();
    SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, batch));
    llvm::append_range(swapped, llvm::seq<int64_t>(batch + left, batch + left + right));
    llvm::append_range(swapped, llvm::seq<int64_t>(batch, batch + left));
    if (op.getPermutation() != ArrayRef<int64_t>(swapped))
      return rewriter.notifyMatchFailure(op, "the permutation does not swap the operands");
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), contract.getRhs(), contract.getLhs(),
                                            contract.getRhsBatch(), contract.getLhsBatch(), contract.getRhsContract(),
                                            contract.getLhsContract(), /*tile=*/DenseI64ArrayAttr());
    return success();
  }
};

} // namespace

void populateContractionRewrites(RewritePatternSet &patterns) {
  patterns.add<ContractReadsBroadcast, ContractReadsTransposed, SwapContract>(patterns.getContext());
}

} // namespace halftone::dialect
