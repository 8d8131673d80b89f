// Sorts the indices of scatter_adds, numbers the distinct ones, and adds up the updates by these numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   %g = scatter_add %ids, %u : (tensor<3xi32>, tensor<3x64xf32>) -> tensor<1000x64xf32>      %ids is 7, 2, 7
// becomes
//   %sorted, %order = sort %ids                       2, 7, 7 and 1, 0, 2
//   %number = cumsum (%sorted has changed)            0, 1, 1
//   %place = scatter set %zeros, %order, %number      1, 0, 1
//   %rows = scatter set %none, %number, %sorted       2, 7, 1000, 1000
//   %sums = scatter_add %place, %u : (tensor<3xi32>, tensor<3x64xf32>) -> tensor<4x64xf32>
#include "compiler/passes/NamedRows.h"
#include "dialect/ops/Expression.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

class RowIndexBuilder {
public:
  RowIndexBuilder(OpBuilder &builder, Location loc) : e(builder, loc), builder(builder) {}

  RankedTensorType integers(int64_t count) const { return RankedTensorType::get({count}, builder.getI32Type()); }
  Value splat(int64_t count, int64_t value) { return e.splat(integers(count), double(value)); }
  Value slice(Value x, int64_t start, int64_t count) {
    return SliceOp::create(builder, e.loc, integers(count), x, ArrayRef<int64_t>{start});
  }
  Value set(Value x, Value indices, Value updates) {
    return ScatterOp::create(builder, e.loc, x.getType(), ScatterKind::set, x, indices, updates, 0, 0);
  }
  /// Clamps indices to the rows, as scatter_add does.
  Value clamped(Value indices, int64_t tableRows) {
    const Type type = indices.getType();
    Value last = e.splat(type, double(tableRows - 1));
    Value kept = MaximumOp::create(builder, e.loc, MinimumOp::create(builder, e.loc, indices, last), e.splat(type, 0));
    kept = e.cast(kept, builder.getI32Type(), "rows");
    return ReshapeOp::create(builder, e.loc, integers(tensorTypeOf(kept).getNumElements()), kept);
  }
  /// For each sorted element, the number of distinct smaller elements.
  Value ranks(Value sorted) {
    const int64_t count = tensorTypeOf(sorted).getNumElements();
    if (count == 1)
      return splat(1, 0);
    const Value differs = e.compare(ComparePredicate::ne, slice(sorted, 1, count - 1), slice(sorted, 0, count - 1));
    const Value steps = ConcatOp::create(builder, e.loc, integers(count),
                                         ValueRange{splat(1, 0), e.cast(differs, builder.getI32Type(), "rows")}, 0);
    return CumsumOp::create(builder, e.loc, steps.getType(), steps, 0, /*reverse=*/false, ReduceKind::sum);
  }

  Expression e;

private:
  OpBuilder &builder;
};

} // namespace

NamedRows::NamedRows(OpBuilder &builder, ArrayRef<ScatterAddOp> scatters) {
  const Location loc = ScatterAddOp(scatters.front()).getLoc();
  RowIndexBuilder build(builder, loc);
  SmallVector<Value> indices;
  for (ScatterAddOp scatter : scatters) {
    tableRows = shapeOf(scatter.getY()).front();
    indices.push_back(build.clamped(scatter.getIndices(), tableRows));
    count += tensorTypeOf(indices.back()).getNumElements();
  }
  const Value all = indices.size() == 1 ? indices.front()
                                        : ConcatOp::create(builder, loc, build.integers(count), indices, 0).getResult();
  auto sort = SortOp::create(builder, loc, TypeRange{all.getType(), all.getType()}, all, 0, /*descending=*/false);
  const Value rank = build.ranks(sort.getValues());
  const Value position = build.set(build.splat(count, 0), sort.getIndices(), rank);
  ++count;
  rows = build.set(build.splat(count, tableRows), rank, sort.getValues());
  int64_t start = 0;
  for (ScatterAddOp scatter : scatters) {
    SmallVector<int64_t> shape(shapeOf(scatter.getY()));
    const int64_t own = shape.front() = tensorTypeOf(scatter.getIndices()).getNumElements();
    const Value updates = ReshapeOp::create(builder, scatter.getLoc(), tensorTypeOf(scatter.getUpdates()).clone(shape),
                                            scatter.getUpdates());
    shape.front() = count;
    const Value positions = indices.size() == 1 ? position : build.slice(position, start, own);
    sums.push_back(ScatterAddOp::create(builder, scatter.getLoc(), tensorTypeOf(scatter.getY()).clone(shape), positions,
                                        updates, 0));
    start += own;
  }
}

Value NamedRows::positions(OpBuilder &builder, Location loc) const {
  RowIndexBuilder build(builder, loc);
  const Value own = IotaOp::create(builder, loc, build.integers(count), 0);
  return build.set(build.splat(tableRows, count - 1), rows, own);
}

} // namespace halftone::compiler
