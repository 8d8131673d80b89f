// Non-temporal stores (x86).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// Stores a whole vector non-temporally to an address that is a multiple of its size, or of 64 bytes. It is ordered
/// before later stores of this thread only after storeFence().
void streamLanes(KernelFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &access);
void storeFence(KernelFrame &frame);

} // namespace halftone::compiler
