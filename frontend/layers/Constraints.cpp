// keras.constraints: projections of weights, in the dtype of the weight.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

enum class Kind { max_norm, non_neg, unit_norm, min_max_norm, function };

struct Bounds { // of norms
  double least = 0.0, most = 1.0, rate = 1.0;
  Axes axis = 0;
};

struct Named {
  const char *name, *className;
  Kind kind;
  double most; // the default of max_value
};
constexpr Named names[] = {{"max_norm", "MaxNorm", Kind::max_norm, 2.0},
                           {"non_neg", "NonNeg", Kind::non_neg, 0.0},
                           {"unit_norm", "UnitNorm", Kind::unit_norm, 0.0},
                           {"min_max_norm", "MinMaxNorm", Kind::min_max_norm, 1.0}};

/// Calls f with the fields of a kind, in Keras's order.
template <class F> void withFields(Kind kind, F f) {
  const Field most{"max_value", &Bounds::most};
  const Field axis{"axis", &Bounds::axis};
  if (kind == Kind::max_norm)
    f(std::tuple{most, axis});
  else if (kind == Kind::unit_norm)
    f(std::tuple{axis});
  else if (kind == Kind::min_max_norm)
    f(std::tuple{Field{"min_value", &Bounds::least}, most, Field{"rate", &Bounds::rate}, axis});
  else
    f(std::tuple<>());
}

/// Projects `weight` to norms within `bounds`, in float32 at least. If norms overflow float32, they, and all values
/// compared with them, are those of the scaled weight.
Value projected(const Value &weight, Kind kind, const Bounds &bounds) {
  const ScaledNorm norm = scaledNorm(weight, bounds.axis);
  const auto scaled = [&](double bound) {
    const Value number = ops::full_like(norm.squares, bound);
    return norm.scale.defined() ? number * norm.scale : number;
  };
  const Value norms = ops::sqrt(norm.squares), divisor = scaled(config::epsilon()) + norms;
  if (kind == Kind::unit_norm)
    return norm.x / divisor;
  // The quotient is scale-free, so it multiplies the unscaled weight.
  const Value wide = atLeastFloat32(weight);
  const Value inside = ops::minimum(ops::maximum(norms, scaled(bounds.least)), scaled(bounds.most));
  if (kind == Kind::max_norm)
    return wide * (inside / divisor);
  return wide * ((bounds.rate * inside + (1.0 - bounds.rate) * norms) / divisor);
}

} // namespace

struct Constraint::Rep {
  Kind kind = Kind::function;
  std::string className = "function";
  Bounds bounds{};
  std::function<Value(const Value &)> function{};
  CustomObject object{}; // the user's, if `kind` is function
};

Constraint::Constraint() noexcept = default;
Constraint::Constraint(const Constraint &) = default;
Constraint::Constraint(Constraint &&) noexcept = default;
Constraint &Constraint::operator=(const Constraint &) & = default;
Constraint &Constraint::operator=(Constraint &&) & noexcept = default;
Constraint::~Constraint() = default;
Constraint::Constraint(const char *name) : Constraint(std::string(name)) {}
Constraint::Constraint(const std::string &name) {
  const Named *found = std::find_if(std::begin(names), std::end(names),
                                    [&](const Named &known) { return name == known.name || name == known.className; });
  if (found == std::end(names))
    throw Error(ErrorKind::value_error, fmt::format("Could not interpret constraint identifier: {}. Known: max_norm, "
                                                    "non_neg, unit_norm, min_max_norm",
                                                    name));
  rep_ = std::make_shared<Rep>(Rep{found->kind, found->className, {.most = found->most}});
}
Constraint::Constraint(std::function<Value(const Value &)> f, CustomObject object)
    : rep_(std::make_shared<Rep>(
          Rep{.className = object.class_name, .function = std::move(f), .object = std::move(object)})) {
  if (!rep_->function)
    throw Error(ErrorKind::value_error, "a constraint needs a function; received an empty one");
}

std::string Constraint::name() const { return rep_ ? rep_->className : ""; }

Config Constraint::get_config() const {
  Config config;
  if (!rep_)
    return config;
  if (rep_->kind == Kind::function)
    return customConfig(rep_->object, "A constraint");
  withFields(rep_->kind, [&](const auto &fields) { writeFields(config, rep_->bounds, fields); });
  return config;
}

Value Constraint::operator()(const Value &weight) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no constraint");
  if (rep_->kind == Kind::function)
    return rep_->function(weight);
  if (rep_->kind == Kind::non_neg)
    return ops::maximum(weight, ops::zeros_like(weight));
  return asDtype(projected(weight, rep_->kind, rep_->bounds), weight.dtype());
}

namespace constraints {

MaxNorm::MaxNorm(double max_value, const Axes &axis) {
  rep_ = std::make_shared<Rep>(Rep{Kind::max_norm, "MaxNorm", {.most = max_value, .axis = axis}});
}
NonNeg::NonNeg() : Constraint("non_neg") {}
UnitNorm::UnitNorm(const Axes &axis) { rep_ = std::make_shared<Rep>(Rep{Kind::unit_norm, "UnitNorm", {.axis = axis}}); }
MinMaxNorm::MinMaxNorm(double min_value, double max_value, double rate, const Axes &axis) {
  rep_ = std::make_shared<Rep>(
      Rep{Kind::min_max_norm, "MinMaxNorm", {.least = min_value, .most = max_value, .rate = rate, .axis = axis}});
}

namespace {
class Saved : public Constraint {
public:
  explicit Saved(SavedObject saved) : Constraint(saved.className) {
    Rep rep = *rep_;
    withFields(rep.kind, [&](const auto &fields) { saved.fields.read(rep.bounds, fields); });
    saved.fields.requireNothingLeft(rep.className);
    rep_ = std::make_shared<Rep>(std::move(rep));
  }
  explicit Saved(const Constraint &constraint) : Constraint(constraint) {}
  bool isCustom() const { return rep_ && rep_->kind == Kind::function; }
};
} // namespace

Config serialize(const Constraint &constraint) {
  return savedAs(constraint, "keras.constraints", Saved(constraint).isCustom());
}
Constraint deserialize(const Config &config) {
  if (std::optional<Constraint> registered = registeredObject<Constraint>(config))
    return *std::move(registered);
  return Saved(savedObject(config));
}

} // namespace constraints
} // namespace halftone
