// The process's default float dtype, Keras's floatx.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"

namespace halftone {
/// bfloat16, float16, float32 (at start) or float64. All threads share it, unlike the global policy.
DType floatx();
/// `dtype` must be one of the four; config::set_floatx checks the user's dtype before.
void setFloatx(DType dtype);
} // namespace halftone
