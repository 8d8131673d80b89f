// The selection of a matmul kernel's schedule on a CPU from the facts of its product.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// Selects the schedule of a matmul kernel.
cpu::MatmulScheduleAttr matmulSchedule(mlir::MLIRContext *context, const CpuTarget &target, const MatmulTraits &traits);

/// The schedule of a kernel for which a matmul emitter was chosen.
inline cpu::MatmulScheduleAttr matmulScheduleOf(const KernelSource &source) {
  return llvm::cast<cpu::MatmulScheduleAttr>(source.form.schedule);
}

/// Returns true if window elements are read directly from the image (WindowRead::image).
bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);
/// Returns true if registers hold the sums of many rows and few columns (SumShape::tall).
bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);

} // namespace halftone::compiler
