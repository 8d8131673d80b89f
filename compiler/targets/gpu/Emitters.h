// From the legalized linalg form of a kernel to the code of its blocks on a GPU: one emitter a form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuTarget.h"
#include "compiler/targets/gpu/GridFrame.h"
#include <string>

namespace halftone::compiler {

/// Each emitter writes the work of one block of a kernel (docs/kernel-form.md, after legalize-storage) into `frame`.
/// Returns how the code computes, for reports; on failure a diagnostic names the part of the kernel that has no code.
mlir::FailureOr<std::string> emitLoop(GridFrame &frame);          // of one generic
mlir::FailureOr<std::string> emitReductionLoop(GridFrame &frame); // of two generics
mlir::FailureOr<std::string> emitRow(GridFrame &frame);           // of any number, of one shape or of several
mlir::FailureOr<std::string> emitScan(GridFrame &frame);          // of two generics
mlir::FailureOr<std::string> emitScatter(GridFrame &frame);       // of two generics
mlir::FailureOr<std::string> emitSort(GridFrame &frame);          // of two generics

/// Scratch of a block of a sort kernel at these extents: for a row that shared memory does not hold.
int64_t sortScratchBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

/// Replaces `kernel` by its code, by the emitter of its kind.
mlir::FailureOr<EmittedKernel> emitKernel(mlir::func::FuncOp kernel, const GpuTarget &target);

} // namespace halftone::compiler
