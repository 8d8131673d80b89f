// The circle loss: similarities between rows of the same class against those between different classes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/losses/Fields.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::losses {
using namespace detail;

namespace {

/// log(sum(exp(x))) over the last axis, restricted to elements for which `counts` is true; -inf if there are none.
Value logSumExp(const Value &x, const Value &counts) {
  const Value none = ops::full_like(x, x.dtype() == DType::float16 ? -65504.0 : -1e38);
  const Value most = ops::stop_gradient(ops::max(ops::where(counts, x, none), -1, true));
  const Value shifted = ops::where(counts, x - most, ops::zeros_like(x));
  const Value terms = atLeastFloat32(ops::where(counts, ops::exp(shifted), ops::zeros_like(x)));
  return asDtype(ops::log(ops::sum(terms, -1)), x.dtype(), "loss") + ops::squeeze(most, -1);
}

LossEntries circle(const Value &yTrue, const Value &yPred, const CircleArgs &args) {
  const int64_t batch = yPred.rank() == 2 ? yPred.shape()[0] : -1;
  if (yTrue.shape() != Shape{batch} && yTrue.shape() != Shape{batch, 1})
    throw Error(ErrorKind::value_error,
                fmt::format("{}: expected class indices (batch) and rows (batch, features). Received: "
                            "y_true.shape={}, y_pred.shape={}",
                            "circle", yTrue.shape().str(), yPred.shape().str()));
  const Value labels = ops::reshape(asDtype(yTrue, DType::int32, "index"), {batch, 1});
  const Value same = ops::equal(labels, ops::transpose(labels)), other = ops::logical_not(same);
  Value pairs = same;
  if (args.remove_diagonal)
    pairs = ops::logical_and(same, ops::not_equal(tracing().iota(0, same.shape(), DType::int32),
                                                  tracing().iota(1, same.shape(), DType::int32)));
  const Value distance = positivePart(1.0 - ops::matmul(yPred, ops::transpose(yPred)));
  const Value pull = positivePart(args.margin + distance) * (args.margin - distance) * -args.gamma;
  const Value push = positivePart(1.0 + args.margin - distance) * (1.0 - args.margin - distance) * args.gamma;
  // A row without a pair of either kind has no loss; its sum of logarithms is not finite and has no gradient.
  const Value both = ops::logical_and(ops::any(pairs, -1), ops::any(other, -1));
  const Value exponent = logSumExp(pull, pairs) + logSumExp(push, other);
  const Value losses =
      ops::where(both, ops::softplus(ops::where(both, exponent, ops::zeros_like(exponent))), ops::zeros_like(exponent));
  return {losses, ops::greater(losses, ops::zeros_like(losses))};
}

} // namespace

Circle::Circle(const CircleArgs &args)
    : Loss([&] {
        auto impl = lossImplOf(args, "circle");
        impl->joinsRows = true;
        impl->formula = [args](const Value &yTrue, const Value &yPred) { return circle(yTrue, yPred, args); };
        return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
      }()) {}

} // namespace halftone::losses
