// Element types: Keras's 18 names, the float test, promotion, and the scalar types C++ lacks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <concepts>
#include <cstdint>
#include <string_view>

namespace halftone {

enum class DType : uint8_t {
  bool_,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  float8_e4m3fn,
  float8_e5m2,
  complex64,
  complex128,
  string
};
inline constexpr DType uint8 = DType::uint8, int8 = DType::int8, int32 = DType::int32, int64 = DType::int64,
                       float16 = DType::float16, bfloat16 = DType::bfloat16, float32 = DType::float32,
                       float64 = DType::float64, float8_e4m3fn = DType::float8_e4m3fn, float8_e5m2 = DType::float8_e5m2;

HALFTONE_API std::string_view name(DType dtype);             // "float32", "bool"
HALFTONE_API DType standardize_dtype(std::string_view name); // value_error "Invalid dtype: X"
HALFTONE_API bool is_float(DType dtype);                     // true for the float8 dtypes, false for the complex ones
HALFTONE_API int64_t itemsize(DType dtype);                  // bytes
/// Keras's promotion lattice: 64-bit results become 32 bits wide, also for two equal dtypes. value_error for float8,
/// and for string with another dtype.
HALFTONE_API DType result_type(DType a, DType b);

/// Scalars for storage. Arithmetic goes through float, and rounds to nearest, ties to even.
struct float16_t {
  uint16_t bits = 0;
  float16_t() = default;
  HALFTONE_API explicit float16_t(float v);
  HALFTONE_API operator float() const;
};
struct bfloat16_t {
  uint16_t bits = 0;
  bfloat16_t() = default;
  HALFTONE_API explicit bfloat16_t(float v);
  HALFTONE_API operator float() const;
};

template <class T> inline constexpr bool is_scalar = false;
template <class T> inline constexpr DType dtype_of = DType::string;
template <> inline constexpr bool is_scalar<uint8_t> = true;
template <> inline constexpr DType dtype_of<uint8_t> = uint8;
template <> inline constexpr bool is_scalar<int8_t> = true;
template <> inline constexpr DType dtype_of<int8_t> = int8;
template <> inline constexpr bool is_scalar<int32_t> = true;
template <> inline constexpr DType dtype_of<int32_t> = int32;
template <> inline constexpr bool is_scalar<int64_t> = true;
template <> inline constexpr DType dtype_of<int64_t> = int64;
template <> inline constexpr bool is_scalar<float> = true;
template <> inline constexpr DType dtype_of<float> = float32;
template <> inline constexpr bool is_scalar<double> = true;
template <> inline constexpr DType dtype_of<double> = float64;
template <> inline constexpr bool is_scalar<float16_t> = true;
template <> inline constexpr DType dtype_of<float16_t> = float16;
template <> inline constexpr bool is_scalar<bfloat16_t> = true;
template <> inline constexpr DType dtype_of<bfloat16_t> = bfloat16;
template <class T>
concept Scalar = is_scalar<T>;
} // namespace halftone
