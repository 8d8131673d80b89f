// Checked creation of ops, and the table of element types.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/TypeInference.h"
#include "Modules.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace halftone;
using namespace halftone::dialect;
using namespace halftone::dialect::testing;

TEST_CASE("every dtype of the dialect has an element type and back") {
  for (DType dtype : {DType::bool_, DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::int8,
                      DType::int16, DType::int32, DType::int64, DType::float16, DType::bfloat16, DType::float32,
                      DType::float64, DType::float8_e4m3fn, DType::float8_e5m2}) {
    mlir::Type type = elementType(context(), dtype);
    REQUIRE(type);
    CHECK(dtypeOf(type) == dtype);
  }
  for (DType dtype : {DType::complex64, DType::complex128, DType::string})
    CHECK_FALSE(elementType(context(), dtype));
  mlir::Builder builder(context());
  CHECK_FALSE(dtypeOf(builder.getIntegerType(8, true)));
  CHECK_FALSE(dtypeOf(builder.getIntegerType(4)));
  CHECK_FALSE(dtypeOf(builder.getIndexType()));
  CHECK(arithmeticType(builder.getBF16Type()).isF32());
  CHECK(arithmeticType(builder.getF64Type()).isF64());
  CHECK(arithmeticType(builder.getIntegerType(16, false)).isSignlessInteger(16));
  CHECK(isUnsignedElement(builder.getI1Type()));
  CHECK_FALSE(isUnsignedElement(builder.getI32Type()));
}

TEST_CASE("createChecked infers, verifies and leaves nothing on failure") {
  auto module = parse("func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>, %p: tensor<4xi1>) -> tensor<4xf32> "
                      "{\nreturn %x : tensor<4xf32>\n}");
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::OpBuilder builder(main.getBody().front().getTerminator());
  mlir::Location loc = builder.getUnknownLoc();
  mlir::Value x = main.getArgument(0), y = main.getArgument(1), p = main.getArgument(2);
  auto create = [&](llvm::StringRef name, mlir::ValueRange operands,
                    llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, mlir::TypeRange types = {}) {
    return createChecked(builder, loc, name, types, operands, attributes);
  };
  auto size = [&] { return main.getBody().front().getOperations().size(); };

  SECTION("types follow from operands") {
    CHECK(create("add", {x, x})->getResult(0).getType() == tensorType("4xf32"));
    CHECK(create("is_finite", x)->getResult(0).getType() == tensorType("4xi1"));
    auto lt = ComparePredicateAttr::get(context(), ComparePredicate::lt);
    CHECK(create("compare", {x, x}, builder.getNamedAttr("predicate", lt))->getResult(0).getType() ==
          tensorType("4xi1"));
    CHECK(create("select", {p, x, x})->getResult(0).getType() == tensorType("4xf32"));
    auto norm = ReduceAllKindAttr::get(context(), ReduceAllKind::sum_of_squares);
    CHECK(create("reduce_all", {x, y}, builder.getNamedAttr("kind", norm))->getResult(0).getType() ==
          tensorType("f32"));
    auto half = create("cast", x, builder.getNamedAttr("origin", builder.getStringAttr("user")), tensorType("4xf16"));
    REQUIRE(half);
    CHECK(mlir::cast<CastOp>(half).getOrigin() == "user");
    CHECK(size() == 7);
  }
  SECTION("mistakes are diagnostics") {
    Diagnostics diagnostics;
    auto fails = [&](mlir::Operation *op, const std::string &message) {
      CHECK(op == nullptr);
      INFO(diagnostics.messages);
      CHECK(diagnostics.messages.find(message) != std::string::npos);
      diagnostics.messages.clear();
      CHECK(size() == 1);
    };
    fails(create("nonsense", x), "unknown op 'halftone.nonsense'");
    fails(create("add", {x, y}), "requires the same type for all operands and results");
    fails(create("add", x), "expected 2 operands, but found 1");
    fails(create("add", mlir::ValueRange{}), "result types do not follow from its operands");
    fails(create("add", {x, mlir::Value()}), "operand #1 is null");
    fails(create("compare", {x, x}), "predicate");
    fails(create("compare", {x, y},
                 builder.getNamedAttr("predicate", ComparePredicateAttr::get(context(), ComparePredicate::lt))),
          "requires all operands to have the same type");
    fails(create("iota", {}, builder.getNamedAttr("axis", builder.getStringAttr("one")), tensorType("4xi32")), "axis");
    fails(create("iota", {}, builder.getNamedAttr("axis", builder.getI64IntegerAttr(3)), tensorType("4xi32")),
          "axis 3 is out of range");
    fails(create("reshape", x, {}, tensorType("5xf32")), "must have the same number of elements");
    fails(create("not", x), "must be");
  }
}
