// Losses that are means of errors over the last axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/LossImpl.h"
#include "halftone/Ops.h"

namespace halftone::losses {
using namespace detail;

static Loss meanError(const LossArgs &args, const char *name, Value (*error)(const Value &)) {
  auto impl = std::make_shared<LossImpl>();
  impl->name = args.name.empty() ? name : args.name;
  impl->reduction = args.reduction;
  impl->dtype = dtypeOfArgument(args.dtype, impl->name);
  impl->formula = [error, what = impl->name](const Value &yTrue, const Value &yPred) {
    Value t = yTrue, p = yPred;
    matchRanks(t, p);
    requireSameShape(what, t, p);
    return LossEntries{ops::mean(error(t - p), -1), {}};
  };
  return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
}

MeanSquaredError::MeanSquaredError(const LossArgs &args)
    : Loss(meanError(args, "mean_squared_error", [](const Value &x) { return ops::square(x); })) {}
MeanAbsoluteError::MeanAbsoluteError(const LossArgs &args)
    : Loss(meanError(args, "mean_absolute_error", [](const Value &x) { return ops::abs(x); })) {}

} // namespace halftone::losses
