// Losses of the distance between rows, as distributions or as directions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/LossImpl.h"
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
            // Lengths are in float32 at least: Keras's least square of a length, 1e-24, is 0 in float16.
            auto along = [axis](const Value &x) {
              Value wide = itemsize(x.dtype()) < 4 ? asDtype(x, DType::float32, "loss") : x;
              Value squares = ops::sum(ops::square(wide), Axes{axis}, true);
              return wide * ops::rsqrt(ops::maximum(squares, ops::full_like(squares, 1e-24)));
            };
            return asDtype(-ops::sum(along(t) * along(p), Axes{axis}), t.dtype(), "loss");
          },
          [axis](Config &config) { config.set("axis", axis); })) {}

} // namespace halftone::losses
