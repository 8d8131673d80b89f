// The layout of packed matrices.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

LogicalResult PanelsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t depth, int64_t columns,
                                 int64_t group, int64_t bits) {
  if (depth < 0 || depth > 1)
    return emitError() << "panels of a matrix have depth along axis 0 or 1, not " << depth;
  if (columns < 1 || group < 1 || columns > largest || group > largest)
    return emitError() << "panels have 1 to " << largest << " columns, and groups 1 to " << largest
                       << " elements, but got columns = " << columns << ", group = " << group;
  if (bits != 0 && (bits != 4 || group % 2 != 0))
    return emitError() << "panels hold whole elements, or 4-bit elements in groups of even size, but got bits = "
                       << bits << ", group = " << group;
  return success();
}

LogicalResult PanelsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                                         llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2)
    return emitError() << "panels require a matrix, but the tensor has rank " << shape.size();
  if (getBits() != 0 && !element.isSignlessInteger(8))
    return emitError() << "panels of 4-bit elements require element type i8, but got " << element;
  const int64_t depth = shape[getDepth()], columns = shape[1 - getDepth()];
  if (!ShapedType::isDynamic(depth) && depth % getGroup() != 0)
    return emitError() << "extent along axis " << getDepth() << " must be a multiple of " << getGroup()
                       << ", the group of the panels, but got " << depth;
  if (!ShapedType::isDynamic(columns) && columns % getColumns() != 0)
    return emitError() << "extent along axis " << 1 - getDepth() << " must be a multiple of " << getColumns()
                       << ", the columns of a panel, but got " << columns;
  return success();
}

PanelsAttr PanelsAttr::of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PanelsAttr>(tensor.getEncoding()) : PanelsAttr();
}

int64_t PanelsAttr::offsetOf(ArrayRef<int64_t> shape, int64_t row, int64_t column) const {
  const int64_t group = getGroup(), columns = getColumns(), groups = shape[getDepth()] / group;
  const int64_t k = getDepth() == 0 ? row : column, n = getDepth() == 0 ? column : row;
  const int64_t member = k % group, half = group / 2;
  const int64_t position = getBits() == 0 ? member : member % half * 2 + member / half;
  return ((n / columns * groups + k / group) * columns + n % columns) * group + position;
}

} // namespace halftone::dialect
