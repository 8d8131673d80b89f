// Activations by name, as in keras.activations, composed of elementwise operations and reductions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/Rematerialize.h"
#include "frontend/ops/InnerSums.h"
#include "frontend/ops/Masks.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Softplus.h"
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>

namespace halftone {
using namespace detail;

namespace {

/// Casts x to a float: integers and bools to floatx.
Value real(const Value &x) {
  if (is_float(x.dtype()))
    return x;
  return applyOne("cast", {x}, [](const std::vector<Value> &v) { return asFloat(v[0]); });
}
/// Clamps x to [0, 6]. The gradient at the two bounds is 0, whereas that of clip is 1/2.
Value keptToSix(const Value &x) {
  Value bounds = ops::clip(x, 0.0, 6.0);
  Value inside = ops::logical_and(ops::greater(x, ops::zeros_like(x)), ops::less(x, ops::full_like(x, 6.0)));
  return ops::where(inside, x, ops::stop_gradient(bounds));
}
Value hardSigmoid(const Value &x) { return keptToSix(x + 3.0) / 6.0; }
/// 0 in [-threshold, threshold]; outside, x or, if `moved`, x moved towards 0 by the threshold.
Value shrunk(const Value &x, double threshold, bool moved) {
  const Value above = ops::greater(x, threshold), below = ops::less(x, -threshold);
  const Value outside = moved ? ops::where(above, x - threshold, x + threshold) : x;
  return ops::where(ops::logical_or(above, below), outside, ops::zeros_like(x));
}
/// keras.activations.sparsemax: max(x - t, 0) over the last axis. The k largest elements, which form the support,
/// determine t as (the sum of their cumulative sums - 1) / k. (The projection onto the simplex uses only the last
/// cumulative sum.) Ranks and sums are in float32 at least: float16 counts to 2,048 and bfloat16 to 256.
Value sparsemaxOverLast(const Value &given) {
  const Value x = atLeastFloat32(given);
  const Value each = ops::expand_dims(x, -1), other = ops::expand_dims(x, -2), excess = other - each;
  const Value position = tracing().iota(x.rank() - 1, excess.shape(), DType::int32),
              rival = tracing().iota(x.rank(), excess.shape(), DType::int32);
  const Value before = ops::logical_or(ops::greater(excess, ops::zeros_like(excess)),
                                       ops::logical_and(ops::equal(other, each), ops::less(rival, position)));
  const Value rank = ops::sum(asDtype(before, x.dtype()), -1); // in descending order of the elements
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
Value relu6(const Value &x) { return isSymbolic(x) ? recordOperation("Relu6", {x}) : keptToSix(real(x)); }
Value selu(const Value &x) {
  return isSymbolic(x) ? recordOperation("Selu", {x}) : 1.0507009873554805 * elu(x, 1.6732632423543772);
}
Value celu(const Value &x, double alpha) {
  if (isSymbolic(x))
    return recordOperation("Celu", {x}, configOf("alpha", alpha));
  return alpha == 1.0 ? elu(x) : relu(x) + alpha * expm1(-relu(-x) / alpha);
}
/// Multiplies each element of the first half of the axis by the sigmoid of its partner in the second half.
Value glu(const Value &given, int64_t axis) {
  if (isSymbolic(given))
    return recordOperation("Glu", {given}, configOf("axis", axis));
  const Value x = real(given);
  const int64_t along = normalizeAxis("glu", axis, x.rank());
  if (x.shape()[along] % 2 != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("glu needs an axis of even extent. Received: shape={}, axis={}", x.shape().str(), axis));
  const std::vector<Value> halves = split(x, 2, along);
  return halves[0] * sigmoid(halves[1]);
}
Value hard_sigmoid(const Value &x) {
  return isSymbolic(x) ? recordOperation("HardSigmoid", {x}) : hardSigmoid(real(x));
}
Value hard_silu(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("HardSilu", {x});
  const Value y = real(x);
  return y * hardSigmoid(y);
}
/// Clamps x to [-1, 1], with gradient 1 at the bounds.
Value hard_tanh(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("HardTanh", {x});
  const Value y = real(x), one = ones_like(y);
  return where(greater(y, one), one, where(less(y, -one), -one, y));
}
Value hard_shrink(const Value &x, double threshold) {
  return isSymbolic(x) ? recordOperation("HardShrink", {x}, configOf("threshold", threshold))
                       : shrunk(real(x), threshold, false);
}
Value soft_shrink(const Value &x, double threshold) {
  return isSymbolic(x) ? recordOperation("SoftShrink", {x}, configOf("threshold", threshold))
                       : shrunk(real(x), threshold, true);
}
Value tanh_shrink(const Value &x) { return isSymbolic(x) ? recordOperation("TanhShrink", {x}) : real(x) - tanh(x); }
Value threshold(const Value &x, double threshold, double default_value) {
  if (isSymbolic(x)) {
    Config config = configOf("threshold", threshold);
    setField(config, "default_value", default_value);
    return recordOperation("Threshold", {x}, config);
  }
  return where(greater(x, threshold), x, full_like(x, default_value));
}
Value log_sigmoid(const Value &x) { return isSymbolic(x) ? recordOperation("LogSigmoid", {x}) : -softplus(-real(x)); }
Value mish(const Value &x) { return x * tanh(softplus(x)); }
Value softsign(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Softsign", {x});
  const Value y = real(x);
  return y / (1.0 + abs(y));
}
/// 0 below -1, x above 1, and a parabola between.
Value sparse_plus(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("SparsePlus", {x});
  const Value y = real(x), one = ones_like(y);
  return where(less_equal(y, -one), zeros_like(y), where(greater_equal(y, one), y, square(y + 1.0) / 4.0));
}
Value sparse_sigmoid(const Value &x) {
  return isSymbolic(x) ? recordOperation("SparseSigmoid", {x}) : 0.5 * clip(real(x) + 1.0, 0.0, 2.0);
}
Value sparsemax(const Value &x, int64_t axis) {
  if (isSymbolic(x))
    return recordOperation("Sparsemax", {x}, configOf("axis", axis));
  const Value y = real(x);
  const int64_t along = normalizeAxis("sparsemax", axis, y.rank());
  if (along == y.rank() - 1)
    return sparsemaxOverLast(y);
  return moveaxis(sparsemaxOverLast(moveaxis(y, along, -1)), -1, along);
}
Value squareplus(const Value &x, double b) {
  if (isSymbolic(x))
    return recordOperation("Squareplus", {x}, configOf("b", b));
  const Value y = real(x);
  return 0.5 * (y + sqrt(square(y) + b));
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

using Plain = Value (*)(const Value &);
const std::map<std::string, Plain> &registry() {
  static const auto &activations = *new std::map<std::string, Plain>{
      {"relu", ops::relu},
      {"relu6", ops::relu6},
      {"leaky_relu", [](const Value &x) { return ops::leaky_relu(x); }},
      {"elu", [](const Value &x) { return ops::elu(x); }},
      {"selu", ops::selu},
      {"gelu", [](const Value &x) { return ops::gelu(x, false); }},
      {"silu", ops::silu},
      {"swish", ops::silu},
      {"sigmoid", ops::sigmoid},
      {"hard_sigmoid", ops::hard_sigmoid},
      {"hard_silu", ops::hard_silu},
      {"hard_swish", ops::hard_silu},
      {"hard_tanh", ops::hard_tanh},
      {"hard_shrink", [](const Value &x) { return ops::hard_shrink(x); }},
      {"soft_shrink", [](const Value &x) { return ops::soft_shrink(x); }},
      {"tanh_shrink", ops::tanh_shrink},
      {"celu", [](const Value &x) { return ops::celu(x); }},
      {"glu", [](const Value &x) { return ops::glu(x); }},
      {"mish", ops::mish},
      {"log_sigmoid", ops::log_sigmoid},
      {"squareplus", [](const Value &x) { return ops::squareplus(x); }},
      {"sparse_plus", ops::sparse_plus},
      {"sparse_sigmoid", ops::sparse_sigmoid},
      {"sparsemax", [](const Value &x) { return ops::sparsemax(x); }},
      {"tanh", ops::tanh},
      {"softplus", ops::softplus},
      {"softsign", ops::softsign},
      {"exponential", ops::exp},
      {"softmax", [](const Value &x) { return ops::softmax(x); }},
      {"log_softmax", [](const Value &x) { return ops::log_softmax(x); }},
  };
  return activations;
}

constexpr const char *unnamed = "function";

/// Keras's canonical name of a function with two names.
std::string keptName(const std::string &name) {
  return name == "swish" ? "silu" : name == "hard_swish" ? "hard_silu" : name;
}

} // namespace

template <> ClassRegistry<ActivationArg> &detail::functionsOf<ActivationArg>() {
  static auto &activations =
      *new ClassRegistry<ActivationArg>({.kind = "activation", .method = "", .call = "", .isFunction = true});
  return activations;
}
void register_activation(const std::string &registered_name, const ActivationArg &f) {
  if (registry().contains(registered_name) || registered_name == "linear" || registered_name == unnamed)
    throw Error(
        ErrorKind::value_error,
        fmt::format("'{0}' is the name of a built-in activation: register yours as \"package>{0}\"", registered_name));
  functionsOf<ActivationArg>().add(registered_name, f);
}

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
  if (const auto found = registry().find(name); found != registry().end()) {
    rep_ = std::make_shared<Rep>(Rep{keptName(name), found->second});
    return;
  }
  if (const std::optional<ActivationArg> ofUser = functionsOf<ActivationArg>().find(name)) {
    rep_ = std::make_shared<Rep>(Rep{name, [f = *ofUser](const Value &x) { return f(x); }});
    return;
  }
  std::vector<std::string> known{"linear"};
  for (const auto &[key, function] : registry())
    known.push_back(key);
  std::ranges::copy(functionsOf<ActivationArg>().names(), std::back_inserter(known));
  throw Error(ErrorKind::value_error,
              fmt::format("Could not interpret activation function identifier: {0}. Known: {1}. Before loading a file "
                          "that names your own function, register it with register_activation(\"{0}\", f)",
                          name, fmt::join(known, ", ")));
}
ActivationArg::ActivationArg(Activate f) {
  if (!f)
    throw Error(ErrorKind::value_error, "an activation needs a function; received an empty one");
  rep_ = std::make_shared<Rep>(Rep{unnamed, std::move(f)});
}
ActivationArg::ActivationArg(Plain f) : ActivationArg(Activate(f)) {
  const auto named = std::ranges::find(registry(), f, &std::pair<const std::string, Plain>::second);
  if (named != registry().end())
    *this = ActivationArg(named->first);
}
/// The name of a user function is the name under which the same object or pointer is registered.
std::string ActivationArg::name() const {
  if (!rep_ || rep_->name != unnamed)
    return rep_ ? rep_->name : "linear";
  const auto pointerOf = [](const Rep &rep) {
    const Plain *pointer = rep.function.target<Plain>();
    return pointer ? *pointer : nullptr;
  };
  const auto registered =
      functionsOf<ActivationArg>().nameIf([&](const std::string &, const ActivationArg &activation) {
        const Plain own = pointerOf(*rep_);
        return activation.rep_ && (activation.rep_ == rep_ || (own && pointerOf(*activation.rep_) == own));
      });
  return registered.value_or(rep_->name);
}
Value ActivationArg::operator()(const Value &x) const {
  if (!rep_)
    return x;
  if (x.node()->isTraced() && detail::isActivationRematerialized())
    return tracing().rematerialized([&] { return std::vector<Value>{rep_->function(x)}; }).front();
  return rep_->function(x);
}

} // namespace halftone
