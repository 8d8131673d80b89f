// How a kernel is cut into blocks: the attribute, and the check that it fits the kernel's body.
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
  // An empty tile counts as no tile; it must not pass for missing rows.
  if (keyword == "tile" && tileRows == 0 && tileColumns == 0)
    return emitError() << "a tile has 1 to " << largestTile << " rows and columns, but got [0, 0]", Attribute();
  if (parser.parseGreater())
    return {};
  return getChecked(emitError, parser.getContext(), rows, tileRows, tileColumns);
}

namespace {

/// Whether blocks of `size` cut an axis of this extent where tiles of `tile` do.
bool cutAlike(int64_t extent, int64_t size, int64_t tile) { return tile == size || (tile >= extent && size >= extent); }

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Side reductions of a loop or row kernel: a tile is whole along every axis but the one that the blocks cut.
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
      if (!cutAlike(own[axis], size, tile))
        return partial.emitOpError() << "has tiles of " << tile << " along axis " << axis
                                     << ", but blocks of the kernel have " << std::min(size, own[axis]);
    }
    bool combines = llvm::any_of(partial.getAxes(), [&](int64_t axis) { return own[axis] > 1; });
    if (combines && !llvm::is_contained(partial.getAxes(), blocked - own.begin()))
      return partial.emitOpError() << "keeps axis " << blocked - own.begin()
                                   << ", along which blocks of the kernel are cut";
  }
  return success();
}

/// Side reductions of a matmul kernel: one batch entry, and the kernel's tile along M and N.
LogicalResult verifyTile(KernelOp kernel, ArrayRef<PartialReduceOp> partials, BlocksAttr blocks) {
  auto contracts = kernel.getBody().front().getOps<ContractOp>();
  if (contracts.empty())
    return kernel.emitOpError("has a tile but no contraction");
  ContractOp contract = *contracts.begin();
  const ArrayRef<int64_t> shape = shapeOf(contract.getResult());
  const size_t batch = contract.getLhsBatch().size(), rows = contract.getLhsFree().size();
  SmallVector<int64_t> flat(shape); // the rows as one axis
  if (rows > 1) {
    flat[batch] = ShapedType::getNumElements(shape.slice(batch, rows));
    flat.erase(flat.begin() + batch + 1, flat.begin() + batch + rows);
  }
  for (PartialReduceOp partial : partials) {
    const ArrayRef<int64_t> own = shapeOf(partial.getX());
    if (own != shape && own != ArrayRef(flat))
      return partial.emitOpError() << "reduces [" << own << "], but the contraction gives [" << shape << "]";
    const size_t ownRows = own == shape ? rows : 1;
    for (auto [axis, tile] : llvm::zip_equal(partial.getAxes(), partial.getTile())) {
      const bool isRow = size_t(axis) < batch + ownRows;
      const size_t apart = isRow ? ownRows : contract.getRhsFree().size();
      int64_t size = size_t(axis) < batch ? 1 : isRow ? blocks.getTileRows() : blocks.getTileColumns();
      int64_t extent = 1; // of all axes of M or N, which the tile cuts as one
      if (size_t(axis) < batch)
        extent = own[axis];
      else
        for (int64_t each : isRow ? own.slice(batch, ownRows) : own.drop_front(batch + ownRows))
          extent *= each;
      if (size_t(axis) < batch || apart == 1 ? !cutAlike(extent, size, tile) : size < extent || tile < own[axis])
        return partial.emitOpError() << "has tiles of " << tile << " along axis " << axis
                                     << ", but blocks of the kernel have " << std::min(size, extent)
                                     << (apart == 1 || size_t(axis) < batch ? "" : " along several axes");
    }
  }
  return success();
}

} // namespace

LogicalResult verifyBlocks(KernelOp kernel) {
  auto partials = llvm::to_vector(kernel.getBody().front().getOps<PartialReduceOp>());
  std::optional<BlocksAttr> blocks = kernel.getSpec();
  if (!blocks) {
    if (!partials.empty())
      return partials.front().emitOpError(
          "is a side reduction; expected a spec, #halftone.blocks, on the kernel, whose blocks its tiles follow");
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
    return verifyTile(kernel, partials, *blocks);
  if (partials.empty())
    return kernel.emitOpError() << "has the spec " << *blocks << " but no side reduction, which it is for";
  return verifyRows(kernel, partials, blocks->getRows());
}

} // namespace halftone::dialect
