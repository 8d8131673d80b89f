// Sums gradients over processes, and updates the variables with them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

namespace {

/// While it lives, only this optimizer may update variables in a multi-process step.
class Updating {
public:
  explicit Updating(const Optimizer &optimizer)
      : trace_(tracing()), saved_(std::exchange(trace_.onlyOptimizer, optimizer.impl().get())) {}
  ~Updating() { trace_.onlyOptimizer = saved_; }
  Updating(const Updating &) = delete;

private:
  Trace &trace_;
  const void *saved_;
};

/// The mean over processes of the gradient of a variable or, if the gradient replaces the variable, the maximum.
Value ofAll(const Variable &variable, const Value &own) {
  return variable.impl()->update == UpdateKind::overwrite ? tracing().allReduce(CollectiveKind::max, own)
                                                          : meanOverProcesses(own);
}

} // namespace

void minimizeTogether(const Optimizer &optimizer, const Value &loss, const std::vector<Variable> &variables) {
  if (!tracing().sharedBatch || variables.empty())
    return optimizer.minimize(loss, variables, Where{});
  const Updating updating(optimizer);
  SharedBatch &shared = *tracing().sharedBatch;
  std::vector<Value> all = gradients(optimizer.scale_loss(loss), variables, Where{});
  optimizer.impl()->build(variables);
  const OptimizerParts &parts = optimizer.impl()->parts();
  shared.hasOwnGradients = optimizer.impl()->takesOwnGradients();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].defined() && variables[i].impl()->update == UpdateKind::overwrite)
      all[i] = tracing().allReduce(CollectiveKind::max, all[i]);
    else if (all[i].defined())
      all[i] = (shared.hasOwnGradients ? parts.ownOfSum(variables[i], all[i]) : sumOverProcesses(all[i])) /
               static_cast<double>(shared.processes);
  parts.read();
  optimizer.apply(all, variables);
  shared.hasOwnGradients = false;
  parts.gather();
}

std::vector<Value> gradientsTogether(const Optimizer &optimizer, const Value &loss,
                                     const std::vector<Variable> &variables) {
  if (variables.empty())
    return {};
  std::vector<Value> all = optimizer.unscale(gradients(optimizer.scale_loss(loss), variables, Where{}));
  if (tracing().sharedBatch)
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].defined())
        all[i] = ofAll(variables[i], all[i]);
  return all;
}

void applyTogether(const Optimizer &optimizer, const std::vector<Value> &gradients,
                   const std::vector<Variable> &variables) {
  const Updating updating(optimizer);
  if (!tracing().sharedBatch || variables.empty())
    return optimizer.apply(gradients, variables, {.unscaled = true});
  optimizer.impl()->build(variables);
  const OptimizerParts &parts = optimizer.impl()->parts();
  parts.read();
  optimizer.apply(gradients, variables, {.unscaled = true});
  parts.gather();
}

void requireMayUpdate(const Optimizer &optimizer) {
  const Trace *trace = Trace::current();
  if (trace && trace->onlyOptimizer && trace->onlyOptimizer != optimizer.impl().get())
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("The optimizer '{}' would update variables with the gradients of one process. In a step of "
                            "several processes, only `step.minimize()` and `step.apply()` may update variables, with "
                            "the gradients of all processes",
                            optimizer.name()));
}

} // namespace halftone::detail
