// Sums the losses of outputs and the penalties.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/BatchLoss.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/losses/LossImpl.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::detail {

void requireWeightEntries(size_t weights, size_t targets, const std::string &where) {
  if (weights > 1 && weights != targets)
    throw Error(ErrorKind::value_error,
                fmt::format("`sample_weight` has {} entries for {} targets: expected one entry for all, or one for "
                            "each target",
                            weights, targets),
                where);
}

Value BatchLoss::ofOwnRows() const {
  const std::optional<SharedBatch> &shared = tracing().sharedBatch;
  if (!shared)
    return part;
  const Value isNone = ops::equal(shared->rows, ops::zeros_like(shared->rows));
  const Value ratio = shared->allRows / (ops::maximum(shared->rows, 1.0) * static_cast<double>(shared->processes));
  const Value factor = ops::where(isNone, ops::zeros_like(ratio), ratio);
  Value total;
  for (const Term &term : terms) {
    const Value own = term.own.defined() ? term.own : term.part * asDtype(factor, term.part.dtype(), "shared batch");
    total = total.defined() ? total + own : own;
  }
  return total;
}

BatchLoss computeLoss(const Layer &model, const CompiledModel &compiled, const BatchTargets &targets,
                      const std::vector<Value> &predictions, int64_t rows) {
  const DType floatx = floatxDtype();
  BatchLoss loss;
  const auto add = [&](const Value &part, const Value &own) {
    loss.part = loss.part.defined() ? loss.part + part : part;
    loss.terms.push_back({part, own});
  };
  for (size_t i = 0; i < compiled.losses.size(); ++i) {
    if (!compiled.losses[i].defined())
      continue;
    Value value = asDtype(lossPart(compiled.losses[i], targets.y.at(i), predictions.at(i), targets.weights.at(i)),
                          floatx, "loss");
    if (value.rank() != 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("the loss '{}' returns shape {}: `compile()` needs a loss that reduces to a scalar",
                              compiled.losses[i].name(), value.shape().str()),
                  model.name());
    if (const auto tracker = compiled.outputTrackers.find(i); tracker != compiled.outputTrackers.end())
      tracker->second.update(value, rows);
    if (!compiled.lossWeights.empty())
      value = value * compiled.lossWeights[i];
    add(value, {});
  }
  for (const AddedLoss &penalty : tracing().losses) { // of the activations of this process's rows
    const Value part = partOfMean(penalty.value);
    add(scalarPenalty(part), tracing().sharedBatch ? scalarPenalty(penalty.value) : Value());
  }
  for (const Value &penalty : weightRegularizers(model.trainable_variables())) {
    const Value scalar = scalarPenalty(penalty);
    add(scalar, scalar);
  }
  if (!loss.part.defined())
    throw Error(ErrorKind::value_error, "No loss to compute. Provide a `loss` argument in `compile()`.", model.name());
  return loss;
}

void updateMetrics(const CompiledModel &compiled, const BatchTargets &targets, const std::vector<Value> &predictions) {
  for (const OutputMetric &metric : compiled.metrics)
    updateMetric(metric.metric, targets.y.at(metric.output), predictions.at(metric.output),
                 metric.weighted ? targets.weights.at(metric.output) : Value());
}

} // namespace halftone::detail
