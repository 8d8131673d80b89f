// A plugin of deliberately wrong passes: `lies` breaks what a pass must preserve; others end as no pass may end.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include <cstdlib>
#include <stdexcept>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::test {
namespace {

Value zeroOf(OpBuilder &builder, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return ConstantOp::create(builder, like.getLoc(),
                            DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }
Operation *returnOf(ModuleOp module) { return mainOf(module).getBody().front().getTerminator(); }

/// Sets the type of @main to match its arguments and the operands of return, with these result attributes.
void settle(func::FuncOp main, ArrayRef<Attribute> results) {
  main.setType(FunctionType::get(main.getContext(), main.getBody().getArgumentTypes(),
                                 main.getBody().front().getTerminator()->getOperandTypes()));
  main.setResAttrsAttr(results.empty() ? nullptr : ArrayAttr::get(main.getContext(), results));
}
SmallVector<Attribute> resultAttributes(func::FuncOp main) {
  if (ArrayAttr all = main.getResAttrsAttr())
    return SmallVector<Attribute>(all.getValue());
  return {};
}

bool dropFetch(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  SmallVector<Attribute> attributes = resultAttributes(main);
  if (at >= main.getNumResults())
    return false;
  returnOf(module)->eraseOperand(at);
  attributes.erase(attributes.begin() + at);
  settle(main, attributes);
  return true;
}
bool repeatFetch(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  SmallVector<Attribute> attributes = resultAttributes(main);
  if (at >= main.getNumResults())
    return false;
  returnOf(module)->insertOperands(main.getNumResults(), returnOf(module)->getOperand(at));
  attributes.push_back(DictionaryAttr::get(
      module.getContext(),
      Builder(module.getContext()).getNamedAttr(nameAttr, StringAttr::get(module.getContext(), "again"))));
  settle(main, attributes);
  return true;
}
bool renameFetch(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at >= main.getNumResults() || !main.getResultAttr(at, nameAttr))
    return false;
  main.setResultAttr(at, nameAttr, StringAttr::get(module.getContext(), "other"));
  return true;
}
bool swapFetches(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  SmallVector<Attribute> attributes = resultAttributes(main);
  if (at + 1 >= main.getNumResults())
    return false;
  Operation *end = returnOf(module);
  Value first = end->getOperand(at);
  end->setOperand(at, end->getOperand(at + 1));
  end->setOperand(at + 1, first);
  std::swap(attributes[at], attributes[at + 1]);
  settle(main, attributes);
  return true;
}
/// Exchanges two fetches, under their old names.
bool crossFetches(ModuleOp module, unsigned at) {
  Operation *end = returnOf(module);
  if (at + 1 >= end->getNumOperands() || end->getOperand(at).getType() != end->getOperand(at + 1).getType())
    return false;
  Value first = end->getOperand(at);
  end->setOperand(at, end->getOperand(at + 1));
  end->setOperand(at + 1, first);
  return true;
}
bool renameFeed(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at >= main.getNumArguments() || !main.getArgAttr(at, nameAttr))
    return false;
  main.setArgAttr(at, nameAttr, StringAttr::get(module.getContext(), "other"));
  return true;
}
bool unnameFeed(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  return at < main.getNumArguments() && main.removeArgAttr(at, nameAttr) != nullptr;
}
bool addFeed(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at > main.getNumArguments())
    return false;
  Builder builder(module.getContext());
  return succeeded(main.insertArgument(
      at, RankedTensorType::get({2}, builder.getF32Type()),
      builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr("more"))), main.getLoc()));
}
/// Removes a feed and computes with zeros instead.
bool dropFeed(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at >= main.getNumArguments())
    return false;
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  main.getArgument(at).replaceAllUsesWith(zeroOf(builder, main.getArgument(at)));
  return succeeded(main.eraseArgument(at));
}
bool swapFeeds(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at + 1 >= main.getNumArguments())
    return false;
  BlockArgument moved = main.getArgument(at);
  if (failed(main.insertArgument(at + 2, moved.getType(), main.getArgAttrDict(at), moved.getLoc())))
    return false;
  moved.replaceAllUsesWith(main.getArgument(at + 2));
  return succeeded(main.eraseArgument(at));
}
/// Takes a feed as float16, and casts it to the type that the ops expect.
bool retypeFeed(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at >= main.getNumArguments())
    return false;
  BlockArgument feed = main.getArgument(at);
  auto type = cast<RankedTensorType>(feed.getType());
  if (!type.getElementType().isF32())
    return false;
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  feed.setType(type.clone(builder.getF16Type()));
  auto cast = CastOp::create(builder, main.getLoc(), TypeRange{type}, ValueRange{feed});
  feed.replaceAllUsesExcept(cast, cast);
  settle(main, resultAttributes(main));
  return true;
}

