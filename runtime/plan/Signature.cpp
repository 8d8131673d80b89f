// Sizes and text of tensor types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Signature.h"
#include "runtime/base/Extents.h"
#include <algorithm>

namespace halftone {
namespace {

constexpr int64_t largestBytes = int64_t(1) << 56; // of an address space; the sum of 127 such sizes does not overflow

std::string_view typeName(DType dtype) {
  switch (dtype) {
  case DType::bool_:
    return "i1";
  case DType::uint8:
    return "ui8";
  case DType::uint16:
    return "ui16";
  case DType::uint32:
    return "ui32";
  case DType::uint64:
    return "ui64";
  case DType::int8:
    return "i8";
  case DType::int16:
    return "i16";
  case DType::int32:
    return "i32";
  case DType::int64:
    return "i64";
  case DType::float16:
    return "f16";
  case DType::bfloat16:
    return "bf16";
  case DType::float32:
    return "f32";
  case DType::float64:
    return "f64";
  case DType::float8_e4m3fn:
    return "f8E4M3FN";
  case DType::float8_e5m2:
    return "f8E5M2";
  case DType::complex64:
    return "complex<f32>";
  case DType::complex128:
    return "complex<f64>";
  case DType::string:
    return "string";
  }
  return "?";
}

} // namespace

int64_t TensorType::elements() const {
  const bool empty = std::ranges::find(shape, 0) != shape.end(); // whatever the other extents are
  return empty ? 0 : extentProduct(shape);
}

int64_t TensorType::bytes() const { return extentProduct(elements(), itemsize(dtype)); }

std::string TensorType::str() const {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text += typeName(dtype);
}

std::string shapesText(const std::vector<TensorType> &types) {
  std::string text;
  for (const TensorType &type : types)
    text += (text.empty() ? "" : ", ") + Shape(type.shape).str();
  return text;
}

Status verify(const TensorType &type) {
  if (static_cast<uint8_t>(type.dtype) >= static_cast<uint8_t>(DType::string))
    return {ErrorKind::value_error, "a tensor of type " + type.str() + " has no size in bytes"};
  int64_t bytes = itemsize(type.dtype);
  bool empty = false, tooLarge = false;
  for (int64_t extent : type.shape) {
    if (extent < 0)
      return {ErrorKind::value_error, "negative dimension in type " + type.str()};
    empty |= extent == 0;
    if (extent > 0 && !tooLarge) {
      tooLarge = bytes > largestBytes / extent;
      bytes *= tooLarge ? 1 : extent;
    }
  }
  if (tooLarge && !empty)
    return {ErrorKind::value_error, "a tensor of type " + type.str() + " is too large"};
  return {};
}

} // namespace halftone
