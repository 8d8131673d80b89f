// Schedules as text: parsed, rejected and printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <string>

namespace halftone::testing {

struct ScheduleTexts {
  mlir::DialectRegistry registry;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  ScheduleTexts() {
    compiler::Target::registerDialects(registry);
    context.appendDialectRegistry(registry);
  }
  compiler::ScheduleAttrInterface read(const std::string &text) {
    return llvm::dyn_cast_or_null<compiler::ScheduleAttrInterface>(mlir::parseAttribute(text, &context));
  }
  std::string refusal(const std::string &text) {
    std::string found;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      found += diagnostic.str() + "\n";
      return mlir::success();
    });
    CHECK_FALSE(mlir::parseAttribute(text, &context));
    return found;
  }
  static std::string textOf(compiler::ScheduleAttrInterface schedule) {
    std::string text;
    llvm::raw_string_ostream(text) << schedule;
    return text;
  }
};

} // namespace halftone::testing
