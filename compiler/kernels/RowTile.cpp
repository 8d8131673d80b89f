// The attribute of a row kernel's tile, and the values that its phases keep.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/RowTile.h"
#include "mlir/IR/Builders.h"
#include "runtime/plan/Abi.h"
#include "llvm/Support/MathExtras.h"

namespace halftone::compiler {
using namespace mlir;

static constexpr StringLiteral tileName = "halftone.row_tile";

FailureOr<std::optional<RowTile>> RowTile::read(func::FuncOp function) {
  Attribute attribute = function->getAttr(tileName);
  if (!attribute)
    return std::optional<RowTile>();
  auto sizes = dyn_cast<DenseI64ArrayAttr>(attribute);
  const auto isPower = [](int64_t size) { return size > 0 && llvm::isPowerOf2_64(uint64_t(size)); };
  if (!sizes || sizes.size() != 4 || !isPower(sizes[0]) || !isPower(sizes[1]) || sizes[2] < 1 || sizes[3] < 0)
    return function.emitError() << "expected " << tileName
                                << " to be array<i64: teams, across, vector, steps>, the first two powers of two";
  return std::optional(RowTile{sizes[0], sizes[1], sizes[2], sizes[3]});
}

void RowTile::write(func::FuncOp function) const {
  function->setAttr(tileName, Builder(function.getContext()).getDenseI64ArrayAttr({teams, across, vector, steps}));
}

int64_t keptRowBytes(const KernelSource &source, ArrayRef<int64_t> extents) {
  int64_t columns = 1, bytes = 0;
  for (int64_t extent : extents.take_front(source.dims).drop_front(source.form.outer))
    columns *= extent;
  for (linalg::GenericOp generic : source.generics)
    for (auto [value, combiner] : llvm::zip(generic.getResults(), combinersOf(generic))) {
      if (!combiner.empty() || llvm::is_contained(source.results(), value))
        continue;
      const Type element = cast<RankedTensorType>(value.getType()).getElementType();
      const int64_t row = columns * std::max(1u, element.getIntOrFloatBitWidth() / 8);
      bytes += int64_t(llvm::alignTo(uint64_t(row), uint64_t(bufferAlignment)));
    }
  return bytes;
}

} // namespace halftone::compiler
