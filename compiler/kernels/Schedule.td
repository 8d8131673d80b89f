// The interface of schedules: how a target computes a kernel.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_SCHEDULE
#define HALFTONE_SCHEDULE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Interfaces.td"

def Halftone_ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::halftone::compiler";
  let description = [{
    How a target computes a kernel: the choices that do not follow from the kernel's linalg form. A kernel's function
    holds a schedule as its attribute `halftone.schedule`. Only the target that created the schedule reads its
    parameters; target-independent code uses this interface.
  }];
  let methods = [
    InterfaceMethod<"The schedule's name in reports, such as its instruction.", "::llvm::StringRef", "getStrategy">,
    InterfaceMethod<"Returns true if a kernel of this kind may have the schedule.",
                    "bool", "fitsKind", (ins "::halftone::dialect::KernelKind":$kind)>,
    InterfaceMethod<"Returns true if the results meet the guarantees of these numerics.",
                    "bool", "supports", (ins "::halftone::compiler::Numerics":$numerics)>,
    InterfaceMethod<"For a matmul: returns true if the factors keep their stored type.",
                    "bool", "takesStoredFactors", (ins), "", "return false;">
  ];
}

/// Integers in brackets: `[128, 64]`. (In a `struct` directive, an ArrayRefParameter is printed without brackets, and
/// its parser would take the next parameter for an element.)
class Halftone_SizesParameter<string summary> : ArrayRefParameter<"int64_t", summary> {
  let parser = "::halftone::compiler::parseSizes($_parser)";
  let printer = "::halftone::compiler::printSizes($_printer, $_self)";
}

#endif // HALFTONE_SCHEDULE
