// The layout of packed matrices.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult PanelsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t depth, int64_t columns,
                                 int64_t group) {
  if (depth < 0 || depth > 1)
    return emitError() << "panels of a matrix have depth along axis 0 or 1, not " << depth;
  if (columns < 1 || group < 1 || columns > largest || group > largest)
    return emitError() << "panels have 1 to " << largest << " columns, and groups 1 to " << largest
                       << " elements, but got columns = " << columns << ", group = " << group;
  return success();
}

LogicalResult PanelsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2)
    return emitError() << "panels are of a matrix, but the tensor has rank " << shape.size();
  const int64_t depth = shape[getDepth()], columns = shape[1 - getDepth()];
  if (!ShapedType::isDynamic(depth) && depth % getGroup() != 0)
    return emitError() << "panels of groups of " << getGroup() << " need a multiple of that along axis " << getDepth()
                       << ", but got " << depth;
  if (!ShapedType::isDynamic(columns) && columns % getColumns() != 0)
    return emitError() << "panels of " << getColumns() << " columns need a multiple of that along axis "
                       << 1 - getDepth() << ", but got " << columns;
  return success();
}

PanelsAttr PanelsAttr::of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PanelsAttr>(tensor.getEncoding()) : PanelsAttr();
}

int64_t PanelsAttr::offsetOf(ArrayRef<int64_t> shape, int64_t row, int64_t column) const {
  const int64_t group = getGroup(), columns = getColumns(), groups = shape[getDepth()] / group;
  const int64_t k = getDepth() == 0 ? row : column, n = getDepth() == 0 ? column : row;
  return ((n / columns * groups + k / group) * columns + n % columns) * group + k % group;
}

} // namespace halftone::dialect
