// Multiply-adds, and the choice of a CPU's product.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/Products.h"
#include "compiler/kernels/MatmulSource.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

namespace halftone::compiler {

// The tables of the architectures, each defined in the folder with its name.
llvm::ArrayRef<ProductRow> x86Products();

namespace {

constexpr ProductRow plainRow{
    .product = cpu::Product::multiply_add,
    .group = 1,
    .exact = true,
    .takesIntegers = false,
    .signedOperands = true,
    .isAvailable = [](const llvm::MCSubtargetInfo &) { return true; },
    .isProfitable = [](const CpuTarget &, const MatmulTraits &) { return true; },
    .multiply = [](CodeBuilder &, Emitted sums, Emitted a, Emitted b) { return sums + a * b; },
    .multiplyWidened = nullptr,
};

struct Architecture {
  bool (*isOf)(const llvm::Triple &triple);
  llvm::ArrayRef<ProductRow> (*products)();
};

constexpr Architecture architectures[] = {
    {[](const llvm::Triple &triple) { return triple.isX86(); }, x86Products},
};

/// Groups are neighbours along a row of a window; pairs can also be formed from the rows of two positions.
bool formsGroupsOfWindow(const ProductRow &row, const MatmulTraits &traits) {
  return !packsAlongPositions(traits) && (traits.lhsAlongDepth || row.group == 2);
}

/// Returns true if the contraction widens elements of `factor` to 32 bits from i8, or from bf16 in the form that
/// legalize-storage emits.
bool isMemberOfGroups(const ProductRow &row, mlir::OpOperand &factor) {
  using namespace mlir;
  auto contraction = cast<linalg::GenericOp>(factor.getOwner());
  const Value member = contraction.getMatchingBlockArgument(&factor);
  const Value widened = MatmulSource::factorOf(contraction, int(factor.getOperandNumber()));
  if (member.getType().getIntOrFloatBitWidth() * row.group != 32)
    return false;
  if (row.takesIntegers)
    return widened.getType().isInteger(32) && matchPattern(widened, m_Op<arith::ExtSIOp>(matchers::m_Val(member)));
  return isWidenedNarrow(widened, member, BFloat16Type::get(contraction.getContext()));
}

cpu::Product scheduledProduct(ScheduleAttrInterface schedule) {
  if (auto matmul = llvm::dyn_cast<cpu::MatmulScheduleAttr>(schedule))
    return matmul.getProduct();
  if (auto recurrence = llvm::dyn_cast<cpu::RecurrenceScheduleAttr>(schedule))
    return recurrence.getProduct();
  return llvm::cast<cpu::AttentionScheduleAttr>(schedule).getProduct();
}

} // namespace

std::vector<const ProductRow *> productsOf(const llvm::Triple &triple, const llvm::MCSubtargetInfo &features) {
  std::vector<const ProductRow *> products;
  for (const Architecture &architecture : architectures)
    if (architecture.isOf(triple))
      for (const ProductRow &row : architecture.products())
        if (row.isAvailable(features))
          products.push_back(&row);
  products.push_back(&plainRow);
  return products;
}

const ProductRow &rowOf(cpu::Product product) {
  for (const Architecture &architecture : architectures)
    for (const ProductRow &row : architecture.products())
      if (row.product == product)
        return row;
  assert(product == plainRow.product && "every other product has a row in a table");
  return plainRow;
}

const ProductRow &chooseProduct(const CpuTarget &target, const MatmulTraits &traits) {
  return **llvm::find_if(target.products, [&](const ProductRow *row) {
    const bool hasFactors = row->group == 1 || !traits.window || formsGroupsOfWindow(*row, traits);
    return hasFactors && (row->exact || !traits.numerics.fixesOrder()) && row->isProfitable(target, traits);
  });
}

const ProductRow *findProduct(const CpuTarget &target, cpu::Product product) {
  const auto row = llvm::find_if(target.products, [&](const ProductRow *each) { return each->product == product; });
  return row == target.products.end() ? nullptr : *row;
}

const ProductRow &productOf(const KernelSource &source, const CpuTarget &target) {
  const ProductRow *found = findProduct(target, scheduledProduct(source.form.schedule));
  return found ? *found : plainRow;
}

mlir::LogicalResult checkProduct(const KernelSource &source, const CpuTarget &target,
                                 llvm::ArrayRef<mlir::OpOperand *> factors) {
  const cpu::Product product = scheduledProduct(source.form.schedule);
  const ProductRow *row = findProduct(target, product);
  if (!row)
    return source.function.emitError() << reportName(product) << " is not a product that this CPU supports";
  for (mlir::OpOperand *factor : factors)
    if (row->group > 1 && !isMemberOfGroups(*row, *factor))
      return source.function.emitError() << reportName(product) << " with factors of "
                                         << mlir::getElementTypeOrSelf(factor->get()) << " in memory; expected "
                                         << (row->takesIntegers ? "i8 in i32" : "bf16 in f32");
  return mlir::success();
}

bool packsAlongPositions(const MatmulTraits &traits) {
  // Copying a row of taps takes as long as copying some ten elements one by one.
  constexpr int64_t longestShortRun = 12, minLine = 8;
  return traits.windowLine >= minLine && (traits.windowPitch == 1 || traits.windowRun <= longestShortRun);
}

bool holdsWholeVectors(const CpuTarget &target, int64_t run, DType dtype) {
  return run > 0 && run % (target.vectorBytes / itemsize(dtype)) == 0;
}

Emitted firstOfPairs(Emitted pairs) { return (pairs.bits() << 16).bitsAs(pairs.f32()); }
Emitted secondOfPairs(Emitted pairs) { return (pairs.bits() & int64_t(0xffff0000)).bitsAs(pairs.f32()); }

} // namespace halftone::compiler
