// verify-stage: the legal ops of each stage as a table, and a few further rules.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/Forms.h"
#include "compiler/passes/Passes.h"
#include "compiler/reports/LayerPath.h"
#include "dialect/ControlFlow.h"
#include "dialect/Decisions.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/plan/Signature.h"
#include "runtime/policy/LegacyPolicy.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "compiler/passes/Passes.h.inc"

namespace {

class VerifyStage : public impl::VerifyStagePassBase<VerifyStage> {
public:
  using VerifyStagePassBase::VerifyStagePassBase;

private:
  void runOnModule() override;
};

/// Collects findings. Each is an error; checking continues after an error.
class Checker {
public:
  Checker(ModuleOp module, Stage stage) : module(module), stage(stage), symbols(module) {}
  LogicalResult check();

private:
  InFlightDiagnostic report(Operation *op) {
    failed = true;
    auto layer = isa<LayerOp>(op) ? cast<LayerOp>(op) : op->getParentOfType<LayerOp>();
    return emitError(withLayerPath(layer ? layer.getPath() : "", op->getLoc()))
           << "'" << op->getName() << "' op is not legal in stage " << name(stage) << ": ";
  }
  func::FuncOp checkTopLevel();
  void checkSignature(func::FuncOp main);
  void checkTies(func::FuncOp main);
  void checkOp(Operation *op);
  void checkLayer(LayerOp layer);
  void checkState(Operation *op);
  void checkMainOfKernels(Operation *op);
  void checkSizes();
  void checkKernel(KernelOp kernel);
  VariableOp lookup(FlatSymbolRefAttr symbol) { return symbols.lookup<VariableOp>(symbol.getValue()); }

  ModuleOp module;
  Stage stage;
  SymbolTable symbols;
  bool failed = false;
};

func::FuncOp Checker::checkTopLevel() {
  func::FuncOp main;
  for (Operation &op : module.getBody()->getOperations()) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      if (function.getSymName() != "main" || function.isExternal())
        report(&op) << "expected one function with a body, @main";
      else
        main = function;
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (stage != Stage::kernel)
        report(&op) << "kernels are created by outline-kernels; expected only variables and @main";
      else
        checkKernel(kernel);
    } else if (isa<ShadowOp>(op)) {
      if (stage != Stage::kernel)
        report(&op) << "shadows are created by hoist-shadows; expected only variables and @main";
    } else if (!isa<VariableOp>(op)) {
      report(&op) << "expected only variables" << (stage == Stage::kernel ? ", shadows, kernels " : " ")
                  << "and @main at the top level";
    }
  }
  if (!main) {
    failed = true;
    module.emitError() << "a module in stage " << name(stage) << " expects a function @main";
  }
  return main;
}

bool isTensor(Type type, bool mayBePacked) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && dtypeOf(tensor.getElementType()) &&
         (!tensor.getEncoding() || (mayBePacked && PanelsAttr::of(type)));
}

/// Arguments: feeds with names, then (from stage pure) variables. Results: fetches with names, then new values.
void Checker::checkSignature(func::FuncOp main) {
  if (!main.getBody().hasOneBlock()) {
    report(main) << "expected a body with a single block";
    return;
  }
  bool tied = stage >= Stage::pure;
  auto checkList = [&](TypeRange types, auto attribute, StringRef what) {
    bool variables = false;
    llvm::SmallPtrSet<Attribute, 16> names;
    for (auto [i, type] : llvm::enumerate(types)) {
      auto name = dyn_cast_or_null<StringAttr>(attribute(i, nameAttr));
      bool shadow = stage == Stage::kernel && isa_and_nonnull<FlatSymbolRefAttr>(attribute(i, shadowAttr));
      bool variable = shadow || isa_and_nonnull<FlatSymbolRefAttr>(attribute(i, variableAttr));
      if (!isTensor(type, shadow))
        report(main) << what << " " << i << " has type " << type
                     << "; expected a tensor of static shape and known dtype";
      if (variable && !tied)
        report(main) << what << " " << i << " has " << variableAttr
                     << "; expected state to be accessed by read and assign";
      else if ((name != nullptr) == variable)
        report(main) << what << " " << i << " expects " << (tied ? "either " : "") << "a " << nameAttr
                     << (tied ? " or a halftone.variable" : "");
      else if (name && variables)
        report(main) << what << " " << i
                     << " has a name, but follows one that represents a variable; expected named ones first";
      else if (name && !names.insert(name).second)
        report(main) << what << " " << i << " has the name " << name << ", which another one has too";
      variables |= variable;
    }
  };
  checkList(main.getArgumentTypes(), [&](unsigned i, StringRef key) { return main.getArgAttr(i, key); }, "argument");
  checkList(main.getResultTypes(), [&](unsigned i, StringRef key) { return main.getResultAttr(i, key); }, "result");
  if (tied)
    checkTies(main);
}

