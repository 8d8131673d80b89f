// choose-layouts: chooses tiles of contractions, packed layouts of weights, and splits of long sums.
// SPDX-License-Identifier: Apache-2.0
//
//   %1 = contract %x, %w {lhs_contract = [1], rhs_contract = [1]}
// becomes
//   %1 = contract %x, %w {lhs_contract = [1], rhs_contract = [1], tile = [96, 128]}
//   (of pack %w if %w is a weight that @main only reads; its type gives the order in which a matmul reads it)
// SplitDepth.cpp shows a split of K, JoinDepth.cpp an operand with K as one axis, SplitAttention.cpp a split gradient
// of attention, WeightMatrices.cpp a weight of rank above 2.
#include "compiler/forms/KernelBody.h"
#include "compiler/passes/JoinDepth.h"
#include "compiler/passes/ModuleAttributes.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/SplitAttention.h"
#include "compiler/passes/SplitDepth.h"
#include "compiler/passes/UnpackedIntegers.h"
#include "compiler/passes/WeightMatrices.h"
#include "compiler/targets/Target.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_CHOOSELAYOUTSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

void setTile(ContractOp op, const Blocking &blocking, Numerics numerics) {
  MatmulTraits traits = matmulTraits(op);
  traits.numerics = numerics;
  const MatmulTile tile = blocking.matmulTile(traits);
  op.setTile(ArrayRef<int64_t>{tile.m, tile.n});
}

/// Returns true if `value` is a weight that @main only reads, as stored or through a cast. hoist-shadows keeps its
/// packed copy, which is computed once. (Updating packed copies along with the weight would cost more than the products
/// gain.)
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

/// The value that @main returns for each variable.
DenseMap<Attribute, Value> newValuesOf(ModuleOp module) {
  DenseMap<Attribute, Value> values;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && !main.isExternal())
    for (OpOperand &result : main.getBody().front().getTerminator()->getOpOperands())
      if (Attribute symbol = main.getResultAttr(result.getOperandNumber(), variableAttr))
        values[symbol] = result.get();
  return values;
}

/// Returns true if `value` is unpacked from int4 elements, two per byte, of a fixed weight.
bool isFixedHalves(Value value, SymbolTable &symbols, const DenseMap<Attribute, Value> &newValues) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  auto down = value.getDefiningOp<ShrOp>();
  auto amount = down ? down->getOperand(1).getDefiningOp<ConstantOp>() : ConstantOp();
  auto bits = amount ? dyn_cast<DenseIntElementsAttr>(amount.getValue()) : DenseIntElementsAttr();
  if (!bits || !bits.isSplat() || bits.getSplatValue<APInt>() != 4 || !bits.getElementType().isSignlessInteger(8))
    return false;
  while (isa_and_nonnull<ReshapeOp, ShrOp, ShlOp, BroadcastOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isFixedWeight(value, symbols, newValues);
}

Value packed(OpBuilder &builder, Value matrix, int64_t depth, const WeightPanels &panels) {
  auto layout = PanelsAttr::get(builder.getContext(), depth, panels.columns, panels.group, panels.bits);
  auto type = RankedTensorType::get(tensorTypeOf(matrix).getShape(), tensorTypeOf(matrix).getElementType(), layout);
  return PackOp::create(builder, matrix.getLoc(), type, matrix);
}

/// Rewrites a contraction by a weight of rank above 2 as a matmul if the target has a packed layout for that weight;
/// otherwise returns `op`.
ContractOp withMatrix(ContractOp op, const Target &target, Numerics numerics) {
  const std::optional<WeightMatrix> matrix = WeightMatrix::of(op);
  const auto dtype = dtypeOf(tensorTypeOf(op.getRhs()).getElementType());
  const bool isPacked =
      matrix && dtype && target.lowerings().weightPanels(numerics, *dtype, matrix->depth, matrix->columns);
  return isPacked ? multiplyByMatrix(op, *matrix) : op;
}

/// Packs the right operand. Returns false if the target has no packed layout for it.
bool packWeight(ContractOp op, const Target &target, Numerics numerics) {
  auto type = tensorTypeOf(op.getRhs());
  const int64_t depth = op.getRhsContract()[0];
  auto dtype = dtypeOf(type.getElementType());
  auto panels =
      dtype ? target.lowerings().weightPanels(numerics, *dtype, type.getDimSize(depth), type.getDimSize(1 - depth))
            : std::nullopt;
  if (!panels)
    return false;
  OpBuilder builder(op);
  op.getRhsMutable().assign(packed(builder, op.getRhs(), depth, *panels));
  return true;
}

/// Finds the int4 weight, two elements per byte, from which casts and other elementwise ops compute the right operand
/// of a contraction.
class HalfByteWeight {
public:
  HalfByteWeight(SymbolTable &symbols, const DenseMap<Attribute, Value> &newValues)
      : symbols(symbols), newValues(newValues) {}

