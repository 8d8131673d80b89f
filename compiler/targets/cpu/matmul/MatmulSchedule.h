// How a matmul kernel computes on a CPU, chosen by the facts of its product.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// The schedule of a matmul kernel.
cpu::MatmulScheduleAttr matmulSchedule(mlir::MLIRContext *context, const CpuTarget &target, const MatmulTraits &traits);

/// That of a kernel that a matmul's emitter was chosen for.
inline cpu::MatmulScheduleAttr matmulScheduleOf(const KernelSource &source) {
  return llvm::cast<cpu::MatmulScheduleAttr>(source.form.schedule);
}

/// Whether the elements of a window are read in its image (WindowRead::image).
bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);
/// Whether registers hold the sums of many rows and few columns (SumShape::tall).
bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product);

} // namespace halftone::compiler
