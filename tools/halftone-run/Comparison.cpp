// Runs the compiled and the interpreted module, and interprets each launch on its operands.
// SPDX-License-Identifier: Apache-2.0
#include "Comparison.h"
#include "CompiledModule.h"
#include "ObservedDevice.h"
#include "PlanSession.h"
#include "dialect/TypeInference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace mlir;

namespace halftone::tools {
namespace {

using dialect::TensorData;

bool isExactOp(Operation *op) {
  auto compute = dyn_cast<dialect::ComputeOpInterface>(op);
  return !compute || compute.isExact();
}

/// One comparison of the compiled module with the interpreted one.
class Comparer {
public:
  Comparer(const CompareOptions &options, MLIRContext *context) : options(options), context(context) {}

  Status prepare(const ModuleFile &file, std::shared_ptr<DeviceRuntime> device, const VariableTensors &variables);
  Status step(int64_t number, std::span<const Tensor> feeds, VariableTensors &variables);
  Comparison take();

private:
  Status interpretStep(std::span<const Tensor> feeds, const VariableTensors &before);
  void keep(const ObservedLaunch &launch);
  Status compareLaunch(int64_t step, const ObservedLaunch &seen);
  void addOutput(const std::string &name, const Tensor &actual, const TensorData &expected, const TensorData *bounds);
  std::string worstLayerOf(size_t result);

