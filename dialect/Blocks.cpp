// The blocks of a kernel: the attribute, and its verification against the kernel's body.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

BlocksAttr BlocksAttr::ofRows(MLIRContext *context, int64_t rows) { return get(context, rows, 0, 0); }
BlocksAttr BlocksAttr::ofTile(MLIRContext *context, int64_t rows, int64_t columns) {
  return get(context, 0, rows, columns);
}

LogicalResult BlocksAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t tileRows,
                                 int64_t tileColumns) {
  if (tileRows == 0 && tileColumns == 0)
    return rows > 0 ? success() : LogicalResult(emitError() << "blocks have at least one row, but got rows = " << rows);
  if (rows != 0)
    return emitError() << "blocks are either rows or a tile, not both";
  if (tileRows < 1 || tileColumns < 1 || tileRows > largestTile || tileColumns > largestTile)
    return emitError() << "a tile has 1 to " << largestTile << " rows and columns, but got [" << tileRows << ", "
                       << tileColumns << "]";
  return success();
}

void BlocksAttr::print(AsmPrinter &printer) const {
  if (isTile())
    printer << "<tile = [" << getTileRows() << ", " << getTileColumns() << "]>";
  else
    printer << "<rows = " << getRows() << ">";
}

Attribute BlocksAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows = 0, tileRows = 0, tileColumns = 0;
  if (parser.parseLess())
    return {};
  if (parser.parseOptionalKeyword(&keyword, {"rows", "tile"}))
    return parser.emitError(parser.getCurrentLocation(), "blocks are given by rows or tile"), Attribute();
  if (parser.parseEqual())
    return {};
  if (keyword == "rows"
          ? parser.parseInteger(rows)
          : ParseResult(failure(parser.parseLSquare() || parser.parseInteger(tileRows) || parser.parseComma() ||
                                parser.parseInteger(tileColumns) || parser.parseRSquare())))
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  // An empty tile counts as no tile; it must not be mistaken for missing rows.
  if (keyword == "tile" && tileRows == 0 && tileColumns == 0)
    return emitError() << "a tile has 1 to " << largestTile << " rows and columns, but got [0, 0]", Attribute();
  if (parser.parseGreater())
    return {};
  return getChecked(emitError, parser.getContext(), rows, tileRows, tileColumns);
}

