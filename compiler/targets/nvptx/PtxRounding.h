// PTX instructions that give the same bits on every GPU, whichever driver compiles them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace halftone::compiler {

/// The name of the attribute that emitters set on the functions of strict kernels.
inline constexpr std::string_view strictFunction = "halftone-strict";

/// The first float instruction in `ptx` that neither is exact nor specifies its rounding, as its line has it; "" if
/// there is none. Without `.rn` the driver's compiler may fuse a product and a sum into an `fma`; the results of
/// `.approx`, `.full` and `.ftz` depend on the GPU; and PTX does not specify the order of additions in `mma` of floats
/// or in an atomic sum.
std::string unroundedInstruction(std::string_view ptx);

} // namespace halftone::compiler
