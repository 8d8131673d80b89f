// Constants shared by the definition of attention and its kernels; independent of MLIR.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::dialect {

/// The score of masked keys.
inline constexpr double maskedScore = -0.7 * 3.38953e38;

/// From this magnitude of `lse` on, the weights of a row are divided by their sum if there is a bias or a mask.
inline constexpr double largeLse = 4096;

} // namespace halftone::dialect
