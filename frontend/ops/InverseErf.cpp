// The inverse error function by Giles's two polynomials, and its derivative.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/InverseErf.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <cmath>
#include <numbers>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value polynomial(const Value &w, std::initializer_list<double> coefficients) {
  Value p;
  for (const double coefficient : coefficients)
    p = p.defined() ? p * w + coefficient : ops::full_like(w, coefficient);
  return p;
}

Value centralPart(const Value &logarithm) { // for logarithms up to 5
  return polynomial(logarithm - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                      -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
}
Value outerPart(const Value &logarithm) {
  return polynomial(ops::sqrt(logarithm) - 3.0, {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                                                 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
}
Value logarithmOf(const Value &t) { return -ops::log((1.0 - t) * (1.0 + t)); }

Value improved(const Value &x, const Value &t) {
  return t.dtype() == DType::float64 ? x - (ops::erf(x) - t) * ops::exp(x * x) * (0.5 / std::numbers::inv_sqrtpi) : x;
}

} // namespace

Value detail::centralInverseErf(const Value &t) { return improved(centralPart(logarithmOf(t)) * t, t); }

Value ops::erfinv(const Value &x) {
  return applyOne("erfinv", {x}, [](const List &v) {
    const Value given = asFloat(v[0]), t = atLeastFloat32(given);
    const Value logarithm = logarithmOf(t);
    const Value inside = improved(where(logarithm < 5.0, centralPart(logarithm), outerPart(logarithm)) * t, t);
    const Value y = where(ops::abs(t) == 1.0, t * HUGE_VAL, inside);
    const Value found = tracing().customGradient(y, {t}, [&](const Value &upstream) {
      return List{upstream * ops::exp(y * y) * (0.5 / std::numbers::inv_sqrtpi)};
    });
    return asDtype(found, given.dtype(), "erfinv");
  });
}

} // namespace halftone
