// Loads a model, optionally changes its policy, and traces one of its programs.
// SPDX-License-Identifier: Apache-2.0
#include "KerasModel.h"
#include "InputSpec.h"
#include "UsageError.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/io/ModelReader.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Model.h"
#include "tools/shell/JsonFile.h"
#include <fmt/format.h>

namespace halftone::tools {
namespace {

/// The batch size: --batch-size, or the first axis of the first input with a shape on the command line.
int64_t batchOf(const Arguments &arguments) {
  if (arguments.batchSize)
    return *arguments.batchSize;
  for (const std::string &input : arguments.inputs) {
    const InputSpec spec = parseInputSpec(input);
    if (spec.type && !spec.type->shape.empty())
      return spec.type->shape.front();
    if (spec.source == InputSpec::Source::npy)
      if (const Shape shape = Tensor::load_npy(spec.text).shape(); shape.rank() > 0)
        return shape[0];
  }
  return usualBatch;
}

/// value_error if two variables have the same path, as in layers with the same name.
void addByPath(std::map<std::string, Tensor> &values, const std::vector<Variable> &variables, const std::string &file) {
  for (const Variable &variable : variables)
    if (!values.emplace(variable.path(), variable.value()).second)
      throw Error(ErrorKind::value_error, fmt::format("{}: two variables have the path '{}'", file, variable.path()));
}

} // namespace

Model openKerasModel(const Arguments &arguments, bool compiled) {
  const PolicyScope global(PolicyArg(arguments.global, Where{}));
  const auto prepare = [&](const Model &model) {
    if (!arguments.policyMap.empty()) {
      const Config map = parseFile(arguments.policyMap);
      model.apply_policy(map.contains("class_name") ? DTypePolicyMap::load(arguments.policyMap)
                                                    : DTypePolicyMap::from_config(map));
    } else if (!arguments.policy.empty()) {
      const PolicyArg policy(arguments.policy, Where{});
      model.apply_policy(DTypePolicyMap(policy));
      model.impl()->policy = policy.get(); // decides whether compile() scales the loss
    }
  };
  return detail::loadModel(arguments.model,
                           {.compile = compiled, .numerics = arguments.strict ? Numerics::strict : Numerics::fast},
                           prepare);
}

ModuleFile moduleOf(const Model &model, const Arguments &arguments, Program program, int64_t batchSize) {
  const IrArgs args{.program = program, .batch_size = batchSize, .locations = arguments.locations};
  return parseModule(model.ir(Stage::graph, args), arguments.model).valueOrThrow();
}

ModuleOrPlan loadKerasModel(const Arguments &arguments) {
  const Model model = openKerasModel(arguments, arguments.program != Program::predict);
  ModuleOrPlan loaded;
  loaded.path = arguments.model;
  loaded.module = moduleOf(model, arguments, arguments.program, batchOf(arguments));
  std::map<std::string, Tensor> values;
  addByPath(values, model.variables(), arguments.model);
  if (arguments.program == Program::train) {
    detail::OptimizerImpl &optimizer = *model.optimizer().impl();
    detail::CallTransaction transaction; // rolled back: ir() leaves an optimizer without state unchanged
    optimizer.build(model.trainable_variables());
    transaction.commit();
    if (const int64_t rates = optimizer.prepareRate(1); arguments.steps > rates)
      throw UsageError(fmt::format("--steps {}: the program holds {} rates of the model's learning-rate schedule; the "
                                   "command fit trains for more steps",
                                   arguments.steps, rates));
    addByPath(values, optimizer.allVariables(), arguments.model);
  }
  for (const DeclaredVariable &variable : loaded.module->variables)
    if (const auto value = values.find(variable.path); value != values.end())
      loaded.saved[variable.symbol] = value->second;
  return loaded;
}

} // namespace halftone::tools
