// The Fourier transform by factors of the length; for lengths with large factors, by a convolution.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/FourierTransform.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

namespace halftone::detail {

namespace {

constexpr int64_t largestRadix = 16;
constexpr int64_t largestDirect = 128;

/// The cosine and the sine of 2 pi k / n, exact at multiples of a quarter turn.
std::pair<double, double> turn(int64_t k, int64_t n) {
  const int64_t quarters = 4 * k / n, rest = 4 * k - quarters * n; // k / n = (quarters + rest / n) / 4
  const double angle = std::numbers::pi / 2 * static_cast<double>(rest) / static_cast<double>(n);
  const double c = rest == 0 ? 1 : std::cos(angle), s = rest == 0 ? 0 : std::sin(angle);
  switch (quarters % 4) {
  case 0:
    return {c, s};
  case 1:
    return {-s, c};
  case 2:
    return {-c, -s};
  default:
    return {s, -c};
  }
}

ComplexRows times(const ComplexRows &x, const ComplexRows &y) {
  if (!x.im.defined())
    return {x.re * y.re, x.re * y.im};
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/// exp(sign 2 pi i k / n) for the integer k that `turns` returns for each row and column, exact at multiples of a
/// quarter turn.
ComplexRows roots(int64_t rows, int64_t columns, int64_t n, double sign, DType dtype,
                  const std::function<int64_t(int64_t, int64_t)> &turns) {
  std::vector<double> c, s;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const auto [cosine, sine] = turn(turns(i, j) % n, n);
      c.push_back(cosine);
      s.push_back(sign * sine);
    }
  const Shape shape({rows, columns});
  return {constant(Tensor(c, shape).astype(dtype)), constant(Tensor(s, shape).astype(dtype))};
}

/// The transform of n elements as a real matrix: (2 n, 2 n) for stacked real and imaginary parts; (2 n, n) for real
/// input.
Value matrixOf(int64_t n, bool isReal, double sign, DType dtype) {
  const ComplexRows table = roots(n, n, n, sign, dtype, [](int64_t j, int64_t k) { return j * k; });
  Trace &t = tracing();
  const Value first = t.concat({table.re, table.im}, 0);
  return isReal ? first : t.concat({first, t.concat({-table.im, table.re}, 0)}, 1);
}

/// Transforms along axis 1 of (rows, n, columns).
ComplexRows direct(const ComplexRows &x, double sign) {
  const bool isReal = !x.im.defined();
  const int64_t rows = x.re.shape()[0], n = x.re.shape()[1], columns = x.re.shape()[2];
  const Value stacked = isReal ? x.re : tracing().concat({x.re, x.im}, 1);
  const Value both = ops::matmul(matrixOf(n, isReal, sign, x.re.dtype()), stacked);
  const Shape half({rows, n, columns});
  return {tracing().slice(both, {0, 0, 0}, half), tracing().slice(both, {0, n, 0}, half)};
}

ComplexRows reshaped(const ComplexRows &x, const Shape &shape) {
  return {tracing().reshape(x.re, shape), x.im.defined() ? tracing().reshape(x.im, shape) : Value()};
}

/// The largest factor up to the largest radix; otherwise the smallest factor, if it is small enough; otherwise 1.
int64_t factorOf(int64_t n) {
  for (int64_t factor = std::min(n, largestRadix); factor > 1; --factor)
    if (n % factor == 0)
      return factor;
  for (int64_t factor = largestRadix + 1; factor <= std::min(n, largestDirect); ++factor)
    if (n % factor == 0)
      return factor;
  return 1;
}

ComplexRows transformed(const ComplexRows &x, double sign);

/// Bluestein's algorithm: with c[j] = exp(sign pi i j^2 / n), X[k] = c[k] sum_j (x[j] c[j]) conj(c[k - j]), a
/// convolution computed by power-of-two transforms.
ComplexRows byConvolution(const ComplexRows &x, double sign) {
  const int64_t rows = x.re.shape()[0], n = x.re.shape()[1];
  const DType dtype = x.re.dtype();
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  Trace &t = tracing();
  const ComplexRows chirp = roots(1, n, 2 * n, sign, dtype, [](int64_t, int64_t j) { return j * j; });
  const auto padded = [&](const Value &y) {
    return t.concat({y, t.splat(0, Shape({y.shape()[0], size - n}), dtype)}, 1);
  };
  const auto wrapped = [&](const Value &y) { // y[j] also at size - j
    const Value rest = t.slice(y, {0, 1}, Shape({1, n - 1}));
    return t.concat({y, t.splat(0, Shape({1, size - 2 * n + 1}), dtype), ops::flip(rest, {1})}, 1);
  };
  const ComplexRows given = times(x, chirp);
  const ComplexRows left = transformed({padded(given.re), padded(given.im)}, -1);
  const ComplexRows right = transformed({wrapped(chirp.re), wrapped(-chirp.im)}, -1);
  const ComplexRows found = transformed(times(left, right), 1);
  const Shape shape({rows, n});
  const double scale = 1.0 / static_cast<double>(size);
  const ComplexRows kept{t.slice(found.re, {0, 0}, shape) * scale, t.slice(found.im, {0, 0}, shape) * scale};
  return times(kept, chirp);
}

ComplexRows transformed(const ComplexRows &x, double sign) {
  const int64_t rows = x.re.shape()[0], n = x.re.shape()[1], p = factorOf(n), q = n / p;
  if (n > 1 && p == 1)
    return byConvolution(x, sign);
  // Element j1 q + j2 is at (j1, j2), and k1 + p k2 of the result at (k1, k2).
  const ComplexRows first = direct(reshaped(x, Shape({rows, p, q})), sign);
  if (q == 1)
    return reshaped(first, Shape({rows, n}));
  const ComplexRows scaled =
      times(first, roots(p, q, n, sign, x.re.dtype(), [](int64_t k1, int64_t j2) { return k1 * j2; }));
  const ComplexRows second = reshaped(transformed(reshaped(scaled, Shape({rows * p, q})), sign), Shape({rows, p, q}));
  return reshaped({tracing().transpose(second.re, {0, 2, 1}), tracing().transpose(second.im, {0, 2, 1})},
                  Shape({rows, n}));
}

} // namespace

ComplexRows fourierTransform(const ComplexRows &x, bool inverse) { return transformed(x, inverse ? 1 : -1); }

} // namespace halftone::detail
