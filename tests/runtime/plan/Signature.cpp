// Sizes and text of tensor types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Signature.h"
#include <catch2/catch.hpp>

using namespace halftone;

TEST_CASE("a tensor type prints as in MLIR") {
  CHECK(TensorType{float32, {128, 784}}.str() == "128x784xf32");
  CHECK(TensorType{float32, {}}.str() == "f32");
  CHECK(TensorType{DType::bool_, {2}}.str() == "2xi1");
  CHECK(TensorType{DType::uint32, {2}}.str() == "2xui32");
  CHECK(TensorType{bfloat16, {0, 3}}.str() == "0x3xbf16");
  CHECK(TensorType{float8_e4m3fn, {1}}.str() == "1xf8E4M3FN");
}

TEST_CASE("a tensor type counts its elements and bytes") {
  CHECK(TensorType{float16, {3, 4}}.elements() == 12);
  CHECK(TensorType{float16, {3, 4}}.bytes() == 24);
  CHECK(TensorType{float64, {}}.bytes() == 8);
  CHECK(TensorType{float64, {5, 0}}.bytes() == 0);
}

TEST_CASE("types that no memory can hold are refused") {
  CHECK(verify(TensorType{float32, {128, 784}}).isOk());
  CHECK(verify(TensorType{float32, {INT64_MAX, INT64_MAX, 0}}).isOk());
  CHECK(TensorType{float32, {INT64_MAX, INT64_MAX, 0}}.bytes() == 0);
  for (const TensorType &type :
       {TensorType{float32, {-1}}, TensorType{DType::string, {1}}, TensorType{float32, {INT64_MAX}},
        TensorType{float32, {int64_t(1) << 32, int64_t(1) << 32}}}) {
    Status status = verify(type);
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::Contains(type.str()));
  }
}
