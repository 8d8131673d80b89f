// Layers, conditional regions, gradients.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace halftone::dialect {

static LogicalResult verifyYield(Operation *op, Region &region, TypeRange results, StringRef what) {
  Operation *yield = region.front().getTerminator();
  if (yield->getNumOperands() != results.size())
    return op->emitOpError() << what << " yields " << yield->getNumOperands() << " values, but there are "
                             << results.size() << " results";
  for (auto [index, value, result] : llvm::enumerate(yield->getOperandTypes(), results))
    if (value != result)
      return op->emitOpError() << what << " yields " << value << " as value #" << index << ", but the result is "
                               << result;
  return success();
}

static bool differOnlyInFloat(Type first, Type second) {
  auto a = dyn_cast<RankedTensorType>(first), b = dyn_cast<RankedTensorType>(second);
  return a && b && a.getShape() == b.getShape() &&
         (a.getElementType() == b.getElementType() ||
          (isa<FloatType>(a.getElementType()) && isa<FloatType>(b.getElementType())));
}

LogicalResult LayerOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " operands, but its region has " << block.getNumArguments()
                         << " arguments";
  for (auto [index, operand, argument] : llvm::enumerate(getInputs().getTypes(), block.getArgumentTypes()))
    if (!differOnlyInFloat(operand, argument))
      return emitOpError() << "operand #" << index << " of type " << operand
                           << " cannot be passed to the region's argument of type " << argument
                           << ": only the dtypes of floats may differ";
  return verifyYield(*this, getBody(), getOutputs().getTypes(), "region");
}

LogicalResult WhenOp::verify() {
  for (auto [region, name] :
       {std::pair(&getThenRegion(), "first region"), std::pair(&getElseRegion(), "second region")}) {
    if (region->front().getNumArguments() != 0)
      return emitOpError() << name << " takes no arguments, but has " << region->front().getNumArguments();
    if (failed(verifyYield(*this, *region, getOutputs().getTypes(), name)))
      return failure();
  }
  return success();
}

/// The region selected by a constant condition; null for an unknown condition.
static Region *regionTaken(WhenOp op, Attribute condition) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(condition);
  if (!elements)
    return nullptr;
  return elements.getSplatValue<bool>() ? &op.getThenRegion() : &op.getElseRegion();
}

void WhenOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  if (point.isParent())
    regions.append({RegionSuccessor(&getThenRegion()), RegionSuccessor(&getElseRegion())});
  else
    regions.push_back(RegionSuccessor(getOperation(), getOutputs()));
}

void WhenOp::getEntrySuccessorRegions(ArrayRef<Attribute> operands, SmallVectorImpl<RegionSuccessor> &regions) {
  if (Region *taken = regionTaken(*this, FoldAdaptor(operands, *this).getCondition()))
    regions.push_back(RegionSuccessor(taken));
  else
    getSuccessorRegions(RegionBranchPoint::parent(), regions);
}

void WhenOp::getRegionInvocationBounds(ArrayRef<Attribute> operands, SmallVectorImpl<InvocationBounds> &bounds) {
  Region *taken = regionTaken(*this, FoldAdaptor(operands, *this).getCondition());
  for (Region *region : getRegions())
    bounds.emplace_back(taken == region, !taken || taken == region);
}

// A scan forwards the carries; slices of the ys go to the stacks. The condition of a while forwards nothing that it
// yields.
MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  unsigned passed = getNumOperands();
  if (auto scan = dyn_cast<ScanOp>((*this)->getParentOp()))
    passed = scan.getInits().size();
  else if (auto loop = dyn_cast<WhileOp>((*this)->getParentOp());
           loop && (*this)->getParentRegion() == &loop.getCondition())
    passed = 0;
  return MutableOperandRange(*this, 0, passed);
}

