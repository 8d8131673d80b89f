// The process's default float dtype, Keras's floatx.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"

namespace halftone {
/// bfloat16, float16, float32 (initially) or float64. All threads share it, unlike the global policy.
DType floatx();
/// `dtype` must be one of these four; config::set_floatx validates the user's dtype first.
void setFloatx(DType dtype);
} // namespace halftone
