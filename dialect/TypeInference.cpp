// Checked construction of ops, and the mapping between dtypes and element types.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/TypeInference.h"

using namespace mlir;

namespace halftone::dialect {

Type elementType(MLIRContext *context, DType dtype) {
  auto integer = [&](unsigned width, IntegerType::SignednessSemantics sign) -> Type {
    return IntegerType::get(context, width, sign);
  };
  switch (dtype) {
  case DType::bool_:
    return integer(1, IntegerType::Signless);
  case DType::uint8:
    return integer(8, IntegerType::Unsigned);
  case DType::uint16:
    return integer(16, IntegerType::Unsigned);
  case DType::uint32:
    return integer(32, IntegerType::Unsigned);
  case DType::uint64:
    return integer(64, IntegerType::Unsigned);
  case DType::int8:
    return integer(8, IntegerType::Signless);
  case DType::int16:
    return integer(16, IntegerType::Signless);
  case DType::int32:
    return integer(32, IntegerType::Signless);
  case DType::int64:
    return integer(64, IntegerType::Signless);
  case DType::float16:
    return Float16Type::get(context);
  case DType::bfloat16:
    return BFloat16Type::get(context);
  case DType::float32:
    return Float32Type::get(context);
  case DType::float64:
    return Float64Type::get(context);
  case DType::float8_e4m3fn:
    return Float8E4M3FNType::get(context);
  case DType::float8_e5m2:
    return Float8E5M2Type::get(context);
  case DType::complex64:
  case DType::complex128:
  case DType::string:
    return {};
  }
  return {};
}

std::optional<DType> dtypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.isSigned())
      return std::nullopt;
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? std::nullopt : std::optional(DType::bool_);
    case 8:
      return isUnsigned ? DType::uint8 : DType::int8;
    case 16:
      return isUnsigned ? DType::uint16 : DType::int16;
    case 32:
      return isUnsigned ? DType::uint32 : DType::int32;
    case 64:
      return isUnsigned ? DType::uint64 : DType::int64;
    default:
      return std::nullopt;
    }
  }
  if (isa<Float16Type>(type))
    return DType::float16;
  if (isa<BFloat16Type>(type))
    return DType::bfloat16;
  if (isa<Float32Type>(type))
    return DType::float32;
  if (isa<Float64Type>(type))
    return DType::float64;
  if (isa<Float8E4M3FNType>(type))
    return DType::float8_e4m3fn;
  if (isa<Float8E5M2Type>(type))
    return DType::float8_e5m2;
  return std::nullopt;
}

Type arithmeticType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (isa<FloatType>(elementType))
    return isa<Float64Type>(elementType) ? elementType : Float32Type::get(context);
  return IntegerType::get(context, elementType.getIntOrFloatBitWidth());
}

bool isUnsignedElement(Type elementType) { return elementType.isUnsignedInteger() || elementType.isInteger(1); }

/// Storage of an op's properties during result type inference.
namespace {
class PropertyStorage {
public:
  explicit PropertyStorage(OperationName name)
      : name(name), bytes(new std::max_align_t[name.getOpPropertyByteSize() / sizeof(std::max_align_t) + 1]) {
    if (name.getOpPropertyByteSize())
      name.initOpProperties(bytes.get(), OpaqueProperties(nullptr));
  }
  PropertyStorage(const PropertyStorage &) = delete;
  PropertyStorage &operator=(const PropertyStorage &) = delete;
  ~PropertyStorage() {
    if (name.getOpPropertyByteSize())
      name.destroyOpProperties(get());
  }
  OpaqueProperties get() { return OpaqueProperties(bytes.get()); }

private:
  OperationName name;
  std::unique_ptr<std::max_align_t[]> bytes;
};
} // namespace

static LogicalResult inferResults(RegisteredOperationName name, Location loc, ValueRange operands,
                                  DictionaryAttr attributes, RegionRange regions, SmallVectorImpl<Type> &types) {
  auto *interface = name.getInterface<InferTypeOpInterface>();
  if (!interface)
    return success(); // an op without results; if it should have some, the verifier reports it
  auto emitError = [&] { return mlir::emitError(loc) << "'" << name << "' op "; };
  PropertyStorage properties(name);
  if (name.getOpPropertyByteSize() &&
      failed(name.setOpPropertiesFromAttribute(name, properties.get(), attributes, emitError)))
    return failure();
  if (failed(
          interface->inferReturnTypes(loc->getContext(), loc, operands, attributes, properties.get(), regions, types)))
    return emitError() << "result types do not follow from its operands";
  return success();
}

Operation *createChecked(OpBuilder &builder, Location loc, StringRef shortName, TypeRange resultTypes,
                         ValueRange operands, ArrayRef<NamedAttribute> attributes,
                         MutableArrayRef<std::unique_ptr<Region>> regions) {
  std::string fullName = (HalftoneDialect::getDialectNamespace() + "." + shortName).str();
  std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(fullName, builder.getContext());
  if (!name) {
    mlir::emitError(loc) << "unknown op '" << fullName << "'";
    return nullptr;
  }
  for (auto [index, operand] : llvm::enumerate(operands))
    if (!operand) {
      mlir::emitError(loc) << "'" << fullName << "' op operand #" << index << " is null";
      return nullptr;
    }
  NamedAttrList list(attributes);
  if (failed(name->verifyInherentAttrs(list, [&] { return mlir::emitError(loc) << "'" << fullName << "' op "; })))
    return nullptr;

  OperationState state(loc, *name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  for (std::unique_ptr<Region> &region : regions)
    state.addRegion(std::move(region));
  SmallVector<Type> types(resultTypes.begin(), resultTypes.end());
  if (types.empty() &&
      failed(inferResults(*name, loc, operands, list.getDictionary(builder.getContext()), state.regions, types)))
    return nullptr;
  state.addTypes(types);
  Operation *op = builder.create(state);
  // Nested ops were verified when they were created. Their dominance cannot be verified in a region that has no parent
  // yet.
  if (failed(name->verifyInvariants(op)) || failed(name->verifyRegionInvariants(op))) {
    op->erase();
    return nullptr;
  }
  return op;
}

} // namespace halftone::dialect
