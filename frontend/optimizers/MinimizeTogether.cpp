// Sums gradients over processes, and updates the variables by them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"

namespace halftone::detail {

void minimizeTogether(const Optimizer &optimizer, const Value &loss, const std::vector<Variable> &variables) {
  if (!tracing().sharedBatch || variables.empty())
    return optimizer.minimize(loss, variables, Where{});
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

} // namespace halftone::detail
