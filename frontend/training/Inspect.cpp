// Inspection of a model: IR by stage, dumps, the cast ledger.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Inspect.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/StepContext.h"
#include "frontend/training/Trainer.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

constexpr std::string_view stageNames[] = {"graph", "cast", "pure", "kernel", "linalg", "plan", "target"};
static_assert(static_cast<size_t>(Stage::target) + 1 == std::size(stageNames));

/// A target of the dtype and shape that the loss expects, for an untrained model.
Tensor exampleTarget(const Loss &loss, const Shape &output, DType floatx) {
  const bool areLabels = loss.defined() && loss.impl()->classLabels;
  std::vector<int64_t> dims = output.dims();
  if (areLabels)
    dims.erase(dims.begin() + normalizeAxis(loss.name(), loss.impl()->axis, std::ssize(dims)));
  return Tensor::zeros(Shape(dims), areLabels ? DType::int32 : floatx);
}

std::vector<ValueSpec> inputSpecsOf(const Model &model) {
  std::vector<ValueSpec> inputs;
  for (const Value &input : stateOf(model).inputs)
    inputs.push_back({input.shape(), input.dtype()});
  if (inputs.empty())
    inputs = model.impl()->inputSpecs;
  if (inputs.empty())
    throw Error(ErrorKind::value_error, "the model has not seen an input yet: its shapes are not known", model.name());
  return inputs;
}

/// Zeros for the model's inputs, or empty strings. value_error if a dimension other than the batch is None.
std::vector<Tensor> exampleInputs(const Model &model, const std::vector<ValueSpec> &inputs, int64_t batch) {
  std::vector<Tensor> x;
  for (const ValueSpec &input : inputs) {
    std::vector<int64_t> dims = input.shape.dims();
    for (size_t i = 1; i < dims.size(); ++i)
      if (dims[i] < 0)
        throw Error(ErrorKind::value_error,
                    fmt::format("input shape {} has an unknown dimension besides the batch: run the model first",
                                input.shape.str()),
                    model.name());
    dims.at(0) = batch;
    const Shape shape(dims);
    x.push_back(input.dtype == DType::string
                    ? Tensor(std::vector<std::string>(static_cast<size_t>(shape.elements())), shape)
                    : Tensor::zeros(shape, input.dtype));
  }
  return x;
}

/// Targets for the outputs that need one.
std::vector<Tensor> exampleTargets(const Model &model, const CompiledModel &compiled, const std::vector<Tensor> &x) {
  const MatchedOutputs outputs = matchOutputs(model, compiled, x);
  std::vector<Tensor> y;
  for (size_t i = 0; i < outputs.specs.size(); ++i)
    if (outputs.names.needed[i])
      y.push_back(exampleTarget(outputs.losses[i], outputs.specs[i].shape, DType::float32));
  return y;
}

} // namespace

ProgramChoice detail::chooseProgram(const Model &model, const IrArgs &args) {
  ModelState &state = stateOf(model);
  std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  const Program program = args.program.value_or(compiled ? Program::train : Program::predict);
  if (program != Program::predict)
    compiled = compiledOf(model, "asking for the train or test program");
  ProgramChoice choice;
  {
    const ForkSafeLock lock(state.mutex);
    choice = {program, nullptr, state.fullStepTypes, state.fullStepLayout};
  }
  // If the model was trained, the shapes of its full step are the example; another batch size replaces the leading
  // extent.
  const int64_t batch =
      args.batch_size.value_or(!choice.types.empty() && !choice.types[0].shape.empty() ? choice.types[0].shape[0] : 32);
  if (batch < 1)
    throw Error(ErrorKind::value_error, fmt::format("batch_size must be positive, got {}", batch), model.name());
  if (program != Program::predict && !choice.types.empty()) {
    for (TensorType &type : choice.types)
      if (!type.shape.empty())
        type.shape[0] = batch;
  } else {
    const std::vector<Tensor> x = exampleInputs(model, inputSpecsOf(model), batch);
    std::vector<Tensor> y;
    if (program != Program::predict) {
      y = exampleTargets(model, *compiled, x);
      if (!hasHooks(*model.impl()))
        prepareCompiled(model, *compiled, x, y);
    }
    choice.types = typesOf(x);
    for (const TensorType &type : typesOf(y))
      choice.types.push_back(type);
    choice.layout = program == Program::predict ? FeedLayout{} : batchLayout(x.size(), y.size(), 0, 0);
  }
  choice.function = program == Program::predict ? predictFunction(model)
                    : program == Program::train ? std::shared_ptr<CompiledFunction>(compiled, &compiled->train)
                                                : std::shared_ptr<CompiledFunction>(compiled, &compiled->test);
  if (program != Program::predict && hasHooks(*model.impl()))
    requireRecord(model, *compiled, program == Program::train, choice.types, choice.layout);
  return choice;
}

std::string_view name(Stage stage) { return stageNames[static_cast<size_t>(stage)]; }
Stage stage(std::string_view name) {
  for (size_t i = 0; i < std::size(stageNames); ++i)
    if (stageNames[i] == name)
      return static_cast<Stage>(i);
  throw Error(ErrorKind::value_error,
              fmt::format("no stage '{}'; the stages are {}", name, fmt::join(stageNames, ", ")));
}

std::string Model::ir(Stage stage, const IrArgs &args) const {
  const Model model = *this; // tracing runs user code, which may destroy this handle
  const CallTransaction reading(CallTransaction::Extent::program);
  const ProgramChoice choice = chooseProgram(model, args);
  return choice.function->ir(stage, choice.types, choice.layout, args.locations);
}

void Model::dump_ir(const std::string &directory, const IrArgs &args) const {
  const Model model = *this; // tracing runs user code, which may destroy this handle
  const CallTransaction reading(CallTransaction::Extent::program);
  const ProgramChoice choice = chooseProgram(model, args);
  checkPath(directory).orThrow();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error(ErrorKind::io_error, fmt::format("{}: cannot be created: {}", directory, error.message()));
  const auto write = [&](Stage stage, std::string_view text) {
    const char *extension = stage == Stage::plan ? "txt" : stage == Stage::target ? "s" : "mlir";
    return writeFile(fmt::format("{}/{}-{}.{}", directory, static_cast<int>(stage),
                                 stageNames[static_cast<size_t>(stage)], extension),
                     {text});
  };
  for (Stage stage : {Stage::graph, Stage::cast, Stage::pure, Stage::kernel})
    write(stage, choice.function->ir(stage, choice.types, choice.layout, args.locations)).orThrow();
  Status written = Status::ok(); // the stages after kernel come from one compilation
  const auto writeLate = [&](Stage stage, std::string_view text) {
    if (written)
      written = write(stage, text);
  };
  (void)choice.function->ir(Stage::target, choice.types, choice.layout, args.locations, writeLate);
  written.orThrow();
}

CastLedger Model::cast_ledger(const IrArgs &args) const {
  const Model model = *this; // tracing runs user code, which may destroy this handle
  const CallTransaction reading(CallTransaction::Extent::program);
  const ProgramChoice choice = chooseProgram(model, args);
  return choice.function->ledger(choice.types, choice.layout);
}

} // namespace halftone
