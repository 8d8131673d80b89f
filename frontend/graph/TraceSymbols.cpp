// Declares symbols of variables and creates attributes of literals.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/TraceSymbols.h"
#include "dialect/Dialect.h"
#include "dialect/TypeInference.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/TraceEnums.h"
#include "halftone/Error.h"
#include "runtime/base/Number.h"
#include "runtime/plan/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <fmt/format.h>

using namespace mlir;
namespace hd = halftone::dialect;

namespace halftone::detail {

std::string TraceSymbols::declare(ModuleOp module, const std::shared_ptr<VariableImpl> &variable) {
  auto found = names_.find(variable.get());
  if (found != names_.end())
    return found->second;
  std::string base = variable->path.empty() ? "variable" : variable->path;
  for (char &c : base)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  std::string symbol = base;
  for (int i = 1; !used_.insert(symbol).second; ++i)
    symbol = fmt::format("{}_{}", base, i);
  names_[variable.get()] = symbol;
  variables_.emplace_back(symbol, variable);

  OpBuilder builder(module.getBodyRegion());
  Block &body = module.getBodyRegion().front();
  builder.setInsertionPoint(&body, body.empty() ? body.end() : std::prev(body.end())); // before @main
  OperationState state(UnknownLoc::get(&context_), hd::VariableOp::getOperationName());
  auto type = RankedTensorType::get(variable->shape.dims(), hd::elementType(&context_, variable->dtype));
  state.addAttribute("sym_name", builder.getStringAttr(symbol));
  state.addAttribute("type", TypeAttr::get(type));
  state.addAttribute("path", builder.getStringAttr(variable->path));
  state.addAttribute("role", hd::VariableRoleAttr::get(&context_, mirrored<hd::VariableRole>(variable->role)));
  state.addAttribute("trainable", builder.getBoolAttr(variable->trainable));
  state.addAttribute("autocast", builder.getBoolAttr(variable->autocast));
  state.addAttribute("update", hd::UpdateKindAttr::get(&context_, mirrored<hd::UpdateKind>(variable->update)));
  builder.create(state);
  return symbol;
}

std::string TraceSymbols::fetchName(const std::string &name) {
  std::string distinct = name;
  while (!fetchNames_.insert(distinct).second)
    distinct = fmt::format("{}_{}", name, ++fetchesNamed_[name]);
  return distinct;
}

RankedTensorType TraceSymbols::type(const Shape &shape, DType dtype) {
  refuseStrings(shape, dtype);
  Type element = hd::elementType(&context_, dtype);
  if (!element)
    throw Error(ErrorKind::type_error, fmt::format("dtype {} is not supported in computations", name(dtype)));
  for (int64_t dim : shape)
    if (dim < 0)
      throw Error(ErrorKind::value_error, fmt::format("compilation needs a shape without None, got {}", shape.str()));
  std::vector<int64_t> known = shape.dims();
  std::ranges::replace_if(known, isNonePlaceholder, 1);
  if (!halftone::verify(TensorType{dtype, known}).isOk())
    throw Error(ErrorKind::value_error,
                fmt::format("a tensor of shape {} and dtype {} is too large", shape.str(), name(dtype)));
  return RankedTensorType::get(shape.dims(), element);
}

/// The low 64 bits of a truncated number that an integer dtype can represent.
static uint64_t bitsOf(const Number &value) {
  if (value.kind() != Number::Kind::real)
    return value.bits();
  return value.real() < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value.real()))
                          : static_cast<uint64_t>(value.real());
}

DenseElementsAttr TraceSymbols::splat(RankedTensorType type, const Number &value) {
  Type element = type.getElementType();
  if (auto floats = dyn_cast<FloatType>(element)) { // rounded once
    llvm::APFloat number(value.real());
    bool lossy = false;
    if (value.kind() == Number::Kind::real) {
      number.convert(floats.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lossy);
    } else {
      number = llvm::APFloat(floats.getFloatSemantics());
      number.convertFromAPInt(llvm::APInt(64, value.bits()), value.is_negative(), llvm::APFloat::rmNearestTiesToEven);
    }
    return DenseElementsAttr::get(type, number);
  }
  if (element.isInteger(1))
    return DenseElementsAttr::get(type, value.real() != 0);
  return DenseElementsAttr::get(type, llvm::APInt(element.getIntOrFloatBitWidth(), bitsOf(value), true, true));
}

DenseElementsAttr TraceSymbols::literal(RankedTensorType type, std::span<const std::byte> bytes) {
  if (type.getElementType().isInteger(1)) {
    llvm::SmallVector<bool> values;
    for (std::byte b : bytes)
      values.push_back(b != std::byte{0});
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(
      type, llvm::ArrayRef<char>(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

} // namespace halftone::detail
