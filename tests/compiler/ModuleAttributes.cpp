// The target and numerics of a module, also if the module was not verified.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/ModuleAttributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;

namespace {

struct ModuleAttributes {
  MLIRContext context;
  OwningOpRef<ModuleOp> module{ModuleOp::create(UnknownLoc::get(&context))};
  Builder builder{&context};
  std::string errors;
  ScopedDiagnosticHandler handler{&context, [this](Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; }};

  void set(llvm::StringRef name, Attribute value) { (*module)->setAttr(name, value); }
};

} // namespace

TEST_CASE_METHOD(ModuleAttributes,
                 "A module without attributes has fast numerics, and the target that the asker gives") {
  CHECK(*numericsOf(*module) == Numerics::fast());
  CHECK((*Target::of(*module))->name == "host");
  CHECK((*Target::of(*module, "sm_80"))->name == "sm_80");
  const FailureOr<CompiledFor> compiled = compiledFor(*module, "", false, "x86-64-v2");
  REQUIRE(succeeded(compiled));
  CHECK(compiled->target->name == "x86-64-v2");
  CHECK(compiled->numerics == Numerics::fast());
}

TEST_CASE_METHOD(ModuleAttributes,
                 "What a pass is given comes before attributes, and attributes come before defaults") {
  set(Target::attribute, builder.getStringAttr("sm_80"));
  set(numericsAttribute, builder.getStringAttr("strict"));
  CHECK((*Target::of(*module, "x86-64-v3"))->name == "sm_80");
  for (const char *given : {"", "x86-64-v2"})
    for (const std::optional<Numerics> numerics : {std::optional<Numerics>(), std::optional(Numerics::fast())}) {
      CAPTURE(given, numerics.has_value());
      const FailureOr<CompiledFor> compiled = compiledFor(*module, given, numerics);
      REQUIRE(succeeded(compiled));
      CHECK(compiled->target->name == (*given ? "x86-64-v2" : "sm_80"));
      CHECK(compiled->numerics == (numerics ? Numerics::fast() : Numerics::strict()));
    }
  CHECK(compiledFor(*module, "", false)->numerics == Numerics::strict());
  CHECK(errors.empty());
}

TEST_CASE_METHOD(ModuleAttributes, "Numerics are those of the innermost op around") {
  set(numericsAttribute, builder.getStringAttr("strict"));
  OpBuilder inside = OpBuilder::atBlockBegin(module->getBody());
  ModuleOp inner = ModuleOp::create(inside, UnknownLoc::get(&context));
  CHECK(*numericsOf(inner) == Numerics::strict());
  inner->setAttr(numericsAttribute, builder.getStringAttr("fast"));
  CHECK(*numericsOf(inner) == Numerics::fast());
  CHECK(*numericsOf(*module) == Numerics::strict());
}

TEST_CASE_METHOD(ModuleAttributes, "An attribute that names nothing is one error, whatever it holds") {
  const Attribute others[] = {builder.getUnitAttr(),
                              builder.getI64IntegerAttr(7),
                              builder.getDictionaryAttr({}),
                              builder.getStringAttr(""),
                              builder.getStringAttr("sm_"),
                              builder.getStringAttr("emulated:emulated:host"),
                              builder.getStringAttr("x86_64-unknown-linux-gnu:help"),
                              builder.getStringAttr(llvm::StringRef("fast\0", 5)),
                              builder.getStringAttr(std::string(100000, '-')),
                              builder.getStringAttr("\xff\xfe{}%s")};
  for (const Attribute &other : others) {
    CAPTURE(&other - others);
    set(Target::attribute, other);
    (*module)->removeAttr(numericsAttribute);
    CHECK(Target::of(*module).status().kind() == ErrorKind::value_error);
    errors.clear();
    CHECK(failed(compiledFor(*module, "", false)));
    CHECK_THAT(errors, Catch::StartsWith("attribute 'halftone.target'"));
    set(Target::attribute, builder.getStringAttr("sm_80"));
    set(numericsAttribute, other);
    CHECK(numericsOf(*module).status().kind() == ErrorKind::value_error);
    errors.clear();
    CHECK(failed(compiledFor(*module, "", false)));
    CHECK_THAT(errors, Catch::StartsWith("attribute 'halftone.numerics' must be \"fast\" or \"strict\", but got "));
  }
}