  const CompareOptions &options;
  MLIRContext *context;
  Signature signature;
  OwningOpRef<ModuleOp> reference;
  bool usesBounds = false;
  CompiledModule compiled;
  std::optional<PlanSession> session;
  std::vector<ObservedLaunch> seen;
  std::map<size_t, std::vector<size_t>> indices; // indices into `seen`, by launch
  std::vector<TensorData> expected, bounds;      // of the fetches of this run
  dialect::VariableValues expectedVariables, variableBounds;
  Comparison result;
  std::vector<Difference> launchDifferences; // by launch, over all runs
};

Status Comparer::prepare(const ModuleFile &file, std::shared_ptr<DeviceRuntime> device,
                         const VariableTensors &variables) {
  signature = file.signature;
  StatusOr<OwningOpRef<ModuleOp>> interpretable = interpretableModule(*file.module, file.stage);
  HALFTONE_RETURN_IF_ERROR(interpretable.status());
  reference = *std::move(interpretable);
  usesBounds = !options.tolerance.given() &&
               (!options.compile.numerics.value_or(compiler::Numerics()).roundsEachOp() || !isExact(*reference));
  StatusOr<CompiledModule> module = compileModule(*file.module, file.stage, options.compile);
  HALFTONE_RETURN_IF_ERROR(module.status());
  compiled = *std::move(module);
  launchDifferences.resize(compiled.launches.size());
  if (options.byLayer)
    device = std::make_shared<ObservedDevice>(std::move(device), compiled.executable,
                                              [this](const ObservedLaunch &launch) { keep(launch); });
  StatusOr<PlanSession> opened = PlanSession::open(compiled.executable, std::move(device), variables);
  HALFTONE_RETURN_IF_ERROR(opened.status());
  session = *std::move(opened);
  return {};
}

/// Keeps, for a launch in a repeat, the first two iterations and the last one.
void Comparer::keep(const ObservedLaunch &launch) {
  std::vector<size_t> &own = indices[launch.index];
  if (own.size() == 3) {
    seen[own.back()] = launch;
    return;
  }
  own.push_back(seen.size());
  seen.push_back(launch);
}

Status Comparer::interpretStep(std::span<const Tensor> feeds, const VariableTensors &before) {
  std::vector<TensorData> operands;
  for (const Tensor &feed : feeds)
    operands.push_back(toData(context, feed));
  expectedVariables.clear();
  for (const auto &[symbol, tensor] : before)
    expectedVariables[symbol] = toData(context, tensor);
  variableBounds = expectedVariables;
  auto run = [&](std::vector<TensorData> &fetches, dialect::VariableValues &values, bool intervals) -> Status {
    StatusOr<std::vector<TensorData>> fetched = dialect::interpret(*reference, operands, values, {intervals});
    HALFTONE_RETURN_IF_ERROR(fetched.status());
    fetches = *std::move(fetched);
    return {};
  };
  HALFTONE_RETURN_IF_ERROR(run(expected, expectedVariables, false));
  return usesBounds ? run(bounds, variableBounds, true) : Status();
}

void Comparer::addOutput(const std::string &name, const Tensor &actual, const TensorData &expected,
                         const TensorData *bounds) {
  Difference difference = differenceOf(toData(context, actual), expected, options.tolerance, bounds);
  auto row = std::ranges::find(result.outputs, name, &OutputComparison::name);
  if (row == result.outputs.end())
    result.outputs.push_back({name, *tensorTypeOf(expected.type), std::move(difference), {}});
  else
    row->difference.join(difference);
}

Status Comparer::step(int64_t number, std::span<const Tensor> feeds, VariableTensors &variables) {
  HALFTONE_RETURN_IF_ERROR(interpretStep(feeds, variables));
  seen.clear();
  indices.clear();
  StatusOr<std::vector<Tensor>> fetches = session->play(feeds);
  HALFTONE_RETURN_IF_ERROR(fetches.status());
  HALFTONE_RETURN_IF_ERROR(session->readVariables(variables));
  for (size_t i = 0; i < fetches->size(); ++i)
    addOutput(signature.fetches[i].name, (*fetches)[i], expected[i], usesBounds ? &bounds[i] : nullptr);
  for (const VariableSlot &slot : compiled.executable->variables)
    if (slot.written)
      addOutput("@" + slot.symbol, variables.at(slot.symbol), expectedVariables.at(slot.symbol),
                usesBounds ? &variableBounds.at(slot.symbol) : nullptr);
  for (const ObservedLaunch &launch : seen)
    HALFTONE_RETURN_IF_ERROR(compareLaunch(number, launch));
  return {};
}

Status Comparer::compareLaunch(int64_t step, const ObservedLaunch &launch) {
  dialect::LaunchOp op = compiled.launches[launch.index];
  auto kernel = compiled.kernelStage->lookupSymbol<dialect::KernelOp>(op.getKernel());
  auto read = [&](TypeRange types, const std::vector<std::string> &buffers, std::vector<TensorData> &values) -> Status {
    bool matches = types.size() == buffers.size();
    for (size_t i = 0; matches && i < buffers.size(); ++i) {
      auto type = cast<RankedTensorType>(types[i]);
      const auto panels = dialect::PanelsAttr::of(type);
      const int64_t elementsInByte = panels && panels.getBits() == 4 ? 2 : 1;
      matches = tensorTypeOf(type)->bytes() / elementsInByte == static_cast<int64_t>(buffers[i].size());
      if (matches)
        values.push_back(TensorData::fromBytes(type, buffers[i].data()));
    }
    return matches ? Status()
                   : Status(ErrorKind::internal_error,
                            fmt::format("launch {} of the plan has other buffers than @{} in the kernel stage",
                                        launch.index, op.getKernel().str()));
  };
  std::vector<TensorData> operands, actual;
  HALFTONE_RETURN_IF_ERROR(read(op.getOperandTypes(), launch.operands, operands));
  HALFTONE_RETURN_IF_ERROR(read(op.getResultTypes(), launch.results, actual));
  StatusOr<std::vector<TensorData>> expected = dialect::interpretKernel(kernel, operands);
  HALFTONE_RETURN_IF_ERROR(expected.status());
  std::vector<TensorData> bounds;
  if (!options.compile.numerics.value_or(compiler::Numerics()).roundsEachOp() || !isExact(kernel)) {
    StatusOr<std::vector<TensorData>> intervals = dialect::interpretKernel(kernel, operands, {true});
    HALFTONE_RETURN_IF_ERROR(intervals.status());
    bounds = *std::move(intervals);
  }
  LaunchComparison row{step, launch.index, op.getKernel().str(), op.getSite().str(), {}};
  for (size_t i = 0; i < actual.size(); ++i)
    row.difference.join(
        differenceOf(actual[i], (*expected)[i], options.tolerance, bounds.empty() ? nullptr : &bounds[i]));
  launchDifferences[launch.index].join(row.difference);
  result.launches.push_back(std::move(row));
  return {};
}

std::string Comparer::worstLayerOf(size_t result) {
  auto main = compiled.kernelStage->lookupSymbol<func::FuncOp>("main");
  llvm::SetVector<Operation *> slice;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      slice.insert(op);
  };
  add(main.getBody().front().getTerminator()->getOperand(result));
  for (size_t i = 0; i < slice.size(); ++i)
    slice[i]->walk([&](Operation *op) {
      slice.insert(op);
      for (Value operand : op->getOperands())
        add(operand);
    });
  std::string site;
  int64_t largest = 0;
  for (size_t i = 0; i < launchDifferences.size(); ++i)
    if (launchDifferences[i].maxUlp > largest && slice.contains(compiled.launches[i])) {
      largest = launchDifferences[i].maxUlp;
      site = compiled.launches[i].getSite().str();
    }
  return site;
}

Comparison Comparer::take() {
  auto main = compiled.kernelStage->lookupSymbol<func::FuncOp>("main");
  size_t fetch = 0;
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    if (main.getResultAttr(i, dialect::shadowAttr))
      continue;
    auto variable = main.getResultAttrOfType<FlatSymbolRefAttr>(i, dialect::variableAttr);
    std::string name = variable ? "@" + variable.getValue().str() : signature.fetches[fetch++].name;
    auto row = std::ranges::find(result.outputs, name, &OutputComparison::name);
    if (row != result.outputs.end())
      row->worstLayer = worstLayerOf(i);
  }
  result.statistics = compiled.statistics;
  result.ledger = compiled.executable->ledger;
  return std::move(result);
}

} // namespace

bool isExact(Operation *scope) {
  return !scope->walk([](Operation *op) { return isExactOp(op) ? WalkResult::advance() : WalkResult::interrupt(); })
              .wasInterrupted();
}

bool Comparison::agrees() const {
  return std::ranges::all_of(outputs, [](const auto &row) { return row.difference.agrees(); }) &&
         std::ranges::all_of(launches, [](const auto &row) { return row.difference.agrees(); });
}

StatusOr<Comparison> compareWithInterpreter(const ModuleFile &file, std::span<const Tensor> feeds,
                                            VariableTensors &variables, std::shared_ptr<DeviceRuntime> device,
                                            const CompareOptions &options) {
  Comparer comparer(options, file.context.get());
  HALFTONE_RETURN_IF_ERROR(comparer.prepare(file, std::move(device), variables));
  for (int64_t i = 0; i < options.steps; ++i)
    HALFTONE_RETURN_IF_ERROR(comparer.step(i, feeds, variables));
  return comparer.take();
}

} // namespace halftone::tools
