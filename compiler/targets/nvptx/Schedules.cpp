// The schedules of kernels on NVIDIA GPUs: their legal combinations, and the numerics that they support.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/Schedules.h"
#include "compiler/targets/gpu/Schedules.h"
#include "compiler/targets/nvptx/Mma.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/targets/nvptx/ScheduleDialect.cpp.inc"
#include "compiler/targets/nvptx/ScheduleEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/nvptx/Schedules.cpp.inc"

namespace halftone::compiler::nvptx {
using namespace mlir;
using dialect::KernelKind;

void ScheduleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/targets/nvptx/Schedules.cpp.inc"
      >();
}

LogicalResult MmaScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Product,
                                      ArrayRef<int64_t> tile, ArrayRef<int64_t> divisors) {
  return gpu::verifyTile(emitError, name, tile, divisors);
}

StringRef MmaScheduleAttr::getStrategy() const { return mmaInstruction(getProduct()).name; }

bool MmaScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::matmul; }

bool MmaScheduleAttr::supports(Numerics numerics) const {
  return !numerics.fixesOrder() || mmaInstruction(getProduct()).isExact;
}

bool MmaScheduleAttr::takesStoredFactors() const { return true; }

} // namespace halftone::compiler::nvptx