LogicalResult CustomGradientOp::verify() {
  if (getXs().empty())
    return emitOpError("expects at least one value that receives a cotangent");
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(getY().getType()))
    return emitOpError() << "region must take only the cotangent, of type " << getY().getType() << ", but has "
                         << block.getNumArguments() << " arguments"
                         << (block.getNumArguments() == 1 ? " of another type" : "");
  const WalkResult walked = getBody().walk([&](Operation *op) {
    if (!isa<AssignOp, GradientOp>(op))
      return WalkResult::advance();
    emitOpError() << "region must only compute cotangents, but contains '" << op->getName() << "'";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  return verifyYield(*this, getBody(), getXs().getTypes(), "region");
}

bool CustomGradientOp::reaches(OpOperand &operand) { return operand.getOperandNumber() > 0; }

LogicalResult CustomGradientOp::buildGradient(OpBuilder &builder, ValueRange cotangents,
                                              SmallVectorImpl<Value> &gradients) {
  Block &block = getBody().front();
  IRMapping mapping;
  mapping.map(block.getArgument(0), cotangents[0]);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  gradients.push_back({});
  for (Value value : block.getTerminator()->getOperands())
    gradients.push_back(mapping.lookupOrDefault(value));
  return success();
}

OpFoldResult HoldOp::fold(FoldAdaptor adaptor) { return adaptor.getX(); }

LogicalResult HoldOp::buildGradient(OpBuilder &, ValueRange cotangents, SmallVectorImpl<Value> &gradients) {
  gradients.push_back(cotangents[0]);
  return success();
}

// halftone.gradient %y (of [@v, ...])? (at (%x : type, ...))? attr-dict : type -> types
ParseResult GradientOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand y;
  SmallVector<OpAsmParser::UnresolvedOperand> xs;
  SmallVector<Type> xTypes;
  SmallVector<Attribute> variables;
  if (parser.parseOperand(y))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("of"))) {
    auto parseVariable = [&]() -> ParseResult {
      SymbolRefAttr symbol;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseAttribute(symbol))
        return failure();
      if (!isa<FlatSymbolRefAttr>(symbol))
        return parser.emitError(loc, "expected the name of a variable");
      variables.push_back(symbol);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseVariable))
      return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("at"))) {
    auto parseValue = [&]() -> ParseResult {
      return failure(parser.parseOperand(xs.emplace_back()) || parser.parseColonType(xTypes.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseValue))
      return failure();
  }
  Type yType;
  SmallVector<Type> resultTypes;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(yType) ||
      parser.parseArrowTypeList(resultTypes) || parser.resolveOperand(y, yType, result.operands) ||
      parser.resolveOperands(xs, xTypes, loc, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().setOf(parser.getBuilder().getArrayAttr(variables));
  result.addTypes(resultTypes);
  return success();
}

void GradientOp::print(OpAsmPrinter &printer) {
  printer << " " << getY();
  if (!getOf().empty()) {
    printer << " of [";
    llvm::interleaveComma(getOf(), printer, [&](Attribute variable) { printer << variable; });
    printer << "]";
  }
  if (!getXs().empty()) {
    printer << " at (";
    llvm::interleaveComma(getXs(), printer, [&](Value x) { printer << x << " : " << x.getType(); });
    printer << ")";
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), getOfAttrName().getValue());
  printer << " : " << getY().getType();
  printer.printArrowTypeList(getGradients().getTypes());
}

LogicalResult GradientOp::verify() {
  if (cast<RankedTensorType>(getY().getType()).getRank() != 0)
    return emitOpError() << "differentiates a scalar, but got " << getY().getType();
  size_t variables = getOf().size();
  if (getNumResults() == 0)
    return emitOpError("expects a variable or a value to differentiate with respect to");
  if (variables + getXs().size() != getNumResults())
    return emitOpError() << "differentiates with respect to " << variables << " variables and " << getXs().size()
                         << " values, but has " << getNumResults() << " results";
  for (auto [index, x, result] : llvm::enumerate(getXs().getTypes(), getGradients().drop_front(variables).getTypes()))
    if (x != result)
      return emitOpError() << "result #" << variables + index << " is the derivative with respect to a value of type "
                           << x << ", but has type " << result;
  llvm::SmallPtrSet<Attribute, 8> seen;
  for (Attribute variable : getOf())
    if (!seen.insert(variable).second)
      return emitOpError() << "names variable " << variable << " twice";
  return success();
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto [index, attr] : llvm::enumerate(getOf())) {
    auto name = cast<FlatSymbolRefAttr>(attr);
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(*this, name);
    if (!variable)
      return emitOpError() << "names " << name << ", which is not a variable";
    if (variable.getType() != getGradients()[index].getType())
      return emitOpError() << "result #" << index << " is the derivative with respect to variable " << name
                           << " of type " << variable.getType() << ", but has type " << getGradients()[index].getType();
  }
  return success();
}

} // namespace halftone::dialect