VariableOp variableAt(ModuleOp module, unsigned at) {
  for (auto variable : module.getOps<VariableOp>())
    if (at-- == 0)
      return variable;
  return {};
}
bool dropVariable(ModuleOp module, unsigned at) {
  for (auto variable : module.getOps<VariableOp>())
    if (SymbolTable::symbolKnownUseEmpty(variable, module) && at-- == 0) {
      variable.erase();
      return true;
    }
  return false;
}
bool renameVariable(ModuleOp module, unsigned at) {
  VariableOp variable = variableAt(module, at);
  if (!variable)
    return false;
  auto name = StringAttr::get(module.getContext(), "other");
  if (failed(SymbolTable::replaceAllSymbolUses(variable, name, module)))
    return false;
  variable.setSymNameAttr(name);
  return true;
}
bool addVariable(ModuleOp module, unsigned at) {
  VariableOp variable = variableAt(module, at);
  if (!variable)
    return false;
  OpBuilder builder(variable);
  builder.clone(*variable);
  variable.setSymName("more");
  return true;
}
template <class F> bool setVariable(ModuleOp module, unsigned at, F set) {
  VariableOp variable = variableAt(module, at);
  if (variable)
    set(variable);
  return static_cast<bool>(variable);
}

bool eraseMain(ModuleOp module, unsigned at) {
  if (at == 0)
    mainOf(module).erase();
  return at == 0;
}
bool renameMain(ModuleOp module, unsigned at) {
  if (at == 0)
    mainOf(module).setSymName("other");
  return at == 0;
}
bool externalMain(ModuleOp module, unsigned at) {
  func::FuncOp main = mainOf(module);
  if (at == 0) {
    main.getBody().getBlocks().clear();
    main.setPrivate();
  }
  return at == 0;
}
bool privateMain(ModuleOp module, unsigned at) {
  if (at == 0)
    mainOf(module).setPrivate();
  return at == 0;
}
bool addFunction(ModuleOp module, unsigned at) {
  if (at == 0) {
    func::FuncOp copy = mainOf(module).clone();
    copy.setSymName("other");
    module.push_back(copy);
  }
  return at == 0;
}
bool setModule(ModuleOp module, StringRef name, Attribute value, unsigned at) {
  if (at == 0)
    module->setAttr(name, value);
  return at == 0;
}
bool dropLayers(ModuleOp module, unsigned at) { return at == 0 && module->removeAttr("halftone.layers") != nullptr; }
/// Renames the kernel with this index, and its launches.
bool renameKernel(ModuleOp module, unsigned at) {
  for (auto kernel : module.getOps<KernelOp>())
    if (at-- == 0) {
      auto name = StringAttr::get(module.getContext(), "other");
      (void)SymbolTable::replaceAllSymbolUses(kernel, name, module);
      kernel.setSymNameAttr(name);
      return true;
    }
  return false;
}
template <class F> bool setLayer(ModuleOp module, unsigned at, F set) {
  SmallVector<LayerOp> layers;
  module.walk([&](LayerOp layer) { layers.push_back(layer); });
  if (at < layers.size())
    set(layers[at]);
  return at < layers.size();
}
bool nameModule(ModuleOp module, unsigned at) {
  if (at == 0)
    module.setSymName("other");
  return at == 0;
}

