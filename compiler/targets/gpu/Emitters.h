// The GPU emitters, one per form: from the legalized linalg form of a kernel to the code of its blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/GpuTarget.h"
#include "compiler/targets/gpu/GridFrame.h"
#include <string>

namespace halftone::compiler {

/// Each emitter emits the work of one block of a kernel (docs/kernel-form.md, after legalize-storage) into `frame`.
/// Returns a description of the computation, for reports; on failure a diagnostic names the part of the kernel that is
/// not supported.
mlir::FailureOr<std::string> emitLoop(GridFrame &frame);          // one generic
mlir::FailureOr<std::string> emitReductionLoop(GridFrame &frame); // two generics
mlir::FailureOr<std::string> emitRow(GridFrame &frame);           // any number of generics, of one shape or of several
mlir::FailureOr<std::string> emitScan(GridFrame &frame);          // two generics
mlir::FailureOr<std::string> emitScatter(GridFrame &frame);       // two generics
mlir::FailureOr<std::string> emitSort(GridFrame &frame);          // two generics

/// The scratch per block of a sort kernel with these extents: for a row that does not fit in shared memory.
int64_t sortScratchBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

/// Replaces `kernel` by its code, with the emitter of its kind.
mlir::FailureOr<EmittedKernel> emitKernel(mlir::func::FuncOp kernel, const GpuTarget &target);

} // namespace halftone::compiler
