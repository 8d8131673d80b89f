// A pass plugin with one fault of each kind: a wrong value, invalid IR, a crash.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include <cstdlib>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::test {
namespace {

/// Exchanges the operands of each difference whose right operand is a product.
void exchangeOperands(Operation *op) {
  if (auto sub = dyn_cast<SubOp>(op); sub && sub->getOperand(1).getDefiningOp<MulOp>())
    sub->setOperands({sub->getOperand(1), sub->getOperand(0)});
}

/// Gives each concat of three operands an excess row.
void addRow(Operation *op) {
  auto concat = dyn_cast<ConcatOp>(op);
  if (!concat || concat->getNumOperands() != 3)
    return;
  const RankedTensorType type = tensorTypeOf(concat->getResult(0));
  SmallVector<int64_t> shape(type.getShape());
  ++shape[0];
  concat->getResult(0).setType(type.clone(shape));
}

/// Aborts the process at a reduction of a select.
void crash(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce->getOperand(0).getDefiningOp<SelectOp>())
    std::abort();
}

class FaultyPass : public PassWrapper<FaultyPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FaultyPass)
  FaultyPass(StringRef flag, void (*fault)(Operation *)) : flag(flag), fault(fault) {}

private:
  StringRef getArgument() const override { return flag; }
  StringRef getDescription() const override { return "Is wrong on purpose"; }
  void runOnOperation() override { getOperation()->walk(fault); }

  StringRef flag;
  void (*fault)(Operation *);
};

} // namespace
} // namespace halftone::test

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo mlirGetPassPluginInfo() {
  using namespace halftone::test;
  return {MLIR_PLUGIN_API_VERSION, "faults", "1", [] {
            registerPass([] { return std::make_unique<FaultyPass>("exchange-operands", exchangeOperands); });
            registerPass([] { return std::make_unique<FaultyPass>("add-row", addRow); });
            registerPass([] { return std::make_unique<FaultyPass>("crash", crash); });
          }};
}
