// Exact conversion between arrays of any two dtypes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Convert.h"
#include "runtime/base/FloatMode.h"
#include <cmath>
#include <concepts>
#include <cstring>
#include <fmt/format.h>
#include <limits>

using namespace halftone;

namespace {
/// The storage type of a dtype's elements, and the type that represents each exactly: double, int64_t or uint64_t.
template <class StorageT, class ValueT> struct Plain {
  using Storage = StorageT;
  using Value = ValueT;
  static Value load(Storage s) { return static_cast<Value>(s); }
};
struct Bool {
  using Storage = uint8_t;
  using Value = uint64_t;
  static Value load(Storage s) { return s != 0; }
};
template <class Format> struct Narrow {
  using Storage = typename Format::Storage;
  using Value = double;
  static Value load(Storage s) { return Format::decode(s); }
};
} // namespace

template <class Value> static double asDouble(Value value) {
  if constexpr (std::same_as<Value, double>)
    return value;
  else
    return toDoubleForRounding(value);
}

template <class Value> static void store(Value value, Overflow, uint8_t &out, Bool) { out = value != 0; }

template <class Value, class Format>
static void store(Value value, Overflow overflow, typename Format::Storage &out, Narrow<Format>) {
  out = Format::encode(asDouble(value), overflow);
}

template <class Value> static void store(Value value, Overflow overflow, float &out, Plain<float, double>) {
  if constexpr (std::same_as<Value, double>)
    out = static_cast<float>(roundTo(DType::float32, value, overflow));
  else
    out = static_cast<float>(value);
}

template <class Value> static void store(Value value, Overflow overflow, double &out, Plain<double, double>) {
  if constexpr (std::same_as<Value, double>)
    out = roundTo(DType::float64, value, overflow);
  else
    out = static_cast<double>(value);
}

template <class Value, std::integral Storage, class Wide>
static void store(Value value, Overflow, Storage &out, Plain<Storage, Wide>) {
  if constexpr (std::same_as<Value, double>) {
    using Limits = std::numeric_limits<Storage>;
    constexpr double top = 2.0 * (uint64_t(1) << (Limits::digits - 1)); // one past the largest integer
    if (std::isnan(value))
      out = 0;
    else if (value >= top)
      out = Limits::max();
    else if (value <= static_cast<double>(Limits::min()))
      out = Limits::min();
    else
      out = static_cast<Storage>(value);
  } else {
    out = static_cast<Storage>(value);
  }
}

template <class Function> static bool visit(DType dtype, Function function) {
  switch (dtype) {
  case DType::bool_:
    return function(Bool()), true;
  case DType::uint8:
    return function(Plain<uint8_t, uint64_t>()), true;
  case DType::uint16:
    return function(Plain<uint16_t, uint64_t>()), true;
  case DType::uint32:
    return function(Plain<uint32_t, uint64_t>()), true;
  case DType::uint64:
    return function(Plain<uint64_t, uint64_t>()), true;
  case DType::int8:
    return function(Plain<int8_t, int64_t>()), true;
  case DType::int16:
    return function(Plain<int16_t, int64_t>()), true;
  case DType::int32:
    return function(Plain<int32_t, int64_t>()), true;
  case DType::int64:
    return function(Plain<int64_t, int64_t>()), true;
  case DType::float16:
    return function(Narrow<Float16>()), true;
  case DType::bfloat16:
    return function(Narrow<Bfloat16>()), true;
  case DType::float8_e4m3fn:
    return function(Narrow<Float8E4m3fn>()), true;
  case DType::float8_e5m2:
    return function(Narrow<Float8E5m2>()), true;
  case DType::float32:
    return function(Plain<float, double>()), true;
  case DType::float64:
    return function(Plain<double, double>()), true;
  case DType::complex64:
  case DType::complex128:
  case DType::string:
    return false;
  }
  return false;
}

bool halftone::isStorable(DType dtype) {
  return dtype != DType::complex64 && dtype != DType::complex128 && dtype != DType::string;
}

Status halftone::convert(DType from, const void *source, DType to, void *target, int64_t count, Overflow overflow) {
  if (!isStorable(from) || !isStorable(to))
    return Status(
        ErrorKind::type_error,
        fmt::format(
            "There is no conversion from {} to {}: only numbers and bools are converted, not complex values or strings",
            name(from), name(to)));
  if (from == to && overflow == Overflow::natural) {
    if (count)
      std::memcpy(target, source, static_cast<size_t>(count * itemsize(from)));
    return Status::ok();
  }
  const FloatMode mode;
  visit(from, [&](auto in) {
    visit(to, [&](auto out) {
      const auto *first = static_cast<const typename decltype(in)::Storage *>(source);
      auto *result = static_cast<typename decltype(out)::Storage *>(target);
      for (int64_t i = 0; i < count; ++i)
        store(in.load(first[i]), overflow, result[i], out);
    });
  });
  return Status::ok();
}

double halftone::elementAsDouble(DType dtype, const void *data, int64_t index) {
  double value = 0;
  const FloatMode mode;
  visit(dtype, [&](auto element) {
    value = static_cast<double>(element.load(static_cast<const typename decltype(element)::Storage *>(data)[index]));
  });
  return value;
}
