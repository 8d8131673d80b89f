// Verification of the halftone.* attributes: where each may occur, and the type of its value.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

enum class Owner : uint8_t { module, function, argument, result, generic, slice, loop, comparison, choice, op };
enum class Holds : uint8_t { string, kind, unit, integer, integers, list, dictionary, symbol, numerics, schedule };

struct Known {
  StringRef name;
  Owner owner;
  Holds holds;
};

// docs/architecture.md, "Stages", describes the attributes of modules and @main; docs/kernel-form.md describes those of
// kernels.
constexpr Known known[] = {
#define KERNEL_ATTRIBUTE(holds, field, name) {name, Owner::function, Holds::holds},
#include "dialect/KernelAttributes.def"
    {"method", Owner::function, Holds::string}, // for reports
    {"layers", Owner::module, Holds::dictionary}, {"extents", Owner::module, Holds::integers},
    {"grid", Owner::module, Holds::integer},      {"scratch", Owner::module, Holds::integer},
    {"stage", Owner::module, Holds::string},      {"target", Owner::module, Holds::string},
    {"numerics", Owner::module, Holds::numerics}, {"name", Owner::argument, Holds::string},
    {"variable", Owner::argument, Holds::symbol}, {"shadow", Owner::argument, Holds::symbol},
    {"panels", Owner::argument, Holds::integers}, {"name", Owner::result, Holds::string},
    {"variable", Owner::result, Holds::symbol},   {"shadow", Owner::result, Holds::symbol},
    {"panels", Owner::result, Holds::integers},   {"partial", Owner::result, Holds::string},
    {"combine", Owner::generic, Holds::list},     {"dims", Owner::generic, Holds::integers},
    {"interleaved", Owner::loop, Holds::unit},    {"window", Owner::argument, Holds::integers},
    {"bound", Owner::comparison, Holds::unit},    {"rematerialize", Owner::op, Holds::integer},
    {"keeps", Owner::choice, Holds::integers},    {"dims", Owner::slice, Holds::integers},
    {"vanishes", Owner::op, Holds::unit},
};

StringRef textOf(Owner owner) {
  switch (owner) {
  case Owner::module:
    return "a module";
  case Owner::function:
    return "a function";
  case Owner::argument:
    return "a function's argument";
  case Owner::result:
    return "a function's result";
  case Owner::generic:
    return "a linalg.generic";
  case Owner::slice:
    return "a tensor.extract_slice";
  case Owner::loop:
    return "an scf.for";
  case Owner::comparison:
    return "an arith.cmpi, arith.maxsi or arith.minsi";
  case Owner::choice:
    return "an arith.select";
  case Owner::op:
    return "an op of the dialect";
  }
  return {};
}

StringRef textOf(Holds holds) {
  switch (holds) {
  case Holds::string:
    return "a string";
  case Holds::kind:
    return "the kind of a kernel";
  case Holds::unit:
    return "a unit attribute";
  case Holds::integer:
    return "an integer";
  case Holds::integers:
    return "an array<i64>";
  case Holds::list:
    return "an array";
  case Holds::dictionary:
    return "a dictionary";
  case Holds::symbol:
    return "a symbol";
  case Holds::numerics:
    return "\"fast\" or \"strict\"";
  case Holds::schedule:
    return "a schedule of a target";
  }
  return {};
}

bool isOf(Attribute value, Holds holds) {
  switch (holds) {
  case Holds::string:
    return isa<StringAttr>(value);
  case Holds::kind:
    return isa<StringAttr>(value) && symbolizeKernelKind(cast<StringAttr>(value).getValue());
  case Holds::unit:
    return isa<UnitAttr>(value);
  case Holds::integer:
    return isa<IntegerAttr>(value);
  case Holds::integers:
    return isa<DenseI64ArrayAttr>(value);
  case Holds::list:
    return isa<ArrayAttr>(value);
  case Holds::dictionary:
    return isa<DictionaryAttr>(value);
  case Holds::symbol:
    return isa<FlatSymbolRefAttr>(value);
  case Holds::numerics: {
    auto name = dyn_cast<StringAttr>(value);
    return name && llvm::is_contained({"fast", "strict"}, name.getValue());
  }
  case Holds::schedule: // an attribute of a target's dialect, which this dialect does not know
    return !isa<BuiltinDialect, HalftoneDialect>(value.getDialect());
  }
  return false;
}

