// Support of quantization modes by layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Policy.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::detail {

/// Returns true if layers of this class support the mode.
constexpr bool classQuantizes(std::string_view className, std::string_view mode) {
  const bool isProduct = className == "Dense" || className == "EinsumDense";
  if (mode == "int8" || mode == "int4")
    return isProduct || className == "Embedding" || className == "ReversibleEmbedding";
  return mode == "float8" && isProduct;
}

/// Keras's message for the only pair of mode and compute dtype that it refuses.
inline constexpr const char *narrowWithInt8 =
    "Quantization mode='int8' doesn't work well with compute_dtype='float16'.";

/// The facts that determine whether a built layer can be given a policy.
struct LayerMode {
  std::string name, className;
  std::string weights; // the mode of its weights; "" for floats
  bool hasLora = false;
};
struct ModeRefusal {
  ErrorKind kind;
  std::string message;
};
/// The reason why the layer cannot compute under the mode, for a layer that does not support it.
ModeRefusal refusalOfMode(const LayerMode &layer, std::string_view mode);
/// The reason why a built layer cannot be given this policy; nullopt if it can. `quantizes`: whether the layer has the
/// policy's mode.
std::optional<ModeRefusal> refusalOfPolicy(const LayerMode &layer, const DTypePolicy &policy, bool quantizes);

} // namespace halftone::detail
