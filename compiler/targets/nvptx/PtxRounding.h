// Which instructions of PTX give the same bits on every GPU, whichever driver compiles them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone::compiler {

/// The name of the attribute that emitters give the functions of strict kernels.
inline constexpr std::string_view strictFunction = "halftone-strict";

/// The first instruction on floats of `ptx` that neither is exact nor names its rounding, as its line says it; "" if there
/// is none. Without `.rn` the driver's compiler may make one `fma` of a product and a sum; `.approx`, `.full` and `.ftz`
/// leave bits to the GPU; and no rule of PTX says how `mma` of floats, or an atomic sum, adds up.
std::string unroundedInstruction(std::string_view ptx);

} // namespace halftone::compiler
