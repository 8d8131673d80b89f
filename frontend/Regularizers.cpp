// keras.regularizers: penalties in the dtype of their argument.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/Promotion.h"
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone {

struct Regularizer::Rep {
  double l1 = 0.0, l2 = 0.0;
  std::function<Value(const Value &)> other{}; // if set, it replaces l1 and l2
};

static void check(const char *argument, double value) {
  if (!(value >= 0.0) || std::isinf(value))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument `{}`: expected a non-negative float. Received: {}={}", argument,
                            argument, value));
}

Regularizer::Regularizer() noexcept = default;
Regularizer::Regularizer(const Regularizer &) = default;
Regularizer::Regularizer(Regularizer &&) noexcept = default;
Regularizer &Regularizer::operator=(const Regularizer &) & = default;
Regularizer &Regularizer::operator=(Regularizer &&) & noexcept = default;
Regularizer::~Regularizer() = default;
Regularizer::Regularizer(const char *name) {
  std::string_view n = name;
  if (n == "l1" || n == "L1")
    *this = regularizers::L1();
  else if (n == "l2" || n == "L2")
    *this = regularizers::L2();
  else if (n == "l1l2" || n == "l1_l2" || n == "L1L2")
    *this = regularizers::L1L2();
  else if (n == "orthogonal_regularizer" || n == "OrthogonalRegularizer")
    *this = regularizers::OrthogonalRegularizer();
  else
    throw Error(ErrorKind::value_error,
                fmt::format("Could not interpret regularizer identifier: {}. Known: l1, l2, l1l2, l1_l2, "
                            "orthogonal_regularizer",
                            name));
}
Value Regularizer::operator()(const Value &weight) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no regularizer");
  if (rep_->other)
    return rep_->other(weight);
  // The penalty has the operand's dtype, also if both factors are 0.
  Value penalty;
  if (rep_->l1 != 0.0)
    penalty = rep_->l1 * ops::sum(ops::abs(weight));
  if (rep_->l2 != 0.0 || !penalty.defined()) {
    Value squares = rep_->l2 * ops::sum(ops::square(weight));
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty;
}

/// The mean of |cosine| over all pairs of rows.
static Value cosines(const Value &matrix) {
  const int64_t size = matrix.shape()[0];
  Value inverse = ops::rsqrt(ops::sum(ops::square(matrix), 1, true));
  Value rows = matrix * ops::minimum(inverse, ops::full_like(inverse, matrix.dtype() == DType::float16 ? 65504 : 1e12));
  Value products = ops::matmul(rows, ops::transpose(rows));
  detail::Trace &trace = detail::tracing();
  const Shape square{size, size};
  Value apart = trace.compare(detail::ComparePredicate::ne, trace.iota(0, square, DType::int32),
                              trace.iota(1, square, DType::int32));
  Value sum = ops::sum(ops::where(apart, ops::abs(products), ops::zeros_like(products)));
  return sum / static_cast<double>(std::max<int64_t>(size * (size - 1), 1));
}

namespace regularizers {
L1::L1(double l1) {
  check("l1", l1);
  rep_ = std::make_shared<Rep>(Rep{l1, 0.0});
}
L2::L2(double l2) {
  check("l2", l2);
  rep_ = std::make_shared<Rep>(Rep{0.0, l2});
}
L1L2::L1L2(double l1, double l2) {
  check("l1", l1);
  check("l2", l2);
  rep_ = std::make_shared<Rep>(Rep{l1, l2});
}
OrthogonalRegularizer::OrthogonalRegularizer(double factor, OrthogonalMode mode) {
  check("factor", factor);
  rep_ = std::make_shared<Rep>(
      Rep{0.0, 0.0, [=](const Value &weight) {
            if (weight.rank() != 2)
              throw Error(ErrorKind::value_error,
                          fmt::format("Inputs to OrthogonalRegularizer must have rank 2. Received: shape {}",
                                      weight.shape().str()));
            return cosines(mode == OrthogonalMode::rows ? weight : ops::transpose(weight)) * factor;
          }});
}
} // namespace regularizers
} // namespace halftone