void Checker::checkTies(func::FuncOp main) {
  auto checkTie = [&](Attribute tie, Type type, StringRef what, unsigned i, llvm::SmallPtrSetImpl<Attribute> &seen) {
    auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(tie);
    if (!symbol)
      return;
    VariableOp variable = lookup(symbol);
    if (!variable)
      report(main) << what << " " << i << " represents " << symbol << "; expected the symbol of a variable";
    else if (variable.getType() != type)
      report(main) << what << " " << i << " of type " << type << " represents " << symbol << " of type "
                   << variable.getType() << "; expected equal types";
    if (!seen.insert(symbol).second)
      report(main) << what << " " << i << " represents " << symbol << ", as an earlier one does";
  };
  auto checkShadow = [&](Attribute tie, Type type, StringRef what, unsigned i) {
    auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(tie);
    if (!symbol)
      return;
    auto shadow = symbols.lookup<ShadowOp>(symbol.getValue());
    if (!shadow)
      report(main) << what << " " << i << " represents " << symbol << "; expected the symbol of a shadow";
    else if (shadow.getType() != type)
      report(main) << what << " " << i << " of type " << type << " represents " << symbol << " of type "
                   << shadow.getType() << "; expected equal types";
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    checkShadow(main.getArgAttr(i, shadowAttr), main.getArgumentTypes()[i], "argument", i);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    checkShadow(main.getResultAttr(i, shadowAttr), main.getResultTypes()[i], "result", i);
  llvm::SmallPtrSet<Attribute, 16> arguments, results;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    checkTie(main.getArgAttr(i, variableAttr), main.getArgumentTypes()[i], "argument", i, arguments);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    checkTie(main.getResultAttr(i, variableAttr), main.getResultTypes()[i], "result", i, results);
}

void Checker::checkState(Operation *op) {
  auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("variable");
  VariableOp variable = lookup(symbol);
  if (!variable) {
    report(op) << "names " << symbol << "; expected the symbol of a variable";
    return;
  }
  auto read = dyn_cast<ReadOp>(op);
  if (read && stage == Stage::cast && read.getValue().getType() != variable.getType())
    report(op) << "has type " << read.getValue().getType() << " for " << symbol << " of type " << variable.getType()
               << "; expected a cast after a read of the variable's type";
}

/// A layer casts its operands to the compute dtype of its policy and to nothing else.
void Checker::checkLayer(LayerOp layer) {
  for (auto [operand, argument] : llvm::zip_equal(layer.getInputs().getTypes(), layer.getBody().getArgumentTypes())) {
    if (operand == argument)
      continue;
    Type element = cast<RankedTensorType>(argument).getElementType(), compute;
    try {
      compute = elementType(layer.getContext(), policyNamed(layer.getPolicy().str()).compute_dtype());
    } catch (const Error &error) {
      report(layer) << error.message();
      return;
    }
    if (element != compute)
      report(layer) << "\"" << layer.getPath() << "\" converts an operand of type " << operand << " to " << argument
                    << "; expected a cast to " << compute << ", the compute dtype of policy " << layer.getPolicyAttr();
  }
}

void Checker::checkMainOfKernels(Operation *op) {
  if (!isBranchOrLoop(op) && !isa<LaunchOp, ReshapeOp, ConstantOp, CollectiveOpInterface, YieldOp>(op))
    report(op) << "expected only launch, when, scan, while, reshape, constant and collectives outside kernels";
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op); loop && !loop.getLoopRegions().back()->getArgument(0).use_empty())
    report(op) << "expected a carry instead of its index, which no kernel can read";
}

