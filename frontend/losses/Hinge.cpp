// Hinge losses.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "halftone/Ops.h"

namespace halftone::losses {
using namespace detail;

namespace {

/// Converts labels to -1 and 1 if all are 0 or 1, in all processes that share the batch.
Value signedLabels(const Value &t) {
  Value binary = ops::logical_or(ops::equal(t, ops::zeros_like(t)), ops::equal(t, ops::ones_like(t)));
  std::vector<int64_t> axes = normalizeAxes("hinge", {}, t.rank());
  Value all = axes.empty() ? binary : tracing().reduce(ReduceKind::logical_and, binary, axes, DType::bool_);
  return ops::where(holdsInAll(all), 2.0 * t - 1.0, t);
}
Value margin(const Value &t, const Value &p) { return positivePart(1.0 - signedLabels(t) * p); }

} // namespace

Hinge::Hinge(const LossArgs &args)
    : Loss(lossOf(args, "hinge", [](const Value &t, const Value &p) { return ops::mean(margin(t, p), -1); })) {}
SquaredHinge::SquaredHinge(const LossArgs &args)
    : Loss(lossOf(args, "squared_hinge",
                  [](const Value &t, const Value &p) { return ops::mean(ops::square(margin(t, p)), -1); })) {}
CategoricalHinge::CategoricalHinge(const LossArgs &args)
    : Loss(lossOf(args, "categorical_hinge", [](const Value &t, const Value &p) {
        return positivePart(ops::max((1.0 - t) * p, -1) - ops::sum(t * p, -1) + 1.0);
      })) {}

} // namespace halftone::losses
