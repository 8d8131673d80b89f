// Losses on the overlap of two areas, given as fractions per element.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/Fields.h"
#include "halftone/Ops.h"

namespace halftone::losses {
using namespace detail;

namespace {

template <class Args>
Loss overlapLoss(const Args &args, const char *name, Value (*overlap)(const Value &, const Value &, const Args &)) {
  return lossOf(
      {args.reduction, args.name, args.dtype}, name,
      [args, overlap](const Value &t, const Value &p) {
        return asDtype(1.0 - overlap(atLeastFloat32(t), atLeastFloat32(p), args), t.dtype(), "loss");
      },
      [args](Config &config) { writeFields(config, args, lossFields<Args>); });
}
template <class Args> Value sumOver(const Value &x, const Args &args) {
  return ops::sum(x, args.axis.value_or(Axes{}));
}

Value dice(const Value &t, const Value &p, const DiceArgs &args) {
  return 2.0 * sumOver(t * p, args) / (sumOver(t, args) + sumOver(p, args) + config::epsilon());
}
Value tversky(const Value &t, const Value &p, const TverskyArgs &args) {
  const Value both = sumOver(t * p, args);
  return both / (both + sumOver((1.0 - p) * t, args) * args.alpha + sumOver(p * (1.0 - t), args) * args.beta +
                 config::epsilon());
}

} // namespace

Dice::Dice(const DiceArgs &args) : Loss(overlapLoss(args, "dice", dice)) {}
Tversky::Tversky(const TverskyArgs &args) : Loss(overlapLoss(args, "tversky", tversky)) {}

} // namespace halftone::losses
