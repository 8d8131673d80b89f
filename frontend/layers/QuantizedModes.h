// Which layers compute under which quantization modes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace halftone::detail {

/// Whether layers of this class compute under the mode.
constexpr bool classQuantizes(std::string_view className, std::string_view mode) {
  const bool isProduct = className == "Dense" || className == "EinsumDense";
  if (mode == "int8" || mode == "int4")
    return isProduct || className == "Embedding" || className == "ReversibleEmbedding";
  return mode == "float8" && isProduct;
}

} // namespace halftone::detail
