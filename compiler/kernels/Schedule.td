// The interface of schedules: how one target computes a kernel.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_SCHEDULE
#define HALFTONE_SCHEDULE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Interfaces.td"

def Halftone_ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::halftone::compiler";
  let description = [{
    How one target computes a kernel: the choices that do not follow from the kernel's linalg form. The attribute
    `halftone.schedule` of a kernel's function holds one. Only the target that made a schedule reads its parameters; code for all
    targets asks these questions.
  }];
  let methods = [
    InterfaceMethod<"How reports name the schedule, such as by its instruction.", "::llvm::StringRef", "getStrategy">,
    InterfaceMethod<"Whether a kernel of this kind may have the schedule.",
                    "bool", "fitsKind", (ins "::halftone::dialect::KernelKind":$kind)>,
    InterfaceMethod<"Whether the results are those that these numerics promise.",
                    "bool", "supports", (ins "::halftone::compiler::Numerics":$numerics)>,
    InterfaceMethod<"Of a matmul: whether factors keep the type that they are stored in.",
                    "bool", "takesStoredFactors", (ins), "", "return false;">
  ];
}

/// Integers in brackets: `[128, 64]`. (In a `struct` an ArrayRefParameter is printed without brackets, and its parser takes the
/// parameter after it for one of its elements.)
class Halftone_SizesParameter<string summary> : ArrayRefParameter<"int64_t", summary> {
  let parser = "::halftone::compiler::parseSizes($_parser)";
  let printer = "::halftone::compiler::printSizes($_printer, $_self)";
}

#endif // HALFTONE_SCHEDULE
