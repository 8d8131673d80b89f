// Names of layers, metrics and variables: automatic names, and validation of names that users give.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Error.h"
#include <string>

namespace halftone::detail {

/// keras.src.utils.naming.to_snake_case: "DenseLayer" -> "dense_layer", "Conv2D" -> "conv2d".
std::string snakeCase(const std::string &className);
/// "dense", then "dense_1": Keras's automatic names. utils::clear_session() restarts them.
std::string uniqueName(const std::string &className);
/// Returns true if uniqueName() can return the name for the class: "dense" or "dense_12" for Dense.
bool isAutomaticName(const std::string &name, const std::string &className);
/// value_error for a name that is not UTF-8, since files cannot store it. `what`, such as "The name of a layer", begins
/// the message.
void requireNameInUtf8(const char *what, const std::string &name, Where where = {});

} // namespace halftone::detail
