// Matmul kernels: the problem is read, then its code is written.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/matmul/MatmulOrder.h"

namespace halftone::compiler {
using namespace mlir;

FailureOr<std::string> emitMatmul(KernelFrame &frame) {
  const FailureOr<MatmulProblem> problem = MatmulProblem::read(frame.source, frame.target);
  if (failed(problem))
    return failure();
  MatmulOrder(*problem, frame).emit();
  return problem->method();
}

} // namespace halftone::compiler
