// choose-templates: blockings of contractions, layouts of weights, and long sums in parts.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = contract %x, %w {lhs_contract = [1], rhs_contract = [1]}
// becomes
//   %1 = contract %x, %w {lhs_contract = [1], rhs_contract = [1], tile = [96, 128]}
//   (of pack %w, where %w is a weight that stays: its type says in which order a matmul reads it)
// SplitDepth.cpp shows a sum in parts.
#include "compiler/passes/Passes.h"
#include "compiler/passes/SplitDepth.h"
#include "compiler/targets/Target.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_CHOOSETEMPLATESPASS
#include "compiler/passes/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

void setTile(ContractOp op, const Blocking &blocking) {
  const auto [batch, m, n, k] = MatmulExtents::of(op);
  const MatmulTile tile = blocking.matmulTile(batch, m, n, k);
  op.setTile(ArrayRef<int64_t>{tile.m, tile.n});
}

/// Whether `value` is a weight that @main only reads, as it is stored or cast: hoist-shadows keeps its packed copy,
/// which is made once. (An update that wrote packed copies too took longer than its products gained.)
bool isFixedWeight(Value value, SymbolTable &symbols, const DenseMap<Attribute, Value> &newValues) {
  if (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getX();
  auto argument = dyn_cast<BlockArgument>(value);
  auto main = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto symbol =
      main ? main.getArgAttrOfType<FlatSymbolRefAttr>(argument.getArgNumber(), variableAttr) : FlatSymbolRefAttr();
  auto variable = symbol ? symbols.lookup<VariableOp>(symbol.getValue()) : VariableOp();
  if (!variable || variable.getRole() != VariableRole::weight)
    return false;
  auto fresh = newValues.find(symbol);
  return fresh == newValues.end() || fresh->second == value;
}

/// The value that @main gives back for each variable.
DenseMap<Attribute, Value> newValuesOf(ModuleOp module) {
  DenseMap<Attribute, Value> values;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && !main.isExternal())
    for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands())
      if (Attribute symbol = main.getResultAttr(result.getOperandNumber(), variableAttr))
        values[symbol] = result.get();
  return values;
}

/// False if the target has no layout for the weight.
bool packWeight(ContractOp op, const Target &target, bool strict) {
  auto type = typeOf(op.getRhs());
  const int64_t depth = op.getRhsContract()[0];
  auto dtype = dtypeOf(type.getElementType());
  auto panels =
      dtype ? target.weightPanels(strict, *dtype, type.getDimSize(depth), type.getDimSize(1 - depth)) : std::nullopt;
  if (!panels)
    return false;
  OpBuilder builder(op);
  auto layout = PanelsAttr::get(op.getContext(), depth, panels->columns, panels->group);
  auto packed = RankedTensorType::get(type.getShape(), type.getElementType(), layout);
  op.getRhsMutable().assign(PackOp::create(builder, op.getRhs().getLoc(), packed, op.getRhs()));
  return true;
}

class ChooseTemplates : public impl::ChooseTemplatesPassBase<ChooseTemplates> {
public:
  using ChooseTemplatesPassBase::ChooseTemplatesPassBase;

private:
  void runOnOperation() override {
    auto found = Target::find(target);
    if (!found) {
      getOperation().emitError() << found.status().message();
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    const DenseMap<Attribute, Value> newValues = newValuesOf(getOperation());
    const Blocking &blocking = (*found)->blocking();
    getOperation()->walk([&](ContractOp op) {
      const bool isPacked = typeOf(op.getRhs()).getRank() == 2 && op.getRhsContract().size() == 1 &&
                            op.getRhsFree().size() == 1 && isFixedWeight(op.getRhs(), symbols, newValues) &&
                            packWeight(op, **found, strict);
      setTile(strict || isPacked ? op : splitDepth(op, blocking), blocking);
    });
  }
};

} // namespace
} // namespace halftone::compiler