namespace {

/// Returns true if blocks of `size` split an axis of this extent at the same points as tiles of `tile`.
bool blocksMatchTile(int64_t extent, int64_t size, int64_t tile) {
  return tile == size || (tile >= extent && size >= extent);
}

/// Verifies the partial reductions of a loop or row kernel: a tile covers the full extent of every axis except the one
/// that the blocks split.
LogicalResult verifyRows(KernelOp kernel, ArrayRef<PartialReduceOp> partials, int64_t rows) {
  ArrayRef<int64_t> shape;
  for (PartialReduceOp partial : partials)
    if (shapeOf(partial.getX()).size() > shape.size())
      shape = shapeOf(partial.getX());
  for (ReduceOp reduce : kernel.getBody().front().getOps<ReduceOp>())
    if (kernel.getKind() == KernelKind::row && shapeOf(reduce.getX()).size() > shape.size())
      shape = shapeOf(reduce.getX());
  for (PartialReduceOp partial : partials) {
    ArrayRef<int64_t> own = shapeOf(partial.getX());
    if (own != shape && (kernel.getKind() != KernelKind::row || own != shape.take_front(own.size())))
      return partial.emitOpError() << "reduces [" << own << "], but the kernel's shape is [" << shape << "]";
    const int64_t *blocked = llvm::find_if(own, [](int64_t extent) { return extent > 1; });
    for (auto [axis, tile] : llvm::zip_equal(partial.getAxes(), partial.getTile())) {
      int64_t size = axis == blocked - own.begin() ? rows : own[axis];
      if (!blocksMatchTile(own[axis], size, tile))
        return partial.emitOpError() << "has tiles of " << tile << " along axis " << axis
                                     << ", but blocks of the kernel have " << std::min(size, own[axis]);
    }
    bool combines = llvm::any_of(partial.getAxes(), [&](int64_t axis) { return own[axis] > 1; });
    if (combines && !llvm::is_contained(partial.getAxes(), blocked - own.begin()))
      return partial.emitOpError() << "keeps axis " << blocked - own.begin()
                                   << ", along which the kernel is cut into blocks";
  }
  return success();
}

/// The result of a contraction as a partial reduction reads it: the number of axes of batch, M and N.
struct ProductAxes {
  size_t batch, rows, columns;
  SmallVector<int64_t> shape;
};

/// The axes of the result of `contract`; M counts as one axis if `rowsAreOne`, and N if `columnsAreOne`.
ProductAxes axesOf(ContractOp contract, bool rowsAreOne, bool columnsAreOne) {
  const ArrayRef<int64_t> shape = shapeOf(contract.getResult());
  ProductAxes axes{contract.getLhsBatch().size(), contract.getLhsFree().size(), contract.getRhsFree().size(), {}};
  const auto append = [&](ArrayRef<int64_t> extents, bool areOne) {
    if (areOne)
      axes.shape.push_back(ShapedType::getNumElements(extents));
    else
      llvm::append_range(axes.shape, extents);
  };
  append(shape.take_front(axes.batch), false);
  append(shape.slice(axes.batch, axes.rows), rowsAreOne);
  append(shape.take_back(axes.columns), columnsAreOne);
  axes.rows = rowsAreOne ? 1 : axes.rows;
  axes.columns = columnsAreOne ? 1 : axes.columns;
  return axes;
}

/// Verifies the tile of one partial reduction: one batch entry, and the kernel's tile along M and N.
LogicalResult verifyTile(PartialReduceOp partial, const ProductAxes &axes, BlocksAttr blocks) {
  const ArrayRef<int64_t> shape = axes.shape;
  for (auto [axis, tile] : llvm::zip_equal(partial.getAxes(), partial.getTile())) {
    const bool isBatch = size_t(axis) < axes.batch, isRow = size_t(axis) < axes.batch + axes.rows;
    const size_t axisCount = isBatch ? 1 : isRow ? axes.rows : axes.columns;
    const int64_t size = isBatch ? 1 : isRow ? blocks.getTileRows() : blocks.getTileColumns();
    const int64_t extent = // the product over all axes of M or N, which the tile splits as one axis
        isBatch
            ? shape[axis]
            : ShapedType::getNumElements(isRow ? shape.slice(axes.batch, axes.rows) : shape.take_back(axes.columns));
    if (axisCount == 1 ? !blocksMatchTile(extent, size, tile) : size < extent || tile < shape[axis])
      return partial.emitOpError() << "has tiles of " << tile << " along axis " << axis
                                   << ", but blocks of the kernel have " << std::min(size, extent)
                                   << (axisCount == 1 ? "" : " along several axes");
  }
  return success();
}

/// Verifies the partial reductions of a matmul kernel. They may collapse the axes of M, or of N.
LogicalResult verifyTiles(KernelOp kernel, ArrayRef<PartialReduceOp> partials, BlocksAttr blocks) {
  auto contracts = kernel.getBody().front().getOps<ContractOp>();
  if (contracts.empty())
    return kernel.emitOpError("has a tile but no contraction");
  ContractOp contract = *contracts.begin();
  const ProductAxes candidates[] = {axesOf(contract, false, false), axesOf(contract, true, false),
                                    axesOf(contract, true, true), axesOf(contract, false, true)};
  for (PartialReduceOp partial : partials) {
    const auto *candidate = llvm::find_if(
        candidates, [&](const ProductAxes &axes) { return shapeOf(partial.getX()) == ArrayRef(axes.shape); });
    if (candidate == std::end(candidates))
      return partial.emitOpError() << "reduces [" << shapeOf(partial.getX()) << "], but the contraction gives ["
                                   << shapeOf(contract.getResult()) << "]";
    if (failed(verifyTile(partial, *candidate, blocks)))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult verifyBlocks(KernelOp kernel) {
  auto partials = llvm::to_vector(kernel.getBody().front().getOps<PartialReduceOp>());
  std::optional<BlocksAttr> blocks = kernel.getSpec();
  if (!blocks) {
    if (!partials.empty())
      return partials.front().emitOpError("is a partial reduction; expected the kernel to have a spec, "
                                          "#halftone.blocks, whose blocks its tiles follow");
    return success();
  }
  const bool isMatmul = kernel.getKind() == KernelKind::matmul;
  if (blocks->isTile() != isMatmul || kernel.getKind() == KernelKind::scatter)
    return kernel.emitOpError() << "of kind " << stringifyKernelKind(kernel.getKind()) << " has the spec " << *blocks
                                << "; expected "
                                << (isMatmul                                  ? "a tile"
                                    : kernel.getKind() == KernelKind::scatter ? "none"
                                                                              : "rows");
  if (isMatmul)
    return verifyTiles(kernel, partials, *blocks);
  if (partials.empty())
    return kernel.emitOpError() << "has the spec " << *blocks << ", but no partial reduction, the only use of a spec";
  return verifyRows(kernel, partials, blocks->getRows());
}

} // namespace halftone::dialect
