// Losses on the distance between rows, as distributions or as directions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Ops.h"

namespace halftone::losses {
using namespace detail;

KLDivergence::KLDivergence(const LossArgs &args)
    : Loss(lossOf(args, "kl_divergence", [](const Value &given, const Value &predicted) {
        Value t = ops::clip(given, config::epsilon(), 1.0), p = ops::clip(predicted, config::epsilon(), 1.0);
        return ops::sum(t * ops::log(t / p), -1);
      })) {}
CosineSimilarity::CosineSimilarity(int64_t axis, const LossArgs &args)
    : Loss(lossOf(
          args, "cosine_similarity",
          [axis](const Value &t, const Value &p) {
            constexpr double most = 1e12; // 1 / the smallest length, which Keras specifies by its square
            const auto along = [axis](const Value &x) { return unitAlong(x, Axes{axis}, most); };
            return asDtype(-ops::sum(along(t) * along(p), Axes{axis}), t.dtype(), "loss");
          },
          [axis](Config &config) { config.set("axis", axis); })) {}

} // namespace halftone::losses
