// The arithmetic that a target has as instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

class MathInstructions;

/// Each fact says that vectors of the target have the operation as instructions; where one is false, kernels compute it by
/// others with the same result.
struct MathTraits {
  bool hasFma = false;       // fused multiply-add
  bool hasRounding = false;  // floor, ceil, trunc and roundeven
  bool convertsF16 = false;  // f16 <-> f32
  bool convertsBf16 = false; // f32 -> bf16, of all numbers
  /// Instructions that not every target has; null if there are none. The object is never destroyed.
  const MathInstructions *instructions = nullptr;
};

} // namespace halftone::compiler
