// Eager tensor arithmetic on the host, with NumPy's broadcasting and the dtype rules of ops.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Broadcast.h"
#include "runtime/base/Convert.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/Floatx.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace halftone;

namespace {
enum class Arithmetic : uint8_t { add, subtract, multiply, divide };
const char *nameOf(Arithmetic operation) {
  constexpr const char *names[] = {"add", "subtract", "multiply", "divide"};
  return names[static_cast<size_t>(operation)];
}

/// An axis of the result, or several axes that both operands traverse as one. `a` and `b` are the strides of the
/// operands in elements: 0 for a broadcast operand.
struct WalkedAxis {
  int64_t extent, a, b;
};

/// The axes, innermost first; at least one.
std::vector<WalkedAxis> walkedAxes(const Shape &result, const Shape &a, const Shape &b) {
  std::vector<WalkedAxis> axes;
  int64_t strideA = 1, strideB = 1;
  for (int64_t i = 1; i <= result.rank(); ++i) {
    const int64_t extentA = i <= a.rank() ? a[-i] : 1, extentB = i <= b.rank() ? b[-i] : 1;
    const WalkedAxis axis{result[-i], extentA == 1 ? 0 : strideA, extentB == 1 ? 0 : strideB};
    strideA *= extentA;
    strideB *= extentB;
    if (axis.extent == 1)
      continue;
    if (!axes.empty() && axis.a == axes.back().a * axes.back().extent && axis.b == axes.back().b * axes.back().extent)
      axes.back().extent *= axis.extent;
    else
      axes.push_back(axis);
  }
  if (axes.empty())
    axes.push_back({1, 0, 0});
  return axes;
}

/// Computes elementwise in the type that the dtype uses: double or, for integers and bools, the low 64 bits.
template <class Wide> void compute(Arithmetic operation, Wide *a, const Wide *b, int64_t count) {
  const auto each = [&](auto f) {
    for (int64_t i = 0; i < count; ++i)
      a[i] = f(a[i], b[i]);
  };
  switch (operation) {
  case Arithmetic::add:
    return each([](Wide x, Wide y) { return x + y; });
  case Arithmetic::subtract:
    return each([](Wide x, Wide y) { return x - y; });
  case Arithmetic::multiply:
    return each([](Wide x, Wide y) { return x * y; });
  case Arithmetic::divide:
    if constexpr (std::is_floating_point_v<Wide>)
      return each([](Wide x, Wide y) { return x / y; });
  }
}

/// Loads the elements of an operand, converted to the dtype of the result.
class Source {
public:
  Source(const Tensor &tensor, DType dtype) : tensor_(tensor.astype(dtype)), data_(TensorAccess::data(tensor_)) {}
  /// `count` elements from `first` on, `stride` (0 or 1) apart.
  template <class Wide> void load(int64_t first, int64_t stride, Wide *to, int64_t count) const {
    constexpr DType wide = std::is_floating_point_v<Wide> ? DType::float64 : DType::uint64;
    const DType dtype = tensor_.dtype();
    convert(dtype, data_ + first * itemsize(dtype), wide, to, stride ? count : 1).orThrow();
    if (stride == 0)
      std::fill(to + 1, to + count, to[0]);
  }

private:
  Tensor tensor_;
  const std::byte *data_;
};

template <class Wide>
void computeAll(Arithmetic operation, const Source &a, const Source &b, const std::vector<WalkedAxis> &axes,
                Tensor &result) {
  constexpr DType wide = std::is_floating_point_v<Wide> ? DType::float64 : DType::uint64;
  constexpr int64_t block = 1024;
  std::array<Wide, block> left, right;
  std::byte *to = TensorAccess::mutableData(result);
  const auto width = itemsize(result.dtype());
  std::vector<int64_t> index(axes.size(), 0);
  int64_t atA = 0, atB = 0;
  for (int64_t done = 0; done < result.size();) {
    const WalkedAxis &inner = axes[0];
    for (int64_t first = 0; first < inner.extent; first += block) {
      const int64_t count = std::min(block, inner.extent - first);
      a.load(atA + first * inner.a, inner.a, left.data(), count);
      b.load(atB + first * inner.b, inner.b, right.data(), count);
      compute(operation, left.data(), right.data(), count);
      convert(wide, left.data(), result.dtype(), to, count).orThrow();
      to += count * width;
    }
    done += inner.extent;
    for (size_t axis = 1; axis < axes.size(); ++axis) {
      atA += axes[axis].a;
      atB += axes[axis].b;
      if (++index[axis] < axes[axis].extent)
        break;
      index[axis] = 0;
      atA -= axes[axis].a * axes[axis].extent;
      atB -= axes[axis].b * axes[axis].extent;
    }
  }
}

Tensor computed(Arithmetic operation, const Tensor &a, const Tensor &b, DType dtype) {
  const FloatMode mode;
  for (const Tensor *operand : {&a, &b})
    (void)TensorAccess::data(*operand); // fails before anything is copied from a device
  const Shape shape = broadcastShape(nameOf(operation), a.shape(), b.shape());
  Tensor result = TensorAccess::allocate(dtype, shape);
  if (result.size() == 0)
    return result;
  const std::vector<WalkedAxis> axes = walkedAxes(shape, a.shape(), b.shape());
  const Source left(a, dtype), right(b, dtype);
  if (is_float(dtype))
    computeAll<double>(operation, left, right, axes, result);
  else
    computeAll<uint64_t>(operation, left, right, axes, result);
  return result;
}

Tensor computed(Arithmetic operation, const Tensor &a, const Tensor &b) {
  const DType common = a.dtype() == b.dtype() ? a.dtype() : result_type(a.dtype(), b.dtype());
  if (operation == Arithmetic::divide)
    return computed(operation, a, b, is_float(common) ? common : floatx());
  const bool widens = common == DType::bool_ && operation == Arithmetic::subtract;
  return computed(operation, a, b, widens ? int32 : common);
}

DType dtypeWithNumber(const Tensor &tensor) { return is_float(tensor.dtype()) ? tensor.dtype() : floatx(); }
Tensor computed(Arithmetic operation, const Tensor &a, double b) {
  const DType dtype = dtypeWithNumber(a);
  return computed(operation, a, Tensor::full({}, b, dtype), dtype);
}
Tensor computed(Arithmetic operation, double a, const Tensor &b) {
  const DType dtype = dtypeWithNumber(b);
  return computed(operation, Tensor::full({}, a, dtype), b, dtype);
}
} // namespace