  /// Returns the weight's elements, or null. In strict numerics each op on them is a separate kernel, which reads no
  /// packed copy.
  Value under(Value rhs, Numerics numerics) const { return find(rhs, numerics.formsAlone() ? 0 : maxOps); }

  /// Rebuilds `value` with `kept` in place of `halves`.
  static Value rebuilt(OpBuilder &builder, Value value, Value halves, Value kept) {
    if (value == halves)
      return kept;
    Operation *op = value.getDefiningOp();
    if (!op || !isElementwise(op))
      return value;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(rebuilt(builder, operand, halves, kept));
    if (llvm::equal(operands, op->getOperands()))
      return value;
    Operation *own = builder.clone(*op);
    own->setOperands(operands);
    return own->getResult(0);
  }

private:
  static constexpr int maxOps = 4; // in a chain

  static bool isElementwise(Operation *op) {
    auto compute = dyn_cast<ComputeOpInterface>(op);
    return isa<ElementwiseOpInterface>(op) && !(compute && compute.isTranscendental());
  }

  Value find(Value value, int ops) const {
    if (isFixedHalves(value, symbols, newValues))
      return value;
    Operation *op = value.getDefiningOp();
    if (op && ops > 0 && isElementwise(op))
      for (Value operand : op->getOperands())
        if (Value found = find(operand, ops - 1))
          return found;
    return {};
  }

  SymbolTable &symbols;
  const DenseMap<Attribute, Value> &newValues;
};

/// Like packWeight, for a weight with two elements per byte. The ops on the elements read the packed copy.
bool packHalves(ContractOp op, Value halves, const Target &target) {
  auto type = tensorTypeOf(halves);
  auto lhs = dtypeOf(tensorTypeOf(op.getLhs()).getElementType());
  const bool isRead =
      lhs && !op.getLhs().getDefiningOp<WindowOp>() && type.getShape() == tensorTypeOf(op.getRhs()).getShape();
  auto panels = isRead ? target.lowerings().halfBytePanels(*lhs, type.getDimSize(0), type.getDimSize(1)) : std::nullopt;
  if (!panels)
    return false;
  OpBuilder builder(op);
  Value kept = packed(builder, halves, 0, *panels);
  op.getRhsMutable().assign(HalfByteWeight::rebuilt(builder, op.getRhs(), halves, kept));
  return true;
}

/// Returns true if a loop stacked the right operand. Its elements may then become subnormal over the steps, as
/// cotangents do. The smallest f16 is 2^-24, which no CPU handles slowly.
bool mayVanish(ContractOp op) {
  Value value = op.getRhs();
  const Type element = tensorTypeOf(value).getElementType();
  if (!element.isF32() && !element.isBF16())
    return false;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto scan = value.getDefiningOp<ScanOp>();
  return scan && cast<OpResult>(value).getResultNumber() >= scan.getInits().size();
}

class ChooseLayouts : public impl::ChooseLayoutsPassBase<ChooseLayouts> {
public:
  using ChooseLayoutsPassBase::ChooseLayoutsPassBase;

private:
  void runOnModule() override {
    const FailureOr<CompiledFor> compiled = compiledFor(getOperation(), target, strict, Target::reference);
    if (failed(compiled))
      return signalPassFailure();
    const Target &machine = *compiled->target;
    const Numerics numerics = compiled->numerics;
    SymbolTable symbols(getOperation());
    const DenseMap<Attribute, Value> newValues = newValuesOf(getOperation());
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"); main && !main.isExternal())
      castUnpackedLast(main);
    const HalfByteWeight halfBytes(symbols, newValues);
    const Blocking &blocking = machine.blocking(numerics);
    SmallVector<ContractOp> contractions;
    getOperation()->walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions) {
      const bool isFixed = isFixedWeight(op.getRhs(), symbols, newValues);
      if (isFixed && !windowOf(op))
        op = withMatrix(op, machine, numerics);
      if (!numerics.fixesOrder())
        joinDepth(op, machine.lowerings());
      const Value rhs = op.getRhs();
      const bool isMatrix =
          tensorTypeOf(rhs).getRank() == 2 && op.getRhsContract().size() == 1 && op.getRhsFree().size() == 1;
      const Value halves = isMatrix && op.getRhsContract()[0] == 0 ? halfBytes.under(rhs, numerics) : Value();
      const bool isPacked =
          isMatrix && ((isFixed && packWeight(op, machine, numerics)) || (halves && packHalves(op, halves, machine)));
      const bool vanishes = !numerics.fixesOrder() && mayVanish(op);
      if (!numerics.fixesOrder() && !isPacked)
        op = splitDepth(op, blocking);
      if (vanishes)
        op->setAttr(vanishesAttr, UnitAttr::get(op.getContext()));
      setTile(op, blocking, numerics);
    }
    if (!numerics.fixesOrder())
      getOperation()->walk([&](AttentionGradOp op) { splitAttention(op, blocking); });
  }
};

} // namespace
} // namespace halftone::compiler
