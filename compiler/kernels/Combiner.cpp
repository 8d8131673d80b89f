// The combining functions of reductions as arith ops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Combiner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

Value compare(OpBuilder &builder, Location loc, arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}

/// Whether `value` precedes `accumulator` in the order of the combiner (max, min, umax, umin), NaN first.
Value isBetter(OpBuilder &builder, Location loc, StringRef order, Value value, Value accumulator) {
  bool larger = order.ends_with("max");
  if (isFloat(value)) {
    Value better =
        compare(builder, loc, larger ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, value, accumulator);
    // UNO with itself: NaN. An accumulator that is NaN already is kept.
    Value nan = compare(builder, loc, arith::CmpFPredicate::UNO, value, value);
    Value clean = compare(builder, loc, arith::CmpFPredicate::ORD, accumulator, accumulator);
    nan = arith::AndIOp::create(builder, loc, nan, clean);
    return arith::OrIOp::create(builder, loc, better, nan);
  }
  bool isUnsigned = order.contains("u");
  auto predicate = larger ? (isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt)
                          : (isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt);
  return arith::CmpIOp::create(builder, loc, predicate, value, accumulator);
}

/// Returns "max" for "argmax", "umin" for "uargmin".
std::string orderOf(StringRef combiner) {
  std::string order = combiner.str();
  if (size_t at = order.find("arg"); at != std::string::npos)
    order.erase(at, 3);
  return order;
}

} // namespace

TypedAttr neutralElement(StringRef combiner, Type type) {
  std::string order = orderOf(combiner);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (order == "max" || order == "min")
      return FloatAttr::get(type, APFloat::getInf(semantics, order == "max"));
    return FloatAttr::get(type, order == "prod" ? APFloat::getOne(semantics) : APFloat::getZero(semantics));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (order == "prod")
    value = APInt(width, 1);
  else if (order == "and" || order == "umin")
    value = APInt::getAllOnes(width);
  else if (order == "max")
    value = APInt::getSignedMinValue(width);
  else if (order == "min")
    value = APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, value);
}

Value buildCombine(OpBuilder &builder, Location loc, StringRef combiner, Value accumulator, Value value,
                   bool contract) {
  auto flags = contract ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
  if (combiner == "sum") {
    if (isFloat(value))
      return arith::AddFOp::create(builder, loc, accumulator, value, flags);
    return arith::AddIOp::create(builder, loc, accumulator, value);
  }
  if (combiner == "prod") {
    if (isFloat(value))
      return arith::MulFOp::create(builder, loc, accumulator, value, flags);
    return arith::MulIOp::create(builder, loc, accumulator, value);
  }
  if (combiner == "and")
    return arith::AndIOp::create(builder, loc, accumulator, value);
  if (combiner == "or")
    return arith::OrIOp::create(builder, loc, accumulator, value);
  if (combiner == "most" || combiner == "least") {
    auto predicate = combiner == "most" ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    return arith::SelectOp::create(builder, loc, compare(builder, loc, predicate, value, accumulator), value,
                                   accumulator);
  }
  if (isFloat(value)) {
    // Takes the value if it is NaN or better. A NaN accumulator is kept, since any comparison with it is false; a
    // second NaN may replace it.
    bool larger = combiner == "max";
    Value better =
        compare(builder, loc, larger ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, value, accumulator);
    Value nan = compare(builder, loc, arith::CmpFPredicate::UNO, value, value);
    better = arith::OrIOp::create(builder, loc, better, nan);
    return arith::SelectOp::create(builder, loc, better, value, accumulator);
  }
  if (combiner == "max")
    return arith::MaxSIOp::create(builder, loc, accumulator, value);
  if (combiner == "min")
    return arith::MinSIOp::create(builder, loc, accumulator, value);
  if (combiner == "umax")
    return arith::MaxUIOp::create(builder, loc, accumulator, value);
  return arith::MinUIOp::create(builder, loc, accumulator, value);
}

std::pair<Value, Value> buildArgCombine(OpBuilder &builder, Location loc, StringRef combiner,
                                        std::pair<Value, Value> accumulator, std::pair<Value, Value> value) {
  std::string order = orderOf(combiner);
  Value better = isBetter(builder, loc, order, value.first, accumulator.first);
  Value worse = isBetter(builder, loc, order, accumulator.first, value.first);
  Value earlier = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value.second, accumulator.second);
  // Neither better nor worse means equal, or both NaN.
  Value take =
      arith::SelectOp::create(builder, loc, worse, better, arith::OrIOp::create(builder, loc, better, earlier));
  return {arith::SelectOp::create(builder, loc, take, value.first, accumulator.first),
          arith::SelectOp::create(builder, loc, take, value.second, accumulator.second)};
}

} // namespace halftone::compiler
