// Stores that go past the caches (x86).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// A whole vector to an address that is a multiple of its size, or of 64 bytes, past the caches; later stores of this
/// thread wait for it only after storeFence().
void streamLanes(KernelFrame &frame, Emitted value, const TensorStorage &storage, const TensorAccess &access);
void storeFence(KernelFrame &frame);

} // namespace halftone::compiler
