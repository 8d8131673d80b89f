// Draws inputs, checks that the interpreter supports a module, and compares results.
// SPDX-License-Identifier: Apache-2.0
#include "Interpretations.h"
#include "compiler/passes/Passes.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;

namespace {

constexpr int64_t maxElements = int64_t(1) << 26; // per tensor, and of all inputs: 1 GiB of doubles
constexpr int64_t smallModule = int64_t(1) << 20; // elements of all inputs
constexpr int drawsOfSmall = 3, specialDraw = 2;

Status refused(const std::string &reason) { return {ErrorKind::value_error, reason}; }

template <class T> std::string textOf(const T &entity) {
  std::string text;
  llvm::raw_string_ostream(text) << entity;
  return text;
}

/// The number of elements, or any number above `maxElements`.
int64_t elementsOf(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t extent : type.getShape()) {
    if (extent == 0)
      return 0;
    elements *= elements > maxElements || extent > maxElements ? 1 : extent; // at most maxElements squared
    elements = std::max(elements, std::min(extent, maxElements + 1));
  }
  return elements;
}

/// Returns an error if the interpreter cannot represent a value of this type.
Status checkType(Type type, const std::string &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !dtypeOf(tensor.getElementType()))
    return refused(
        fmt::format("{} has type {}; expected a tensor of static shape and known dtype", what, textOf(type)));
  if (elementsOf(tensor) > maxElements)
    return refused(fmt::format("{} has type {}, which is too large to interpret; expected at most {} elements", what,
                               textOf(type), maxElements));
  return {};
}

Status checkTypes(func::FuncOp main) {
  for (auto [i, argument] : llvm::enumerate(main.getArguments()))
    HALFTONE_RETURN_IF_ERROR(checkType(argument.getType(), fmt::format("argument {} of @main", i)));
  Status status;
  main.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.empty() || op == main ? Block::BlockArgListType() : region.getArguments())
        if (status.isOk())
          status =
              checkType(argument.getType(), fmt::format("an argument of '{}'", op->getName().getStringRef().str()));
    for (Type type : op->getResultTypes())
      if (status.isOk())
        status = checkType(type, fmt::format("a result of '{}'", op->getName().getStringRef().str()));
    return status.isOk() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

/// The number of elements of all inputs, or the reason why the interpreter cannot run the module.
StatusOr<int64_t> checkModule(ModuleOp module) {
  std::string reason;
  {
    ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
      reason = reason.empty() ? diagnostic.str() : reason;
      return success();
    });
    if (failed(mlir::verify(module)))
      return refused("the module is invalid: " + reason);
  }
  auto main = dyn_cast_or_null<func::FuncOp>(module.lookupSymbol("main"));
  if (!main || main.isExternal() || !main.getBody().hasOneBlock())
    return refused("there is no function @main with a single-block body");
  HALFTONE_RETURN_IF_ERROR(checkTypes(main));
  int64_t elements = 0;
  for (BlockArgument argument : main.getArguments())
    if (main.getArgAttr(argument.getArgNumber(), nameAttr))
      elements += cast<RankedTensorType>(argument.getType()).getNumElements();
  for (auto variable : module.getOps<VariableOp>()) {
    HALFTONE_RETURN_IF_ERROR(checkType(variable.getType(), "variable @" + variable.getSymName().str()));
    elements += cast<RankedTensorType>(variable.getType()).getNumElements();
  }
  if (elements > maxElements)
    return refused(
        fmt::format("feeds and variables have {} elements; expected at most {} to interpret", elements, maxElements));
  return elements;
}

/// A copy of the module without gradient ops, produced by the first passes of the stock pipeline.
StatusOr<OwningOpRef<ModuleOp>> differentiated(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager passes(module.getContext());
  bool layers = false, state = false;
  copy->walk([&](Operation *op) {
    layers |= isa<LayerOp>(op);
    state |= isa<ReadOp, AssignOp>(op);
  });
  passes.enableVerifier(false);
  if (layers || state) { // in stage graph or cast; these passes are idempotent
    passes.addPass(compiler::createInsertCastsPass());
    passes.addPass(compiler::createInlineLayersPass());
    passes.addPass(compiler::createLiftVariablesPass());
  }
  passes.addPass(compiler::createDifferentiatePass());
  std::string reason;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    reason = reason.empty() ? diagnostic.str() : reason;
    return success();
  });
  if (failed(passes.run(*copy)))
    return refused("it cannot be differentiated: " + reason);
  return copy;
}

