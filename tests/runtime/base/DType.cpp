// Dtype names, sizes and promotion.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DType.h"
#include "halftone/Error.h"
#include "runtime/base/Floatx.h"
#include <catch2/catch.hpp>

using namespace halftone;

static std::string messageOf(std::string_view text) {
  try {
    (void)standardize_dtype(text);
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    return error.message();
  }
  return "accepted";
}

TEST_CASE("The 18 dtypes have their names, sizes and float test") {
  struct Row {
    const char *text;
    int64_t bytes;
    bool isFloat;
  };
  const Row rows[] = {{"bool", 1, false},      {"uint8", 1, false},        {"uint16", 2, false},
                      {"uint32", 4, false},    {"uint64", 8, false},       {"int8", 1, false},
                      {"int16", 2, false},     {"int32", 4, false},        {"int64", 8, false},
                      {"float16", 2, true},    {"bfloat16", 2, true},      {"float32", 4, true},
                      {"float64", 8, true},    {"float8_e4m3fn", 1, true}, {"float8_e5m2", 1, true},
                      {"complex64", 8, false}, {"complex128", 16, false},  {"string", 0, false}};
  int value = 0;
  for (const Row &row : rows) {
    DType dtype = standardize_dtype(row.text);
    CHECK(static_cast<int>(dtype) == value++);
    CHECK(name(dtype) == row.text);
    CHECK(itemsize(dtype) == row.bytes);
    CHECK(is_float(dtype) == row.isFloat);
  }
}

TEST_CASE("Aliases of dtypes are accepted and other names refused") {
  CHECK(standardize_dtype("int") == DType::int32);
  CHECK(standardize_dtype("torch.float16") == DType::float16);
  CHECK(standardize_dtype("jax.numpy.bfloat16") == DType::bfloat16);
  for (const char *text : {"", " float32", "float32 ", "FLOAT32", "float", "half", "double", "str", "complex", "int4",
                           "float8", "mixed_float16", "torch", "float32.float16"})
    CHECK(messageOf(text) == std::string("Invalid dtype: ") + text);
  CHECK(messageOf("torch.int") == "Invalid dtype: int");
}

// policies 5.1
TEST_CASE("Dtype promotion follows the lattice and demotes 64 bits") {
  struct Row {
    const char *a, *b, *result;
  };
  const Row rows[] = {{"bfloat16", "float16", "float32"},
                      {"int8", "uint8", "int16"},
                      {"int32", "float16", "float16"},
                      {"uint64", "int8", "float32"},
                      {"float64", "float32", "float32"},
                      {"float64", "float64", "float32"},
                      {"int64", "int64", "int32"},
                      {"uint64", "uint64", "uint32"},
                      {"complex128", "bool", "complex64"},
                      {"bool", "bool", "bool"},
                      {"bool", "uint8", "uint8"},
                      {"bool", "float16", "float16"},
                      {"uint8", "int16", "int16"},
                      {"uint16", "int16", "int32"},
                      {"uint32", "int32", "int32"},
                      {"uint32", "int8", "int32"},
                      {"uint8", "uint32", "uint32"},
                      {"int64", "bfloat16", "bfloat16"},
                      {"uint8", "complex64", "complex64"},
                      {"float32", "bfloat16", "float32"},
                      {"float64", "complex64", "complex64"},
                      {"float16", "float16", "float16"},
                      {"string", "string", "string"}};
  for (const Row &row : rows) {
    INFO(row.a << " + " << row.b);
    CHECK(name(result_type(standardize_dtype(row.a), standardize_dtype(row.b))) == row.result);
    CHECK(name(result_type(standardize_dtype(row.b), standardize_dtype(row.a))) == row.result);
  }
}

// policies 5.1
TEST_CASE("A weak float has floatx's width") {
  struct Restore {
    ~Restore() { setFloatx(DType::float32); }
  } restore;
  setFloatx(DType::bfloat16);
  CHECK(result_type(DType::uint64, DType::int8) == DType::float16);
  setFloatx(DType::float64);
  CHECK(result_type(DType::uint64, DType::int8) == DType::float32);
}

// policies 5.1
TEST_CASE("float8 and mixed strings do not promote") {
  CHECK_THROWS_WITH(result_type(DType::float8_e4m3fn, DType::float32),
                    Catch::Contains("There is no implicit conversions from float8 dtypes to others."));
  CHECK_THROWS_WITH(result_type(DType::float8_e5m2, DType::float8_e5m2), Catch::Contains("float8"));
  CHECK_THROWS_WITH(result_type(DType::string, DType::float32), Catch::Contains("'string' is not a valid dtype"));
}
