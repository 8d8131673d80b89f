// Multiply-adds, and the choice among a CPU's products.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/Products.h"
#include "llvm/ADT/STLExtras.h"

namespace halftone::compiler {

namespace {

constexpr ProductRow plainRow{
    .product = cpu::Product::multiply_add,
    .group = 1,
    .exact = true,
    .signedOperands = true,
    .isThere = [](const llvm::MCSubtargetInfo &) { return true; },
    .pays = [](const CpuTarget &, const MatmulTraits &) { return true; },
    .multiply = [](CodeBuilder &, Emitted sums, Emitted a, Emitted b) { return sums + a * b; },
    .multiplyWidened = nullptr,
};

/// Groups are neighbours along a row of a window; pairs are also made of the rows of two places.
bool makesGroupsOfWindow(const ProductRow &row, const MatmulTraits &traits) {
  return !packsAlongPlaces(traits) && (traits.lhsAlongDepth || row.group == 2);
}

cpu::Product scheduledProduct(ScheduleAttrInterface schedule) {
  if (auto matmul = llvm::dyn_cast<cpu::MatmulScheduleAttr>(schedule))
    return matmul.getProduct();
  return llvm::cast<cpu::AttentionScheduleAttr>(schedule).getProduct();
}

} // namespace

const ProductRow &multiplyAdd() { return plainRow; }

const ProductRow &chooseProduct(const CpuTarget &target, const MatmulTraits &traits) {
  return **llvm::find_if(target.products, [&](const ProductRow *row) {
    const bool hasFactors = row->group == 1 || !traits.window || makesGroupsOfWindow(*row, traits);
    return hasFactors && (row->exact || !traits.numerics.fixesOrder()) && row->pays(target, traits);
  });
}

const ProductRow *findProduct(const CpuTarget &target, cpu::Product product) {
  const auto *row = llvm::find_if(target.products, [&](const ProductRow *each) { return each->product == product; });
  return row == target.products.end() ? nullptr : *row;
}

const ProductRow &productOf(const KernelSource &source, const CpuTarget &target) {
  const ProductRow *found = findProduct(target, scheduledProduct(source.form.schedule));
  return found ? *found : plainRow;
}

mlir::LogicalResult checkProduct(const KernelSource &source, const CpuTarget &target) {
  const cpu::Product product = scheduledProduct(source.form.schedule);
  if (findProduct(target, product))
    return mlir::success();
  return source.function.emitError() << reportName(product) << " is no instruction of this CPU for products";
}

bool packsAlongPlaces(const MatmulTraits &traits) {
  // Copying a row of taps takes as long as some ten elements one by one.
  constexpr int64_t longestShortRun = 12, leastLine = 8;
  return traits.windowLine >= leastLine && (traits.windowPitch == 1 || traits.windowRun <= longestShortRun);
}

} // namespace halftone::compiler
