// The automatic names of layers, metrics and variables.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace halftone::detail {

/// keras.src.utils.naming.to_snake_case: "DenseLayer" -> "dense_layer", "Conv2D" -> "conv2d".
std::string snakeCase(const std::string &className);
/// "dense", then "dense_1": Keras's automatic names. utils::clear_session() begins anew.
std::string uniqueName(const std::string &className);

} // namespace halftone::detail
