// The schedules of kernels on GPUs: their legal combinations, and the numerics that they support.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/Schedules.h"
#include "compiler/targets/gpu/GpuOps.h"
#include "compiler/targets/gpu/RowThreads.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include "compiler/targets/gpu/ScheduleDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/gpu/Schedules.cpp.inc"

namespace halftone::compiler::gpu {
using namespace mlir;
using dialect::KernelKind;
using EmitError = llvm::function_ref<InFlightDiagnostic()>;

void ScheduleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/targets/gpu/Schedules.cpp.inc"
      >();
}

static bool isPowerOf2(int64_t size) { return size > 0 && llvm::isPowerOf2_64(uint64_t(size)); }

LogicalResult verifyTile(EmitError emitError, StringRef name, ArrayRef<int64_t> tile, ArrayRef<int64_t> divisors) {
  const auto refuse = [&](StringRef parameter, ArrayRef<int64_t> sizes, StringRef expected) -> LogicalResult {
    InFlightDiagnostic error = emitError() << "#" << name << ": " << parameter << " = [";
    llvm::interleaveComma(sizes, error);
    return error << "]; expected " << expected;
  };
  if (tile.size() != 2 || tile[0] < 1 || tile[1] < 1)
    return refuse("tile", tile, "the rows and columns of a tile, at least 1 of each");
  if (!llvm::all_of(divisors, [](int64_t divisor) { return isPowerOf2(divisor) && divisor <= 16; }))
    return refuse("divisors", divisors, "powers of two up to 16");
  return success();
}

LogicalResult MatmulScheduleAttr::verify(EmitError emitError, ArrayRef<int64_t> tile, ArrayRef<int64_t> divisors) {
  return verifyTile(emitError, name, tile, divisors);
}

StringRef MatmulScheduleAttr::getStrategy() const { return "multiply-add"; }

bool MatmulScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::matmul; }

bool MatmulScheduleAttr::supports(Numerics) const { return true; }

LogicalResult RowScheduleAttr::verify(EmitError emitError, int64_t teams, int64_t across, int64_t vector,
                                      int64_t steps) {
  const auto refuse = [&] { return emitError() << "#" << name << ": "; };
  if (!isPowerOf2(teams) || !isPowerOf2(across) || across < warpLanes || teams > maxRowThreads ||
      across > maxRowThreads || teams * across > maxRowThreads)
    return refuse() << "teams = " << teams << ", across = " << across << "; expected powers of two, teams of "
                    << warpLanes << " threads or more, and at most " << maxRowThreads << " threads";
  if (!isPowerOf2(vector) || vector > maxVector || steps < 0 || steps > maxHeld / vector)
    return refuse() << "vector = " << vector << ", steps = " << steps << "; expected a power of two up to " << maxVector
                    << ", and 0 or more steps with at most " << maxHeld << " elements in total";
  if (steps == 0 && teams != 1)
    return refuse() << "teams = " << teams << " with steps = 0; expected 1 team, which uses the block's scratch";
  return success();
}

StringRef RowScheduleAttr::getStrategy() const { return getSteps() > 0 ? "rows in registers" : "rows in steps"; }

bool RowScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::row || kind == KernelKind::finish; }

bool RowScheduleAttr::supports(Numerics) const { return true; }

} // namespace halftone::compiler::gpu