/// Adds a gradient without readers.
bool addGradient(ModuleOp module, unsigned at) {
  VariableOp variable = variableAt(module, at);
  if (!variable || !isa<FloatType>(cast<RankedTensorType>(variable.getType()).getElementType()) ||
      module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return false;
  Operation *end = returnOf(module);
  OpBuilder builder(end);
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  Value one = ConstantOp::create(builder, end->getLoc(), DenseElementsAttr::get(scalar, 1.0f));
  OperationState state(end->getLoc(), GradientOp::getOperationName());
  state.addOperands(one);
  state.addTypes(variable.getType());
  state.addAttribute("of", builder.getArrayAttr(FlatSymbolRefAttr::get(variable.getSymNameAttr())));
  builder.create(state);
  return true;
}

/// The ops whose values a lie can replace: those with one result, a tensor of numbers.
SmallVector<Operation *> computingOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<ComputeOpInterface>(op) && op->getNumResults() == 1 && op->getNumRegions() == 0)
      ops.push_back(op);
  });
  return ops;
}
bool zeroValue(ModuleOp module, unsigned at) {
  SmallVector<Operation *> ops = computingOps(module);
  if (at >= ops.size())
    return false;
  OpBuilder builder(ops[at]);
  ops[at]->getResult(0).replaceAllUsesWith(zeroOf(builder, ops[at]->getResult(0)));
  return true;
}
/// Adds a zero to a negated value, which changes only -0.
bool addZero(ModuleOp module, unsigned at) {
  SmallVector<Operation *> ops = llvm::filter_to_vector(computingOps(module), llvm::IsaPred<NegOp>);
  if (at >= ops.size())
    return false;
  Value value = ops[at]->getResult(0);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(ops[at]);
  auto sum =
      AddOp::create(builder, value.getLoc(), TypeRange{value.getType()}, ValueRange{value, zeroOf(builder, value)});
  value.replaceAllUsesExcept(sum, sum);
  return true;
}
/// Drops an assignment.
bool dropAssignment(ModuleOp module, unsigned at) {
  SmallVector<AssignOp> assignments;
  module.walk([&](AssignOp assign) { assignments.push_back(assign); });
  if (at >= assignments.size())
    return false;
  assignments[at].erase();
  return true;
}

using Tell = std::function<bool(ModuleOp, unsigned)>;

struct Lie {
  const char *name;
  Tell tell;
};

const std::vector<Lie> &lies() {
  static const std::vector<Lie> &all = *new std::vector<Lie>{
      {"drop-fetch", dropFetch},
      {"repeat-fetch", repeatFetch},
      {"rename-fetch", renameFetch},
      {"swap-fetches", swapFetches},
      {"cross-fetches", crossFetches},
      {"rename-feed", renameFeed},
      {"unname-feed", unnameFeed},
      {"add-feed", addFeed},
      {"drop-feed", dropFeed},
      {"swap-feeds", swapFeeds},
      {"retype-feed", retypeFeed},
      {"drop-variable", dropVariable},
      {"rename-variable", renameVariable},
      {"add-variable", addVariable},
      {"path-of-variable",
       [](ModuleOp m, unsigned at) { return setVariable(m, at, [](VariableOp v) { v.setPath("other"); }); }},
      {"role-of-variable",
       [](ModuleOp m, unsigned at) {
         return setVariable(m, at, [](VariableOp v) { v.setRole(VariableRole::metric); });
       }},
      {"frozen-variable",
       [](ModuleOp m, unsigned at) {
         return setVariable(m, at, [](VariableOp v) { v.setTrainable(!v.getTrainable()); });
       }},
      {"autocast-of-variable",
       [](ModuleOp m, unsigned at) {
         return setVariable(m, at, [](VariableOp v) { v.setAutocast(!v.getAutocast()); });
       }},
      {"erase-main", eraseMain},
      {"rename-main", renameMain},
      {"external-main", externalMain},
      {"private-main", privateMain},
      {"add-function", addFunction},
      {"declare-stage",
       [](ModuleOp m, unsigned at) {
         return setModule(m, "halftone.stage", StringAttr::get(m.getContext(), "pure"), at);
       }},
      {"drop-layers", dropLayers},
      {"rename-kernel", renameKernel},
      {"rename-layer",
       [](ModuleOp m, unsigned at) { return setLayer(m, at, [](LayerOp layer) { layer.setPath("other"); }); }},
      {"policy-of-layer",
       [](ModuleOp m, unsigned at) { return setLayer(m, at, [](LayerOp layer) { layer.setPolicy("float64"); }); }},
      {"name-module", nameModule},
      {"add-gradient", addGradient},
      {"zero-value", zeroValue},
      {"add-zero", addZero},
      {"drop-assignment", dropAssignment},
  };
  return all;
}