namespace halftone {
Tensor operator+(const Tensor &a, const Tensor &b) { return computed(Arithmetic::add, a, b); }
Tensor operator-(const Tensor &a, const Tensor &b) { return computed(Arithmetic::subtract, a, b); }
Tensor operator*(const Tensor &a, const Tensor &b) { return computed(Arithmetic::multiply, a, b); }
Tensor operator/(const Tensor &a, const Tensor &b) { return computed(Arithmetic::divide, a, b); }
Tensor operator+(double a, const Tensor &b) { return computed(Arithmetic::add, a, b); }
Tensor operator-(double a, const Tensor &b) { return computed(Arithmetic::subtract, a, b); }
Tensor operator*(double a, const Tensor &b) { return computed(Arithmetic::multiply, a, b); }
Tensor operator/(double a, const Tensor &b) { return computed(Arithmetic::divide, a, b); }
Tensor operator+(const Tensor &a, double b) { return computed(Arithmetic::add, a, b); }
Tensor operator-(const Tensor &a, double b) { return computed(Arithmetic::subtract, a, b); }
Tensor operator*(const Tensor &a, double b) { return computed(Arithmetic::multiply, a, b); }
Tensor operator/(const Tensor &a, double b) { return computed(Arithmetic::divide, a, b); }
Tensor operator-(const Tensor &a) {
  if (a.dtype() == DType::bool_)
    throw Error(ErrorKind::type_error, "negative takes numbers, got bool");
  // Multiplies by -1, since 0 - 0.0 loses the sign.
  return computed(Arithmetic::multiply, a, Tensor::scalar(int64_t(-1)).astype(a.dtype()), a.dtype());
}
} // namespace halftone