/// Returns the kind of IR object that `op` is in the table of attributes; nullopt if no attribute may occur on it.
std::optional<Owner> ownerOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "builtin.module")
    return Owner::module;
  if (name == "func.func" || name == "llvm.func")
    return Owner::function;
  if (name == "linalg.generic")
    return Owner::generic;
  if (name == "tensor.extract_slice")
    return Owner::slice;
  if (name == "scf.for")
    return Owner::loop;
  if (name == "arith.cmpi" || name == "arith.maxsi" || name == "arith.minsi")
    return Owner::comparison;
  if (name == "arith.select")
    return Owner::choice;
  return isa<HalftoneDialect>(op->getDialect()) ? std::optional(Owner::op) : std::nullopt;
}

/// Verifies one attribute. `where` describes its location in messages.
LogicalResult verifyAttribute(Operation *op, std::optional<Owner> owner, StringRef where, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue(), own = name.substr(name.find('.') + 1);
  std::string expected, elsewhere;
  auto listed = [](std::string &list, const Twine &more) { list += (list.empty() ? "" : ", ") + more.str(); };
  for (const Known &each : known) {
    if (each.owner == owner)
      listed(expected, "halftone." + each.name);
    if (each.name != own)
      continue;
    if (each.owner != owner)
      listed(elsewhere, textOf(each.owner));
    else if (isOf(attribute.getValue(), each.holds))
      return success();
    else
      return op->emitError() << "attribute '" << name << "' of " << where << " must be " << textOf(each.holds)
                             << ", but got " << attribute.getValue();
  }
  auto error = op->emitError() << "attribute '" << name << "' is not known on " << where;
  if (!elsewhere.empty())
    error << ": it belongs on " << elsewhere;
  return error << "; expected " << (expected.empty() ? "none" : expected);
}

} // namespace

LogicalResult HalftoneDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  std::optional<Owner> owner = ownerOf(op);
  std::string where = owner ? textOf(*owner).str() : ("a " + op->getName().getStringRef()).str();
  if (failed(verifyAttribute(op, owner, where, attribute)))
    return failure();
  return attribute.getName() == stageAttr ? verifyDeclaredStage(op, attribute.getValue()) : success();
}

/// Regions are verified after their op, so the ops inside are not yet verified here. Checks that read them are
/// deferred.
LogicalResult HalftoneDialect::verifyDeclaredStage(Operation *module, Attribute stage) const {
  StringRef declared = cast<StringAttr>(stage).getValue();
  if (!llvm::is_contained({"graph", "cast", "pure", "kernel"}, declared))
    return module->emitError() << "attribute '" << stageAttr
                               << "' must be \"graph\", \"cast\", \"pure\" or \"kernel\", but got " << stage;
  if (!stageCheck)
    return success();
  bool isVerified = true;
  {
    ScopedDiagnosticHandler silence(module->getContext(), [](Diagnostic &) {});
    for (Operation &op : module->getRegion(0).front())
      isVerified &= succeeded(verify(&op));
  }
  return isVerified ? stageCheck(module, declared) : success();
}

LogicalResult HalftoneDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                        NamedAttribute attribute) {
  return verifyAttribute(op, Owner::argument, ("argument " + Twine(index)).str(), attribute);
}

LogicalResult HalftoneDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                           NamedAttribute attribute) {
  return verifyAttribute(op, Owner::result, ("result " + Twine(index)).str(), attribute);
}

} // namespace halftone::dialect
