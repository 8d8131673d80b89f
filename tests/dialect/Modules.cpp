// Small modules written as text, and tensors written as lists.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include "dialect/Gradient.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace halftone::dialect::testing {

MLIRContext *context() {
  static MLIRContext *shared = [] {
    DialectRegistry registry;
    registerDialects(registry);
    registry.insert<arith::ArithDialect, math::MathDialect>();
    static MLIRContext theContext(registry, MLIRContext::Threading::DISABLED);
    theContext.loadAllAvailableDialects();
    return &theContext;
  }();
  return shared;
}

Diagnostics::Diagnostics()
    : handler(context(), [this](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; }) {}

OwningOpRef<ModuleOp> parse(const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, context());
  INFO(text);
  REQUIRE(module);
  return module;
}

RankedTensorType tensorType(const std::string &text) {
  return cast<RankedTensorType>(mlir::parseType("tensor<" + text + ">", context()));
}

TensorData reals(const std::string &type, const std::vector<double> &values) { return interval(type, values, values); }
TensorData wholes(const std::string &type, const std::vector<int64_t> &values) {
  return {tensorType(type), {}, {}, values, {}};
}
TensorData interval(const std::string &type, const std::vector<double> &low, const std::vector<double> &high) {
  return {tensorType(type), low, high, {}, {}};
}

std::vector<TensorData> run(ModuleOp module, const std::vector<TensorData> &feeds, bool intervals) {
  VariableValues variables;
  InterpreterOptions options;
  options.intervals = intervals;
  auto results = interpret(module, feeds, variables, options);
  INFO(results.status().str());
  REQUIRE(results.isOk());
  return *results;
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

TensorData evaluate(const std::string &body, const std::string &result, const std::vector<TensorData> &feeds,
                    bool intervals) {
  std::string arguments;
  for (size_t i = 0; i < feeds.size(); ++i)
    arguments += (i ? ", %" : "%") + std::to_string(i) + ": " + typeText(feeds[i].type);
  std::string type = "tensor<" + result + ">";
  return run(*parse("func.func @main(" + arguments + ") -> " + type + " {\n" + body + "\nreturn %y : " + type + "\n}"),
             feeds, intervals)[0];
}

TensorData applyOp(const std::string &op, const std::vector<TensorData> &operands, bool intervals) {
  std::string type = typeText(operands.back().type), result = type.substr(7, type.size() - 8), list;
  for (size_t i = 0; i < operands.size(); ++i)
    list += (i ? ", %" : "%") + std::to_string(i);
  if (op.starts_with("compare") || op == "is_finite")
    result = result.substr(0, result.rfind('x') + 1) + "i1";
  return evaluate("%y = halftone." + op + " " + list + " : " + type, result, operands, intervals);
}

bool sameBits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

// Appends the gradients by the arguments of @main, for the cotangent 1, 2, 3, ... of its result.
static void differentiate(func::FuncOp main, Value seed) {
  Block &block = main.getBody().front();
  auto terminator = cast<func::ReturnOp>(block.getTerminator());
  OpBuilder builder(terminator);
  llvm::DenseMap<Value, Value> cotangents{{terminator.getOperand(0), seed}};
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> seeds;
    for (Value result : op->getResults())
      seeds.push_back(cotangents.lookup(result));
    if (llvm::none_of(seeds, [](Value cotangent) { return cotangent != nullptr; }) || isConstantToGradient(op))
      continue;
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    REQUIRE(differentiable);
    SmallVector<Value> gradients;
    REQUIRE(succeeded(differentiable.buildGradient(builder, seeds, gradients)));
    REQUIRE(gradients.size() == op->getNumOperands());
    for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), gradients)) {
      if (!gradient)
        continue;
      CHECK(gradient.getType() == operand.getType());
      Value &sum = cotangents[operand];
      sum = sum ? Value(AddOp::create(builder, op->getLoc(), sum, gradient)) : gradient;
    }
  }
  SmallVector<Value> results;
  for (BlockArgument argument : main.getArguments().drop_back()) {
    Value gradient = cotangents.lookup(argument);
    REQUIRE(gradient);
    results.push_back(gradient);
  }
  terminator->setOperands(results);
  main.setType(FunctionType::get(context(), main.getArgumentTypes(), ValueRange(results).getTypes()));
}

double gradientError(const std::string &text, const std::vector<TensorData> &feeds) {
  INFO(text);
  auto primal = parse(text), adjoint = parse(text);
  auto main = adjoint->lookupSymbol<func::FuncOp>("main");
  auto resultType = cast<RankedTensorType>(main.getResultTypes()[0]);
  REQUIRE(succeeded(main.insertArgument(main.getNumArguments(), resultType, {}, main.getLoc())));
  differentiate(main, main.getArguments().back());
  REQUIRE(succeeded(mlir::verify(*adjoint)));

  TensorData seed{resultType, {}, {}, {}, {}};
  for (int64_t i = 0; i < seed.size(); ++i)
    seed.low.push_back(1 + 0.25 * static_cast<double>(i % 5));
  seed.high = seed.low;
  std::vector<TensorData> withSeed = feeds;
  withSeed.push_back(seed);
  std::vector<TensorData> gradients = run(*adjoint, withSeed);

  auto value = [&](const std::vector<TensorData> &at) {
    TensorData result = run(*primal, at)[0];
    double sum = 0;
    for (int64_t i = 0; i < result.size(); ++i)
      sum += result.low[i] * seed.low[i];
    return sum;
  };
  double worst = 0;
  for (size_t f = 0; f < feeds.size(); ++f)
    for (int64_t i = 0; i < feeds[f].size(); ++i) {
      constexpr double step = 1e-5;
      auto moved = [&](double by) {
        std::vector<TensorData> at = feeds;
        at[f].low[i] = at[f].high[i] = feeds[f].low[i] + by;
        return value(at);
      };
      double difference = (moved(step) - moved(-step)) / (2 * step);
      worst = std::max(worst, std::fabs(difference - gradients[f].low[i]) / (1 + std::fabs(difference)));
    }
  return worst;
}

} // namespace halftone::dialect::testing
