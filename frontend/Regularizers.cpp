// keras.regularizers: penalties in the dtype of what they are given.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Arguments.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone {

struct Regularizer::Rep {
  double l1 = 0.0, l2 = 0.0;
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
Regularizer &Regularizer::operator=(Regularizer &&) &noexcept = default;
Regularizer::~Regularizer() = default;
Regularizer::Regularizer(const char *name) {
  std::string_view n = name;
  if (n == "l1" || n == "L1")
    *this = regularizers::L1();
  else if (n == "l2" || n == "L2")
    *this = regularizers::L2();
  else if (n == "l1l2" || n == "l1_l2" || n == "L1L2")
    *this = regularizers::L1L2();
  else
    throw Error(ErrorKind::value_error,
                fmt::format("Could not interpret regularizer identifier: {}. Known: l1, l2, l1l2, l1_l2", name));
}
Value Regularizer::operator()(const Value &weight) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no regularizer");
  // The dtype follows from the operand's, also when both factors are 0.
  Value penalty;
  if (rep_->l1 != 0.0)
    penalty = rep_->l1 * ops::sum(ops::abs(weight));
  if (rep_->l2 != 0.0 || !penalty.defined()) {
    Value squares = rep_->l2 * ops::sum(ops::square(weight));
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty;
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
} // namespace regularizers
} // namespace halftone
