// Activations by name, as keras.activations, composed of elementwise operations and reductions.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace halftone {
using namespace detail;

namespace ops {

Value relu(const Value &x) { return maximum(x, zeros_like(x)); }
Value leaky_relu(const Value &x, double negative_slope) {
  return where(greater_equal(x, zeros_like(x)), x, x * negative_slope);
}
Value elu(const Value &x, double alpha) {
  return where(greater(x, zeros_like(x)), x, expm1(minimum(x, zeros_like(x))) * alpha);
}
Value silu(const Value &x) { return x * sigmoid(x); }
Value softplus(const Value &x) { return maximum(x, zeros_like(x)) + log1p(exp(-abs(x))); }
Value gelu(const Value &x, bool approximate) {
  if (!approximate)
    return x * 0.5 * (1.0 + erf(x * (1.0 / std::sqrt(2.0))));
  Value inner = std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}
Value softmax(const Value &x, int64_t axis) {
  Value e = exp(x - stop_gradient(max(x, static_cast<int>(axis), true)));
  return e / sum(e, static_cast<int>(axis), true);
}
Value log_softmax(const Value &x, int64_t axis) {
  Value shifted = x - stop_gradient(max(x, static_cast<int>(axis), true));
  return shifted - log(sum(exp(shifted), static_cast<int>(axis), true));
}

} // namespace ops

using Activate = std::function<Value(const Value &)>;
struct ActivationArg::Rep {
  std::string name;
  Activate function;
};

namespace {

const std::map<std::string, Activate> &registry() {
  static const std::map<std::string, Activate> activations = {
      {"relu", [](const Value &x) { return ops::relu(x); }},
      {"relu6", [](const Value &x) { return ops::clip(x, 0.0, 6.0); }},
      {"leaky_relu", [](const Value &x) { return ops::leaky_relu(x); }},
      {"elu", [](const Value &x) { return ops::elu(x); }},
      {"selu", [](const Value &x) { return 1.0507009873554805 * ops::elu(x, 1.6732632423543772); }},
      {"gelu", [](const Value &x) { return ops::gelu(x, false); }},
      {"silu", [](const Value &x) { return ops::silu(x); }},
      {"swish", [](const Value &x) { return ops::silu(x); }},
      {"sigmoid", [](const Value &x) { return ops::sigmoid(x); }},
      {"hard_sigmoid", [](const Value &x) { return ops::clip(x * (1.0 / 6.0) + 0.5, 0.0, 1.0); }},
      {"tanh", [](const Value &x) { return ops::tanh(x); }},
      {"softplus", [](const Value &x) { return ops::softplus(x); }},
      {"softsign", [](const Value &x) { return x / (1.0 + ops::abs(x)); }},
      {"exponential", [](const Value &x) { return ops::exp(x); }},
      {"softmax", [](const Value &x) { return ops::softmax(x); }},
      {"log_softmax", [](const Value &x) { return ops::log_softmax(x); }},
  };
  return activations;
}

} // namespace

ActivationArg::ActivationArg() noexcept = default;
ActivationArg::ActivationArg(const ActivationArg &) = default;
ActivationArg::ActivationArg(ActivationArg &&) noexcept = default;
ActivationArg &ActivationArg::operator=(const ActivationArg &) & = default;
ActivationArg &ActivationArg::operator=(ActivationArg &&) &noexcept = default;
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
  rep_ = std::make_shared<Rep>(Rep{name, found->second});
}
ActivationArg::ActivationArg(Activate f) : rep_(std::make_shared<Rep>(Rep{"function", std::move(f)})) {}
std::string ActivationArg::name() const { return rep_ ? rep_->name : "linear"; }
Value ActivationArg::operator()(const Value &x) const { return rep_ ? rep_->function(x) : x; }

} // namespace halftone
