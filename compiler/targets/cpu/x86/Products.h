// The products of x86 CPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// In the order of preference.
llvm::ArrayRef<ProductRow> x86Products();

/// The parts of AVX-512 that CPUs with vectors of 64 bytes have.
bool hasAvx512(const llvm::MCSubtargetInfo &features);

} // namespace halftone::compiler
