// evaluate and predict.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Evaluate.h"
#include "frontend/data/Batches.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/training/CallFacts.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/Together.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

[[noreturn]] void detail::refuseWeights(const Model &model) {
  throw Error(ErrorKind::value_error,
              "When providing `x` as a Dataset, `sample_weight` should not be passed. Instead, the sample weights "
              "should be included as part of the Dataset.",
              model.name());
}
void detail::requireBatches(const EpochReader::Epoch &epoch) {
  if (epoch.steps == 0)
    throw Error(ErrorKind::value_error, "no data was given: the dataset is empty");
}
void detail::warnWhenOut(const EpochReader::Epoch &epoch, const EpochReader &reader, const char *what) {
  if (!epoch.isExhausted)
    return;
  std::string wanted = reader.steps() ? fmt::format("{} of {}", epoch.steps, *reader.steps()) : "no more";
  writeOutput(fmt::format(
      "\nwarning: Your input ran out of data; interrupting {}: {} batches were provided. Make sure that your "
      "dataset or generator can generate at least `steps_per_epoch * epochs` batches.\n",
      what, wanted));
}

Logs detail::runTest(const Run &run, const BatchSource &batches, EpochReader reader, CallbackList &callbacks) {
  resetMetrics(run);
  callbacks.testBegin();
  Logs logs;
  reader.prepareAhead(hostStepsAhead(run.model, {run.compiled, &run.compiled->test}));
  EpochReader::Epoch epoch = reader.epoch([&](int64_t i, const BatchPart &part) {
    callbacks.testBatchBegin(i);
    logs = testStep(run, part, batches.areArrays()).logs;
    callbacks.testBatchEnd(i, logs);
    return true;
  });
  if (!batches.areArrays())
    meet(fmt::format("the test data have ended after {} batches", epoch.steps));
  requireBatches(epoch);
  warnWhenOut(epoch, reader, "evaluation");
  callbacks.testEnd(logs);
  return logs;
}

static Logs evaluateOn(const Run &run, const BatchSource &batches, const EvaluateArgs args) {
  const FloatMode mode;
  EpochReader reader(batches, false, args.steps, "steps");
  CallTransaction preparing(CallTransaction::Extent::program);
  const ProgressArgs shown{args.verbose, {}, reader.steps()};
  compileBeforeRun(shown, [&] { prepare(run, batches, false); });
  beginTogether(run.model, run.compiled.get());
  preparing.commit();
  CallbackList callbacks(run.model, args.callbacks, shown);
  return runTest(run, batches, reader, callbacks);
}
Logs Model::evaluate(const Tensors &x, const Tensors &y, const EvaluateArgs &args) const {
  const TogetherCall call("evaluate()");
  call.agree(*this, [&](std::vector<Fact> &facts) {
    addArgs(args, facts);
    addData(Batch{x, y, {}}, facts);
  });
  Run run(*this, "using the model's `evaluate()`");
  return evaluateOn(run, BatchSource({x, y, args.sample_weight}, args.batch_size), args);
}
Logs Model::evaluate(const Dataset &dataset, const EvaluateArgs &args) const {
  const TogetherCall call("evaluate()");
  call.agree(*this, [&](std::vector<Fact> &facts) {
    addArgs(args, facts);
    addData(dataset, facts);
  });
  Run run(*this, "using the model's `evaluate()`");
  if (!args.sample_weight.empty())
    refuseWeights(*this);
  return evaluateOn(run, BatchSource(dataset), args);
}

static Tensors predictOn(const Model model, const Tensors &x, const PredictArgs args) {
  const FloatMode mode;
  const TogetherCall call("predict()");
  call.agree(model, [&](std::vector<Fact> &facts) {
    addArgs(args, facts);
    addData(Batch{x, {}, {}}, facts);
  });
  BatchSource batches({TensorAccess::named(orderedInputs(model, x), {}), {}, {}}, args.batch_size);
  EpochReader reader(batches, false, args.steps, "steps");
  CallbackList callbacks(model, args.callbacks, {args.verbose, {}, reader.steps()});
  std::shared_ptr<CompiledFunction> program = predictFunction(model);
  const std::shared_ptr<ProcessGroup> group = processGroup();
  beginTogether(model, nullptr);
  std::vector<std::vector<Tensor>> parts;
  reader.prepareAhead(hostStepsAhead(model, program));
  callbacks.predictBegin();
  EpochReader::Epoch epoch = reader.epoch([&](int64_t i, const BatchPart &part) {
    callbacks.predictBatchBegin(i);
    const std::vector<Tensor> x(part.batch.x.begin(), part.batch.x.end());
    agreeOnPrediction(model, *program, x, part.allRows);
    std::vector<Tensor> outputs = program->run(x);
    parts.resize(outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o)
      parts[o].push_back(group ? gatherRowsOfAll(*group, outputs[o], part.allRows) : outputs[o]);
    callbacks.predictBatchEnd(i);
    return true;
  });
  warnWhenOut(epoch, reader, "prediction");
  callbacks.predictEnd();
  std::vector<Tensor> whole;
  for (const std::vector<Tensor> &batches : parts)
    whole.push_back(TensorAccess::onHost(concatenateRows(batches)));
  const std::vector<std::string> &names = stateOf(model).outputNames;
  return TensorAccess::named(whole, names.size() == whole.size() ? names : std::vector<std::string>{});
}
Tensors Model::predict_all(const Tensors &x, const PredictArgs &args) const { return predictOn(*this, x, args); }
Tensor Model::predict(const Tensors &x, const PredictArgs &args) const {
  const Model model = *this;
  if (stateOf(model).outputs.size() > 1)
    throw Error(ErrorKind::value_error, "the model has several outputs: use predict_all()", model.name());
  Tensors all = predictOn(model, x, args);
  if (all.size() != 1)
    throw Error(ErrorKind::value_error, fmt::format("the model has {} outputs: use predict_all()", all.size()),
                model.name());
  return all[0];
}
} // namespace halftone
