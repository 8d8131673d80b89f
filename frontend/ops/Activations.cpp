// Activations by name, as keras.activations, composed of elementwise operations and reductions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/graph/Rematerialize.h"
#include "frontend/ops/InnerSums.h"
#include "frontend/ops/Masks.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Softplus.h"
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace halftone {
using namespace detail;

namespace {

/// x as a float: integers and bools in floatx.
Value real(const Value &x) {
  if (is_float(x.dtype()))
    return x;
  return applyOne("cast", {x}, [](const std::vector<Value> &v) { return asFloat(v[0]); });
}
/// x kept in [0, 6]. Its slope at the two bounds is 0, where clip's slope is 1/2.
Value relu6(const Value &x) {
  Value bounds = ops::clip(x, 0.0, 6.0);
  Value inside = ops::logical_and(ops::greater(x, ops::zeros_like(x)), ops::less(x, ops::full_like(x, 6.0)));
  return ops::where(inside, x, ops::stop_gradient(bounds));
}

Value hardSigmoid(const Value &x) { return relu6(x + 3.0) / 6.0; }
/// 0 between the thresholds, and beyond them x or, `moved`, x less the threshold.
Value shrunk(const Value &x, bool moved) {
  constexpr double threshold = 0.5; // Keras's
  const Value above = ops::greater(x, threshold),
              below = ops::less(x, -threshold);
  const Value outside = moved ? ops::where(above, x - threshold, x + threshold) : x;
  return ops::where(ops::logical_or(above, below), outside, ops::zeros_like(x));
}
/// x kept in [-1, 1], with the slope 1 at the bounds.
Value hardTanh(const Value &x) {
  const Value one = ops::ones_like(x);
  return ops::where(ops::greater(x, one), one, ops::where(ops::less(x, -one), -one, x));
}
/// 0 up to -1, x from 1 on, and a parabola between.
Value sparsePlus(const Value &x) {
  const Value one = ops::ones_like(x);
  return ops::where(ops::less_equal(x, -one), ops::zeros_like(x),
                    ops::where(ops::greater_equal(x, one), x, ops::square(x + 1.0) / 4.0));
}
/// The first half of the last axis, each element times the sigmoid of its partner in the second half.
Value glu(const Value &x) {
  if (x.rank() == 0 || x.shape()[-1] % 2 != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("glu needs a last axis of even extent. Received: shape={}", x.shape().str()));
  const std::vector<Value> halves = ops::split(x, 2, -1);
  return halves[0] * ops::sigmoid(halves[1]);
}
/// keras.activations.sparsemax: max(x - t, 0) over the last axis. The k largest elements that are supported give t, as
/// (the sum of their cumulative sums - 1) / k. (The projection on the simplex takes the last cumulative sum alone.)
/// Ranks and sums are in float32 at least: float16 counts to 2,048 and bfloat16 to 256.
Value sparsemax(const Value &given) {
  if (given.rank() == 0)
    throw Error(ErrorKind::value_error, "sparsemax needs at least one axis. Received: shape=()");
  const Value x = atLeastFloat32(given);
  const Value each = ops::expand_dims(x, -1), other = ops::expand_dims(x, -2), excess = other - each;
  const Value place = tracing().iota(x.rank() - 1, excess.shape(), DType::int32),
              rival = tracing().iota(x.rank(), excess.shape(), DType::int32);
  const Value before = ops::logical_or(ops::greater(excess, ops::zeros_like(excess)),
                                       ops::logical_and(ops::equal(other, each), ops::less(rival, place)));
  const Value rank = ops::sum(asDtype(before, x.dtype()), -1); // among the elements in descending order
  const Value above = ops::sum(ops::maximum(excess, ops::zeros_like(excess)), -1);
  const Value supported = asDtype(ops::less(above, ops::ones_like(above)), x.dtype());
  const Value k = ops::sum(supported, -1, true);
  const Value sums = ops::sum(ops::stop_gradient(supported * (k - rank)) * x, -1, true);
  const Value rest = x - (sums - 1.0) / ops::stop_gradient(k);
  return asDtype(ops::maximum(rest, ops::zeros_like(rest)), given.dtype());
}

} // namespace

SoftplusParts detail::softplusParts(const Value &x) {
  Value positive = ops::greater(x, ops::zeros_like(x));
  return {ops::where(positive, x, ops::zeros_like(x)), ops::log1p(ops::exp(ops::where(positive, -x, x)))};
}

namespace ops {

Value leaky_relu(const Value &x, double negative_slope) {
  if (isSymbolic(x))
    return recordOperation("LeakyRelu", {x}, configOf("negative_slope", negative_slope));
  Value y = real(x);
  return where(greater_equal(y, zeros_like(y)), y, y * negative_slope);
}
Value elu(const Value &x, double alpha) {
  if (isSymbolic(x))
    return recordOperation("Elu", {x}, configOf("alpha", alpha));
  Value y = real(x), positive = greater(y, zeros_like(y));
  return where(positive, y, expm1(where(positive, zeros_like(y), y)) * alpha);
}
Value silu(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Silu", {x});
  Value y = real(x);
  return y * sigmoid(y);
}
Value softplus(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Softplus", {x});
  SoftplusParts parts = softplusParts(real(x));
  return parts.linear + parts.curved;
}
Value gelu(const Value &x, bool approximate) {
  if (isSymbolic(x))
    return recordOperation("Gelu", {x}, configOf("approximate", approximate));
  Value y = real(x);
  if (!approximate)
    return y * 0.5 * (1.0 + erf(y * (1.0 / std::sqrt(2.0))));
  Value inner = std::sqrt(2.0 / 3.14159265358979323846) * (y + 0.044715 * (y * y * y));
  return 0.5 * y * (1.0 + tanh(inner));
}
Value softmax(const Value &x, int64_t axis) {
  if (isSymbolic(x))
    return recordOperation("Softmax", {x}, configOf("axis", axis));
  return softmaxOver(x, axis);
}
Value log_softmax(const Value &x, int64_t axis) {
  if (isSymbolic(x))
    return recordOperation("LogSoftmax", {x}, configOf("axis", axis));
  const Value below = belowLargest(x, axis);
  const Value logs = below - log(sum(exp(below), axis, true));
  return asDtype(logs, floatOf(x.dtype()));
}

} // namespace ops

using Activate = std::function<Value(const Value &)>;
struct ActivationArg::Rep {
  std::string name;
  Activate function;
};

namespace {

const std::map<std::string, Activate> &registry() {
  static const auto &activations = *new std::map<std::string, Activate>{
      {"relu", [](const Value &x) { return ops::relu(x); }},
      {"relu6", [](const Value &x) { return relu6(real(x)); }},
      {"leaky_relu", [](const Value &x) { return ops::leaky_relu(x); }},
      {"elu", [](const Value &x) { return ops::elu(x); }},
      {"selu", [](const Value &x) { return 1.0507009873554805 * ops::elu(x, 1.6732632423543772); }},
      {"gelu", [](const Value &x) { return ops::gelu(x, false); }},
      {"silu", [](const Value &x) { return ops::silu(x); }},
      {"swish", [](const Value &x) { return ops::silu(x); }},
      {"sigmoid", [](const Value &x) { return ops::sigmoid(x); }},
      {"hard_sigmoid", [](const Value &x) { return hardSigmoid(real(x)); }},
      {"hard_silu", [](const Value &x) { return real(x) * hardSigmoid(real(x)); }},
      {"hard_swish", [](const Value &x) { return real(x) * hardSigmoid(real(x)); }},
      {"hard_tanh", [](const Value &x) { return hardTanh(real(x)); }},
      {"hard_shrink", [](const Value &x) { return shrunk(real(x), false); }},
      {"soft_shrink", [](const Value &x) { return shrunk(real(x), true); }},
      {"tanh_shrink", [](const Value &x) { return real(x) - ops::tanh(x); }},
      {"celu", [](const Value &x) { return ops::elu(x); }}, // of alpha 1
      {"glu", [](const Value &x) { return glu(real(x)); }},
      {"mish", [](const Value &x) { return real(x) * ops::tanh(ops::softplus(x)); }},
      {"log_sigmoid", [](const Value &x) { return -ops::softplus(-real(x)); }},
      {"squareplus", [](const Value &x) { return 0.5 * (real(x) + ops::sqrt(ops::square(real(x)) + 4.0)); }},
      {"sparse_plus", [](const Value &x) { return sparsePlus(real(x)); }},
      {"sparse_sigmoid", [](const Value &x) { return 0.5 * ops::clip(real(x) + 1.0, 0.0, 2.0); }},
      {"sparsemax", [](const Value &x) { return sparsemax(real(x)); }},
      {"tanh", [](const Value &x) { return ops::tanh(x); }},
      {"softplus", [](const Value &x) { return ops::softplus(x); }},
      {"softsign", [](const Value &x) { return real(x) / (1.0 + ops::abs(real(x))); }},
      {"exponential", [](const Value &x) { return ops::exp(x); }},
      {"softmax", [](const Value &x) { return ops::softmax(x); }},
      {"log_softmax", [](const Value &x) { return ops::log_softmax(x); }},
  };
  return activations;
}

/// Keras's name of a function that has two.
std::string keptName(const std::string &name) {
  return name == "swish" ? "silu" : name == "hard_swish" ? "hard_silu" : name;
}

} // namespace

ActivationArg::ActivationArg() noexcept = default;
ActivationArg::ActivationArg(const ActivationArg &) = default;
ActivationArg::ActivationArg(ActivationArg &&) noexcept = default;
ActivationArg &ActivationArg::operator=(const ActivationArg &) & = default;
ActivationArg &ActivationArg::operator=(ActivationArg &&) & noexcept = default;
ActivationArg::~ActivationArg() = default;
ActivationArg::ActivationArg(const char *name) : ActivationArg(std::string(name)) {}
ActivationArg::ActivationArg(const std::string &name) {
  if (name == "linear")
    return;
  auto found = registry().find(name);
  if (found == registry().end()) {
    std::string known = "linear";
    for (const auto &[key, function] : registry())
      known += ", " + key;
    throw Error(ErrorKind::value_error,
                fmt::format("Could not interpret activation function identifier: {}. Known: {}", name, known));
  }
  rep_ = std::make_shared<Rep>(Rep{keptName(name), found->second});
}
ActivationArg::ActivationArg(Activate f) {
  if (!f)
    throw Error(ErrorKind::value_error, "an activation needs a function that can be called; an empty one was given");
  rep_ = std::make_shared<Rep>(Rep{"function", std::move(f)});
}
std::string ActivationArg::name() const { return rep_ ? rep_->name : "linear"; }
Value ActivationArg::operator()(const Value &x) const {
  if (!rep_)
    return x;
  if (x.node()->isTraced() && detail::isActivationRematerialized())
    return tracing().rematerialized([&] { return rep_->function(x); });
  return rep_->function(x);
}

} // namespace halftone
