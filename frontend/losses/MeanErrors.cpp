// Losses that are means of errors over the last axis.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/losses/LossImpl.h"
#include "halftone/Ops.h"
#include <numbers>

namespace halftone::losses {
using namespace detail;

namespace {

template <class Error>
Loss meanOf(const LossArgs &args, const char *name, Error error, std::function<void(Config &)> addConfig = {}) {
  return lossOf(
      args, name, [error](const Value &t, const Value &p) { return ops::mean(error(t, p), -1); }, std::move(addConfig));
}
Value atLeastEpsilon(const Value &x) { return ops::maximum(x, ops::full_like(x, config::epsilon())); }

} // namespace

MeanSquaredError::MeanSquaredError(const LossArgs &args)
    : Loss(meanOf(args, "mean_squared_error", [](const Value &t, const Value &p) { return ops::square(t - p); })) {}
MeanAbsoluteError::MeanAbsoluteError(const LossArgs &args)
    : Loss(meanOf(args, "mean_absolute_error", [](const Value &t, const Value &p) { return ops::abs(t - p); })) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(const LossArgs &args)
    : Loss(lossOf(args, "mean_absolute_percentage_error", [](const Value &t, const Value &p) {
        return 100.0 * ops::mean(ops::abs((t - p) / atLeastEpsilon(ops::abs(t))), -1);
      })) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(const LossArgs &args)
    : Loss(meanOf(args, "mean_squared_logarithmic_error", [](const Value &t, const Value &p) {
        return ops::square(ops::log(atLeastEpsilon(p) + 1.0) - ops::log(atLeastEpsilon(t) + 1.0));
      })) {}
Huber::Huber(double delta, const LossArgs &args)
    : Loss(meanOf(
          args, "huber_loss",
          [delta](const Value &t, const Value &p) {
            Value error = p - t, size = ops::abs(error);
            return ops::where(ops::less_equal(size, ops::full_like(size, delta)), 0.5 * ops::square(error),
                              delta * size - 0.5 * delta * delta);
          },
          [delta](Config &config) { config.set("delta", delta); })) {}
LogCosh::LogCosh(const LossArgs &args)
    : Loss(meanOf(args, "log_cosh", [](const Value &t, const Value &p) {
        Value x = p - t;
        return x + ops::softplus(x * -2.0) - std::numbers::ln2;
      })) {}
Poisson::Poisson(const LossArgs &args)
    : Loss(meanOf(args, "poisson",
                  [](const Value &t, const Value &p) { return p - t * ops::log(p + config::epsilon()); })) {}

} // namespace halftone::losses
