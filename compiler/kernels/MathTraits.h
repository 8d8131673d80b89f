// The arithmetic for which a target has instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::compiler {

class MathInstructions;

/// Each flag says that the target has vector instructions for the operation; otherwise kernels compute it by other
/// operations, with the same result.
struct MathTraits {
  bool hasFma = false;       // fused multiply-add
  bool hasRounding = false;  // floor, ceil, trunc and roundeven
  bool convertsF16 = false;  // f16 <-> f32
  bool convertsBf16 = false; // f32 -> bf16, for all numbers
  /// Instructions that not every target has, or null. The object is never destroyed.
  const MathInstructions *instructions = nullptr;
};

} // namespace halftone::compiler
