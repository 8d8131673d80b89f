// Verification of the halftone.* attributes: where each may occur, and the type of its value.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

enum class Place : uint8_t { module, function, argument, result, generic, slice, loop, comparison, choice, op };
enum class Holds : uint8_t { string, kind, unit, integer, integers, list, dictionary, symbol, numerics, schedule };

struct Known {
  StringRef name;
  Place place;
  Holds holds;
};

// docs/architecture.md, "Stages", describes the attributes of modules and @main; docs/kernel-form.md describes those of
// kernels.
constexpr Known known[] = {
#define KERNEL_ATTRIBUTE(holds, field, name) {name, Place::function, Holds::holds},
#include "dialect/KernelAttributes.def"
    {"method", Place::function, Holds::string}, // for reports
    {"layers", Place::module, Holds::dictionary}, {"extents", Place::module, Holds::integers},
    {"grid", Place::module, Holds::integer},      {"scratch", Place::module, Holds::integer},
    {"stage", Place::module, Holds::string},      {"target", Place::module, Holds::string},
    {"numerics", Place::module, Holds::numerics}, {"name", Place::argument, Holds::string},
    {"variable", Place::argument, Holds::symbol}, {"shadow", Place::argument, Holds::symbol},
    {"panels", Place::argument, Holds::integers}, {"name", Place::result, Holds::string},
    {"variable", Place::result, Holds::symbol},   {"shadow", Place::result, Holds::symbol},
    {"panels", Place::result, Holds::integers},   {"partial", Place::result, Holds::string},
    {"combine", Place::generic, Holds::list},     {"dims", Place::generic, Holds::integers},
    {"interleaved", Place::loop, Holds::unit},    {"window", Place::argument, Holds::integers},
    {"bound", Place::comparison, Holds::unit},    {"rematerialize", Place::op, Holds::integer},
    {"keeps", Place::choice, Holds::integers},    {"dims", Place::slice, Holds::integers},
    {"vanishes", Place::op, Holds::unit},
};

StringRef textOf(Place place) {
  switch (place) {
  case Place::module:
    return "a module";
  case Place::function:
    return "a function";
  case Place::argument:
    return "a function's argument";
  case Place::result:
    return "a function's result";
  case Place::generic:
    return "a linalg.generic";
  case Place::slice:
    return "a tensor.extract_slice";
  case Place::loop:
    return "an scf.for";
  case Place::comparison:
    return "an arith.cmpi, arith.maxsi or arith.minsi";
  case Place::choice:
    return "an arith.select";
  case Place::op:
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
std::optional<Place> placeOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "builtin.module")
    return Place::module;
  if (name == "func.func" || name == "llvm.func")
    return Place::function;
  if (name == "linalg.generic")
    return Place::generic;
  if (name == "tensor.extract_slice")
    return Place::slice;
  if (name == "scf.for")
    return Place::loop;
  if (name == "arith.cmpi" || name == "arith.maxsi" || name == "arith.minsi")
    return Place::comparison;
  if (name == "arith.select")
    return Place::choice;
  return isa<HalftoneDialect>(op->getDialect()) ? std::optional(Place::op) : std::nullopt;
}

/// Verifies one attribute. `where` describes its location in messages.
LogicalResult verifyAttribute(Operation *op, std::optional<Place> place, StringRef where, NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue(), own = name.substr(name.find('.') + 1);
  std::string expected, elsewhere;
  auto listed = [](std::string &list, const Twine &more) { list += (list.empty() ? "" : ", ") + more.str(); };
  for (const Known &each : known) {
    if (each.place == place)
      listed(expected, "halftone." + each.name);
    if (each.name != own)
      continue;
    if (each.place != place)
      listed(elsewhere, textOf(each.place));
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
  std::optional<Place> place = placeOf(op);
  std::string where = place ? textOf(*place).str() : ("a " + op->getName().getStringRef()).str();
  if (failed(verifyAttribute(op, place, where, attribute)))
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
    ScopedDiagnosticHandler saidLater(module->getContext(), [](Diagnostic &) {});
    for (Operation &op : module->getRegion(0).front())
      isVerified &= succeeded(verify(&op));
  }
  return isVerified ? stageCheck(module, declared) : success();
}

LogicalResult HalftoneDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                        NamedAttribute attribute) {
  return verifyAttribute(op, Place::argument, ("argument " + Twine(index)).str(), attribute);
}

LogicalResult HalftoneDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                           NamedAttribute attribute) {
  return verifyAttribute(op, Place::result, ("result " + Twine(index)).str(), attribute);
}

} // namespace halftone::dialect
