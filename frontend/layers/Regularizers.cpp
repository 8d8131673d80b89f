// keras.regularizers: penalties in the dtype of their argument.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/InnerSums.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

struct Factors {
  double l1 = 0.0, l2 = 0.0, orthogonal = 0.01;
  std::string mode = "rows"; // of the orthogonal one
};

/// Calls f with the fields of a class, in Keras's order.
template <class F> void withFields(std::string_view className, F f) {
  const Field l1{"l1", &Factors::l1}, l2{"l2", &Factors::l2};
  if (className == "L1")
    f(std::tuple{l1});
  else if (className == "L2")
    f(std::tuple{l2});
  else if (className == "L1L2")
    f(std::tuple{l1, l2});
  else
    f(std::tuple{Field{"factor", &Factors::orthogonal}, Field{"mode", &Factors::mode}});
}

void check(const char *argument, double value) {
  if (!(value >= 0.0) || std::isinf(value))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument `{}`: expected a non-negative float. Received: {}={}", argument,
                            argument, value));
}
void check(const Factors &factors) {
  check("l1", factors.l1);
  check("l2", factors.l2);
  check("factor", factors.orthogonal);
  if (factors.mode != "rows" && factors.mode != "columns")
    throw Error(ErrorKind::value_error, fmt::format("Invalid value for argument `mode`. Expected one of {{\"rows\", "
                                                    "\"columns\"}}. Received: mode={}",
                                                    factors.mode));
}

} // namespace

struct Regularizer::Rep {
  std::string className;
  Factors factors{};
  std::function<Value(const Value &)> function{}; // of a user's class
  CustomObject object{};
  static std::shared_ptr<const Rep> make(const char *className, const Factors &factors) {
    check(factors);
    return std::make_shared<Rep>(Rep{className, factors});
  }
};

Regularizer::Regularizer() noexcept = default;
Regularizer::Regularizer(const Regularizer &) = default;
Regularizer::Regularizer(Regularizer &&) noexcept = default;
Regularizer &Regularizer::operator=(const Regularizer &) & = default;
Regularizer &Regularizer::operator=(Regularizer &&) & noexcept = default;
Regularizer::~Regularizer() = default;
Regularizer::Regularizer(const char *name) : Regularizer(std::string(name)) {}
Regularizer::Regularizer(const std::string &name) {
  if (name == "l1" || name == "L1")
    *this = regularizers::L1();
  else if (name == "l2" || name == "L2")
    *this = regularizers::L2();
  else if (name == "l1l2" || name == "l1_l2" || name == "L1L2")
    *this = regularizers::L1L2();
  else if (name == "orthogonal_regularizer" || name == "OrthogonalRegularizer")
    *this = regularizers::OrthogonalRegularizer();
  else
    throw Error(ErrorKind::value_error,
                fmt::format("Could not interpret regularizer identifier: {}. Known: l1, l2, l1l2, l1_l2, "
                            "orthogonal_regularizer",
                            name));
}

Regularizer::Regularizer(std::function<Value(const Value &)> f, CustomObject object)
    : rep_(std::make_shared<Rep>(
          Rep{.className = object.class_name, .function = std::move(f), .object = std::move(object)})) {
  if (!rep_->function)
    throw Error(ErrorKind::value_error, "a regularizer needs a function; received an empty one");
}

std::string Regularizer::name() const { return rep_ ? rep_->className : ""; }

Config Regularizer::get_config() const {
  Config config;
  if (rep_ && rep_->function)
    return customConfig(rep_->object, "A regularizer");
  if (rep_)
    withFields(rep_->className, [&](const auto &fields) { writeFields(config, rep_->factors, fields); });
  return config;
}

/// The mean of |cosine| over all pairs of rows.
static Value cosines(const Value &matrix) {
  const int64_t size = matrix.shape()[0];
  const Value rows = unitAlong(matrix, 1, 1e12);
  Value products = ops::matmul(rows, ops::transpose(rows));
  Trace &trace = tracing();
  const Shape square{size, size};
  Value isOffDiagonal =
      trace.compare(ComparePredicate::ne, trace.iota(0, square, DType::int32), trace.iota(1, square, DType::int32));
  Value sum = ops::sum(ops::where(isOffDiagonal, ops::abs(products), ops::zeros_like(products)));
  return sum / static_cast<double>(std::max<int64_t>(size * (size - 1), 1));
}

Value Regularizer::operator()(const Value &weight) const {
  const Value penalty = penalty_of(weight);
  return rep_->function || !is_float(weight.dtype()) ? penalty : asDtype(penalty, weight.dtype());
}

Value detail::activity_penalty(const Regularizer &regularizer, const Value &outputs) {
  Value penalty = regularizer.penalty_of(outputs);
  if (outputs.rank() > 0)
    penalty = penalty / static_cast<double>(std::max<int64_t>(outputs.shape()[0], 1));
  const bool isRounded = !regularizer.rep_->function && is_float(outputs.dtype());
  return isRounded ? asDtype(penalty, outputs.dtype()) : penalty;
}

Value Regularizer::penalty_of(const Value &weight) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no regularizer");
  if (rep_->function)
    return rep_->function(weight);
  const Factors &factors = rep_->factors;
  if (rep_->className == "OrthogonalRegularizer") {
    if (weight.rank() != 2)
      throw Error(
          ErrorKind::value_error,
          fmt::format("Inputs to OrthogonalRegularizer must have rank 2. Received: shape {}", weight.shape().str()));
    return cosines(factors.mode == "rows" ? weight : ops::transpose(weight)) * factors.orthogonal;
  }
  // The dtype is derived from the operand's, even if both factors are 0.
  const Value wide = is_float(weight.dtype()) ? atLeastFloat32(weight) : weight;
  Value penalty;
  if (factors.l1 != 0.0)
    penalty = factors.l1 * ops::sum(ops::abs(wide));
  if (factors.l2 != 0.0 || !penalty.defined()) {
    Value squares = factors.l2 * ops::sum(ops::square(wide));
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty;
}

namespace regularizers {

L1::L1(double l1) { rep_ = Rep::make("L1", {.l1 = l1}); }
L2::L2(double l2) { rep_ = Rep::make("L2", {.l2 = l2}); }
L1L2::L1L2(double l1, double l2) { rep_ = Rep::make("L1L2", {.l1 = l1, .l2 = l2}); }
OrthogonalRegularizer::OrthogonalRegularizer(double factor, OrthogonalMode mode) {
  rep_ = Rep::make("OrthogonalRegularizer",
                   {.orthogonal = factor, .mode = mode == OrthogonalMode::rows ? "rows" : "columns"});
}

namespace {
class Saved : public Regularizer {
public:
  explicit Saved(SavedObject saved) : Regularizer(saved.className) {
    Factors factors = rep_->factors;
    withFields(rep_->className, [&](const auto &fields) { saved.fields.read(factors, fields); });
    saved.fields.requireNothingLeft(rep_->className);
    rep_ = Rep::make(rep_->className.c_str(), factors);
  }
  explicit Saved(const Regularizer &regularizer) : Regularizer(regularizer) {}
  bool isCustom() const { return rep_ && rep_->function; }
};
} // namespace

Config serialize(const Regularizer &regularizer) {
  return savedAs(regularizer, "keras.regularizers", Saved(regularizer).isCustom());
}
Regularizer deserialize(const Config &config) {
  if (std::optional<Regularizer> registered = registeredObject<Regularizer>(config))
    return *std::move(registered);
  return Saved(savedObject(config));
}

} // namespace regularizers
} // namespace halftone