/// Checks that the kind matches the ops. The shapes that may meet in a kernel are up to form-kernels.
void Checker::checkKernel(KernelOp kernel) {
  int64_t contractions = 0, reductions = 0, scatters = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<ScanOp>(op)) // of a recurrence
      continue;
    contractions += isa<ContractOp>(op);
    scatters += isa<ScatterAddOp, ScatterOp>(op);
    reductions += isa<ReduceOp, ArgReduceOp>(op);
    if (!isa<ComputeOpInterface>(op) || isa<ReduceAllOp, StopGradientOp, HoldOp>(op)) // replaced by passes
      report(&op)
          << "expected an op that computes a tensor, other than reduce_all, stop_gradient and hold, in a kernel";
  }
  StringRef kind = stringifyKernelKind(kernel.getKind());
  if (contractions > 1 || scatters > 1)
    report(kernel) << "a kernel of kind " << kind << " has " << std::max(contractions, scatters) << " "
                   << (scatters > 1 ? "scatters" : "contractions") << "; expected at most one";
  if (contractions + scatters > 0 && reductions > 0)
    report(kernel) << "a kernel of kind " << kind << " has a reduction; expected partial_reduce only";
  if (KernelKind found = kindOf(kernel.getBody().front()); found != kernel.getKind())
    report(kernel) << "a kernel of kind " << kind << " contains the ops of a kernel of kind "
                   << stringifyKernelKind(found);
  for (Value value : valuesToRound(kernel))
    report(value.getDefiningOp()) << "a decision in this kernel depends on it; expected a rounding cast to "
                                  << value.getType() << " between them, so that the decision uses the stored value";
}

void Checker::checkOp(Operation *op) {
  if (!isa<HalftoneDialect>(op->getDialect())) {
    if (!isa<func::ReturnOp>(op))
      report(op) << "expected ops of the halftone dialect";
    return;
  }
  if (op->hasAttr(rematerializeAttr) && stage >= Stage::pure)
    report(op) << "expected no '" << rematerializeAttr << "' after differentiate";
  if (isa<LayerOp>(op) && stage != Stage::graph)
    report(op) << "expected no layer after inline-layers";
  else if (isa<ReadOp, AssignOp>(op) && stage >= Stage::pure)
    report(op) << "expected state to be arguments and results after lift-variables";
  else if (isa<ReadOp, AssignOp>(op))
    checkState(op);
  else if (isa<GradientOp, StopGradientOp, CustomGradientOp>(op) && stage >= Stage::pure)
    report(op) << "expected none after differentiate";
  else if (isa<LaunchOp, PartialReduceOp, PackOp>(op) && stage < Stage::kernel)
    report(op) << "expected none before kernels are formed";
  else if (auto cast = dyn_cast<CastOp>(op); cast && stage < Stage::kernel && cast.getKind() != CastKind::rounding)
    report(op) << "storage casts are created with kernels; expected kind rounding";
  else if (auto layer = dyn_cast<LayerOp>(op))
    checkLayer(layer);
  else if (stage == Stage::kernel)
    checkMainOfKernels(op);
}

/// Reports only the first tensor that no memory could hold, since later checks compute with sizes.
void Checker::checkSizes() {
  const auto check = [&](Operation *op, TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.hasStaticShape())
        if (std::optional<DType> dtype = dtypeOf(tensor.getElementType()))
          if (Status status = verify(TensorType{*dtype, tensor.getShape().vec()}); !status) {
            report(op) << status.message();
            return WalkResult::interrupt();
          }
    return WalkResult::advance();
  };
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op); function && function.isExternal())
      return check(op, function.getArgumentTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (check(op, block.getArgumentTypes()).wasInterrupted())
          return WalkResult::interrupt();
    if (auto variable = dyn_cast<VariableOp>(op))
      return check(op, Type(variable.getType()));
    return check(op, op->getResultTypes());
  });
}

LogicalResult Checker::check() {
  checkSizes();
  if (failed)
    return failure();
  if (func::FuncOp main = checkTopLevel()) {
    checkSignature(main);
    main.getBody().walk([&](Operation *op) { checkOp(op); });
  }
  return success(!failed);
}

void VerifyStage::runOnModule() {
  markAllAnalysesPreserved();
  if (stage > Stage::kernel) {
    getOperation().emitError() << "a module cannot be in stage " << name(stage)
                               << "; expected graph, cast, pure or kernel";
    return signalPassFailure();
  }
  if (failed(Checker(getOperation(), stage).check()))
    signalPassFailure();
}

} // namespace
} // namespace halftone::compiler
