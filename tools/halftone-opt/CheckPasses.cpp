// --check-passes: interprets the module before and after every pass.
// SPDX-License-Identifier: Apache-2.0
#include "CheckPasses.h"
#include "dialect/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Format.h"
#include <optional>
#include <random>

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;

namespace {

/// The results of @main: fetches in order, then variables by name.
using Outcome = std::vector<std::pair<std::string, TensorData>>;

class PassChecks : public PassInstrumentation {
public:
  explicit PassChecks(bool *differed) : differed(differed) {}

private:
  void runBeforePass(Pass *pass, Operation *op) override {
    if (auto module = dyn_cast<ModuleOp>(op); module && !before)
      before = evaluate(module);
    if (auto module = dyn_cast<ModuleOp>(op); module && reorders(pass))
      legal = evaluate(module, /*intervals=*/true);
  }
  void runAfterPass(Pass *pass, Operation *op) override;

  /// Whether this pass may change the order of sums.
  static bool reorders(Pass *pass) {
    constexpr StringLiteral names[] = {"halftone-normalize", "halftone-choose-templates", "halftone-form-kernels"};
    return llvm::is_contained(names, pass->getArgument());
  }
  std::optional<Outcome> evaluate(ModuleOp module, bool intervals = false);
  TensorData &input(const std::string &name, RankedTensorType type);
  void compare(ModuleOp module, StringRef pass, const Outcome &expected, const Outcome &found, bool intervals);

  bool *differed;
  std::optional<Outcome> before, legal;
  std::map<std::string, TensorData> inputs; // values of feeds by "feed NAME", of variables by "variable NAME"
};

/// A random tensor, the same one for the same name: floats around 0, integers from 0 to 9.
TensorData &PassChecks::input(const std::string &name, RankedTensorType type) {
  auto [found, isNew] = inputs.try_emplace(name);
  TensorData &data = found->second;
  if (!isNew)
    return data;
  std::mt19937_64 random(std::hash<std::string>()(name));
  data.type = type;
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      llvm::APFloat value(normal(random));
      bool inexact;
      value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      data.low.push_back(value.convertToDouble());
    }
    data.high = data.low;
  } else {
    std::uniform_int_distribution<int64_t> digit(0, type.getElementType().isInteger(1) ? 1 : 9);
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      data.integers.push_back(digit(random));
  }
  return data;
}

std::optional<Outcome> PassChecks::evaluate(ModuleOp module, bool intervals) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  bool hasGradient = module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!main || main.isExternal() || hasGradient)
    return std::nullopt;
  std::vector<TensorData> feeds;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, nameAttr))
      feeds.push_back(input(("feed " + name.getValue()).str(), cast<RankedTensorType>(main.getArgumentTypes()[i])));
  VariableValues variables;
  for (auto variable : module.getOps<VariableOp>())
    variables.emplace(variable.getSymName().str(),
                      input(("variable " + variable.getSymName()).str(), cast<RankedTensorType>(variable.getType())));
  StatusOr<std::vector<TensorData>> fetches = interpret(module, feeds, variables, {intervals});
  if (!fetches) {
    *differed = true;
    module.emitError() << "--check-passes: the interpreter refuses the module: " << fetches.status().str();
    return std::nullopt;
  }
  Outcome outcome;
  for (auto [index, fetch] : llvm::enumerate(*fetches))
    outcome.emplace_back("fetch " + std::to_string(index), fetch);
  for (auto &[name, value] : variables)
    outcome.emplace_back("variable @" + name, value);
  return outcome;
}

std::string elementText(const TensorData &data, int64_t index) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!data.isFloat())
    out << data.integers[index];
  else if (data.low[index] == data.high[index])
    out << llvm::format("%.17g", data.low[index]);
  else
    out << llvm::format("[%.17g, %.17g]", data.low[index], data.high[index]);
  return text;
}

void PassChecks::compare(ModuleOp module, StringRef pass, const Outcome &expected, const Outcome &found,
                         bool intervals) {
  for (const auto &[was, is] : llvm::zip(expected, found)) {
    const TensorData &a = was.second, &b = is.second;
    bool sameType = a.type == b.type && was.first == is.first;
    std::string bytesBefore = sameType ? a.toBytes() : "", bytesAfter = sameType ? b.toBytes() : "";
    size_t width = sameType && a.size() ? bytesBefore.size() / a.size() : 0;
    for (int64_t i = 0; sameType && i < a.size(); ++i) {
      bool equal =
          intervals ? a.contains(b, i) : bytesBefore.compare(i * width, width, bytesAfter, i * width, width) == 0;
      if (equal)
        continue;
      *differed = true;
      module.emitError() << "--check-passes: " << pass << " changes " << was.first << ", element " << i << ", from "
                         << elementText(a, i) << " to " << elementText(b, i);
      break;
    }
    if (!sameType) {
      *differed = true;
      module.emitError() << "--check-passes: after " << pass << " there is " << is.first << " of type " << b.type
                         << " where " << was.first << " of type " << a.type << " was";
    }
  }
}

void PassChecks::runAfterPass(Pass *pass, Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return;
  std::optional<Outcome> after = evaluate(module);
  const std::optional<Outcome> &expected = reorders(pass) ? legal : before;
  if (expected && after)
    compare(module, pass->getArgument(), *expected, *after, reorders(pass));
  before = std::move(after);
}

} // namespace

void addPassChecks(PassManager &passes, bool *differed) {
  passes.addInstrumentation(std::make_unique<PassChecks>(differed));
}
