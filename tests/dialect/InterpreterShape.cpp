// Tensors as bytes, and the ops that create or move elements.
// SPDX-License-Identifier: Apache-2.0
#include "Modules.h"
#include <cstring>

using namespace halftone::dialect;
using namespace halftone::dialect::testing;

using Row = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST_CASE("tensors survive the way to bytes and back") {
  for (const char *type : {"3xf16", "3xbf16", "3xf32", "3xf64", "3xf8E4M3FN", "3xf8E5M2"}) {
    INFO(type);
    TensorData x = reals(type, {-1.5, 0.25, 3});
    CHECK(TensorData::fromBytes(x.type, x.toBytes().data()).low == x.low);
    CHECK(x.toBytes().size() == 3 * x.type.getElementTypeBitWidth() / 8);
  }
  for (const char *type : {"3xi8", "3xi16", "3xi32", "3xi64"}) {
    TensorData x = wholes(type, {-1, 100, 0});
    CHECK(TensorData::fromBytes(x.type, x.toBytes().data()).integers == x.integers);
  }
  for (const char *type : {"2xui8", "2xui16", "2xui32"}) {
    TensorData x = wholes(type, {255, 0});
    CHECK(TensorData::fromBytes(x.type, x.toBytes().data()).integers == x.integers);
  }
  TensorData bools = wholes("3xi1", {1, 0, 1});
  CHECK(bools.toBytes() == std::string("\1\0\1", 3));
  CHECK(TensorData::fromBytes(bools.type, "\2\0\1").integers == bools.integers);
}

TEST_CASE("the bytes of a packed matrix lie in panels") {
  TensorData plain = reals("2x4xbf16", {0, 1, 2, 3, 4, 5, 6, 7});
  auto packed = [&](int64_t depth, int64_t columns) {
    TensorData x = plain;
    x.type = mlir::RankedTensorType::get(plain.type.getShape(), plain.type.getElementType(),
                                         PanelsAttr::get(plain.type.getContext(), depth, columns, 2, 0));
    std::string bytes = x.toBytes();
    CHECK(TensorData::fromBytes(x.type, bytes.data()).low == plain.low);
    return TensorData::fromBytes(plain.type, bytes.data()).low;
  };
  CHECK(packed(0, 4) == Row{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(packed(0, 2) == Row{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(packed(1, 2) == Row{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(packed(1, 1) == Row{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("two elements of four bits share a byte of a packed matrix") {
  TensorData plain = wholes("4x2xi8", {0, 1, -8, 7, 2, -1, 3, -2});
  TensorData x = plain;
  x.type = mlir::RankedTensorType::get(plain.type.getShape(), plain.type.getElementType(),
                                       PanelsAttr::get(plain.type.getContext(), 0, 2, 4, 4));
  const std::string bytes = x.toBytes();
  CHECK(bytes ==
        std::string("\x20\x38\xf1\xe7", 4)); // a column's first two rows in low halves, the others in high ones
  CHECK(TensorData::fromBytes(x.type, bytes.data()).integers == plain.integers);
}

TEST_CASE("constants hold the written elements in every dtype") {
  for (std::string type : {"f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"})
    CHECK(evaluate("%y = halftone.constant dense<[1.5, -2.0]> : tensor<2x" + type + ">", "2x" + type, {}).low ==
          Row{1.5, -2});
  CHECK(evaluate("%y = halftone.constant dense<-3> : tensor<2xi8>", "2xi8", {}).integers == Ints{-3, -3});
  CHECK(evaluate("%y = halftone.constant dense<200> : tensor<1xui8>", "1xui8", {}).integers == Ints{200});
  CHECK(evaluate("%y = halftone.constant dense<[true, false]> : tensor<2xi1>", "2xi1", {}).integers == Ints{1, 0});
}

TEST_CASE("iota counts along its axis") {
  CHECK(evaluate("%y = halftone.iota {axis = 1 : i64} : tensor<2x3xi32>", "2x3xi32", {}).integers ==
        Ints{0, 1, 2, 0, 1, 2});
  CHECK(evaluate("%y = halftone.iota {axis = 0 : i64} : tensor<2x3xf16>", "2x3xf16", {}).low == Row{0, 0, 0, 1, 1, 1});
  TensorData bytes = evaluate("%y = halftone.iota {axis = 0 : i64} : tensor<300xui8>", "300xui8", {});
  CHECK(bytes.integers[255] == 255);
  CHECK(bytes.integers[256] == 0);
  CHECK(evaluate("%y = halftone.iota {axis = 0 : i64} : tensor<2052xf16>", "2052xf16", {}).low[2049] == 2048);
}

TEST_CASE("shape ops move elements of every kind") {
  TensorData x = reals("2x3xf16", {1, 2, 3, 4, 5, 6});
  CHECK(evaluate("%y = halftone.reshape %0 : tensor<2x3xf16> to tensor<3x2xf16>", "3x2xf16", {x}).low == x.low);
  CHECK(evaluate("%y = halftone.transpose %0 {permutation = array<i64: 1, 0>} : tensor<2x3xf16> to tensor<3x2xf16>",
                 "3x2xf16", {x})
            .low == Row{1, 4, 2, 5, 3, 6});
  TensorData i = wholes("2xi1", {1, 0});
  CHECK(evaluate("%y = halftone.broadcast %0 {axes = array<i64: 0>} : tensor<2xi1> to tensor<2x2xi1>", "2x2xi1", {i})
            .integers == Ints{1, 1, 0, 0});
  CHECK(evaluate("%y = halftone.broadcast %0 {axes = array<i64: 1>} : tensor<2xi1> to tensor<2x2xi1>", "2x2xi1", {i})
            .integers == Ints{1, 0, 1, 0});
  CHECK(evaluate("%y = halftone.broadcast %0 {axes = array<i64>} : tensor<f8E5M2> to tensor<3xf8E5M2>", "3xf8E5M2",
                 {reals("f8E5M2", {4})})
            .low == Row{4, 4, 4});
  TensorData cube = wholes("2x2x2xi32", {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(evaluate(
            "%y = halftone.transpose %0 {permutation = array<i64: 2, 0, 1>} : tensor<2x2x2xi32> to tensor<2x2x2xi32>",
            "2x2x2xi32", {cube})
            .integers == Ints{0, 2, 4, 6, 1, 3, 5, 7});
  for (const char *identity : {"hold", "stop_gradient"})
    CHECK(evaluate("%y = halftone." + std::string(identity) + " %0 : tensor<2xi1>", "2xi1", {i}).integers ==
          i.integers);
}
