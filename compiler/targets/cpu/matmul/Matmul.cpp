// Matmul kernels: creates a plan and emits its code.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/matmul/MatmulOrder.h"

namespace halftone::compiler {
using namespace mlir;

FailureOr<std::string> emitMatmul(KernelFrame &frame) {
  const FailureOr<MatmulPlan> plan = MatmulPlan::of(frame.source, frame.target);
  if (failed(plan))
    return failure();
  MatmulOrder::of(*plan, frame)->emit();
  return plan->method();
}

} // namespace halftone::compiler