/// Applies another lie to each module that the process reads: all lies in turn, each at all of its positions. The pass
/// takes the name of the lie and prints it to stderr.
class LyingPass : public PassWrapper<LyingPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LyingPass)
  LyingPass() = default;
  LyingPass(const LyingPass &other) : PassWrapper(other), flag(other.flag) {}

private:
  StringRef getArgument() const override { return flag; }
  StringRef getDescription() const override { return "Is wrong on purpose"; }
  void runOnOperation() override {
    if (!only.empty()) {
      const auto lie = llvm::find_if(lies(), [&](const Lie &each) { return each.name == only; });
      flag = "lie-" + only;
      return (void)lie->tell(getOperation(), 0);
    }
    static size_t next = 0;
    static unsigned place = 0;
    for (; next < lies().size(); ++next, place = 0)
      if (lies()[next].tell(getOperation(), place)) {
        flag = std::string("lie-") + lies()[next].name;
        llvm::errs() << "told " << flag << " at " << place++ << "\n";
        return;
      }
    llvm::errs() << "all told\n";
  }

  std::string flag = "lies";
  Option<std::string> only{*this, "only", llvm::cl::desc("The one lie to tell, at its first place"),
                           llvm::cl::init("")};
};

/// Returns zeros instead of the first result, from a pass nested below the module.
class FunctionLie : public PassWrapper<FunctionLie, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FunctionLie)

private:
  StringRef getArgument() const override { return "lie-in-function"; }
  StringRef getDescription() const override { return "Is wrong on purpose"; }
  void runOnOperation() override {
    Operation *end = getOperation().getBody().front().getTerminator();
    OpBuilder builder(end);
    end->setOperand(0, zeroOf(builder, end->getOperand(0)));
  }
};

/// A pass that ends in a way that passes must not.
class MisbehavingPass : public PassWrapper<MisbehavingPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MisbehavingPass)
  explicit MisbehavingPass(std::string flag) : flag(std::move(flag)) {}

private:
  StringRef getArgument() const override { return flag; }
  StringRef getDescription() const override { return "Ends in a way in which no pass may end"; }
  void runOnOperation() override {
    if (flag == "fail-silently")
      signalPassFailure();
    else if (flag == "error-without-failure")
      getOperation().emitError("something is wrong");
    else if (flag == "exit-with-success")
      std::exit(0);
    else
      throw std::runtime_error("thrown in a pass");
  }

  const std::string flag;
};

} // namespace
} // namespace halftone::test

extern "C" LLVM_ATTRIBUTE_WEAK LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "lying-passes", "1", [] {
            PassRegistration<halftone::test::LyingPass>();
            PassRegistration<halftone::test::FunctionLie>();
            for (const char *flag : {"fail-silently", "error-without-failure", "exit-with-success", "throw"})
              registerPass([flag] { return std::make_unique<halftone::test::MisbehavingPass>(flag); });
          }};
}
