// Which layers compute under which quantization modes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Policy.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::detail {

/// Whether layers of this class compute under the mode.
constexpr bool classQuantizes(std::string_view className, std::string_view mode) {
  const bool isProduct = className == "Dense" || className == "EinsumDense";
  if (mode == "int8" || mode == "int4")
    return isProduct || className == "Embedding" || className == "ReversibleEmbedding";
  return mode == "float8" && isProduct;
}

/// Keras's words for the one pair of a mode and a compute dtype that it refuses.
inline constexpr const char *narrowWithInt8 =
    "Quantization mode='int8' doesn't work well with compute_dtype='float16'.";

/// What decides whether a built layer can be given a policy.
struct LayerMode {
  std::string name, className;
  std::string weights; // the mode of its weights; "" for floats
  bool hasLora = false;
};
struct ModeRefusal {
  ErrorKind kind;
  std::string message;
};
/// Why the layer has no way to compute under the mode, which `quantizes` says it lacks.
ModeRefusal refusalOfMode(const LayerMode &layer, std::string_view mode);
/// Why giving a built layer this policy fails; nullopt if it does not. `quantizes`: whether the layer has the policy's mode.
std::optional<ModeRefusal> refusalOfPolicy(const LayerMode &layer, const DTypePolicy &policy, bool quantizes);

} // namespace halftone::detail