/// A value that is exact in the element type.
double rounded(double number, FloatType element) {
  llvm::APFloat value(number);
  bool inexact;
  value.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

void fillFloats(TensorData &data, FloatType element, std::mt19937_64 &random, bool special) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = llvm::APFloat::getLargest(element.getFloatSemantics()).convertToDouble(),
               smallest = llvm::APFloat::getSmallest(element.getFloatSemantics()).convertToDouble();
  const std::array specials = {0.0, -0.0, 1.0, -1.0, infinity, -infinity, std::nan(""), largest, -largest, smallest};
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < data.type.getNumElements(); ++i)
    data.low.push_back(special ? rounded(specials[random() % specials.size()], element)
                               : rounded(normal(random), element));
  data.high = data.low;
}

std::string elementText(const TensorData &data, int64_t index) {
  if (!data.isFloat())
    return std::to_string(data.integers[index]);
  std::string text;
  llvm::raw_string_ostream out(text);
  if (data.low[index] == data.high[index] || (std::isnan(data.low[index]) && std::isnan(data.high[index])))
    out << llvm::format("%.17g", data.low[index]);
  else
    out << llvm::format("[%.17g, %.17g]", data.low[index], data.high[index]);
  return text;
}

/// Returns true if the elements are equal bit for bit; all NaNs are equal.
bool sameElement(const TensorData &a, const TensorData &b, int64_t i) {
  if (!a.isFloat())
    return a.integers[i] == b.integers[i];
  if (std::isnan(a.low[i]) || std::isnan(b.low[i]))
    return std::isnan(a.low[i]) && std::isnan(b.low[i]);
  return a.low[i] == b.low[i] && std::signbit(a.low[i]) == std::signbit(b.low[i]);
}

} // namespace

const TensorData &Interpretations::input(const std::string &name, RankedTensorType type, int number) {
  const std::string key = fmt::format("{} {} {}", number, name, textOf(Type(type)));
  auto [found, isNew] = inputs.try_emplace(key);
  TensorData &data = found->second;
  if (!isNew)
    return data;
  std::mt19937_64 random(std::hash<std::string>()(key));
  data.type = type;
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    fillFloats(data, element, random, number == specialDraw);
    return data;
  }
  std::uniform_int_distribution<int64_t> digit(0, type.getElementType().isInteger(1) ? 1 : 9);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    data.integers.push_back(digit(random));
  return data;
}

StatusOr<std::map<std::string, TensorData>> Interpretations::draw(ModuleOp module, int number, bool intervals) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<TensorData> feeds;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto name = main.getArgAttrOfType<StringAttr>(i, nameAttr))
      feeds.push_back(
          input("feed " + name.getValue().str(), cast<RankedTensorType>(main.getArgumentTypes()[i]), number));
  VariableValues variables;
  for (auto variable : module.getOps<VariableOp>()) {
    TensorData data =
        input("variable " + variable.getSymName().str(), cast<RankedTensorType>(variable.getType()), number);
    if (variable.getRole() == VariableRole::slot) // update-rows assumes that sums of squares are not negative
      for (std::vector<double> *bound : {&data.low, &data.high})
        for (double &each : *bound)
          each = std::abs(each);
    variables.emplace(variable.getSymName().str(), std::move(data));
  }
  StatusOr<std::vector<TensorData>> fetches = interpret(module, feeds, variables, {intervals});
  HALFTONE_RETURN_IF_ERROR(fetches.status());
  std::map<std::string, TensorData> results;
  for (auto [index, fetch] : llvm::enumerate(*fetches))
    results.emplace("fetch " + std::to_string(index), fetch);
  for (auto &[name, value] : variables)
    results.emplace("variable @" + name, value);
  return results;
}

StatusOr<Outcome> Interpretations::of(ModuleOp module, bool intervals) {
  const StatusOr<int64_t> elements = checkModule(module);
  HALFTONE_RETURN_IF_ERROR(elements.status());
  OwningOpRef<ModuleOp> copy;
  if (module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
    StatusOr<OwningOpRef<ModuleOp>> made = differentiated(module);
    HALFTONE_RETURN_IF_ERROR(made.status());
    copy = *std::move(made);
  }
  Outcome outcome;
  for (int number = 0; number < (*elements <= smallModule ? drawsOfSmall : 1); ++number) {
    StatusOr<std::map<std::string, TensorData>> results = draw(copy ? *copy : module, number, intervals);
    HALFTONE_RETURN_IF_ERROR(results.status());
    outcome.push_back(*std::move(results));
  }
  return outcome;
}

std::string differenceBetween(const Outcome &expected, const Outcome &found, bool intervals) {
  for (size_t number = 0; number < std::min(expected.size(), found.size()); ++number)
    for (const auto &[name, a] : expected[number]) {
      auto other = found[number].find(name);
      if (other == found[number].end() || other->second.type != a.type)
        continue; // reported as a breach of the contract
      const TensorData &b = other->second;
      for (int64_t i = 0; i < a.size(); ++i)
        if (!(intervals ? a.contains(b, i) : sameElement(a, b, i)))
          return fmt::format("changes {}, element {}, from {} to {}", name, i, elementText(a, i), elementText(b, i));
    }
  return "";
}
