// User layers by their registered names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "halftone/Layer.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::detail {

/// Creates the layer for a saved object of a registered user class. value_error, which tells how to register it, for
/// any other.
Layer registeredLayer(const std::string &registeredName, const Config &config);

/// Returns true if a layer class is registered under exactly this name.
bool isRegisteredLayer(const std::string &registeredName);

/// Returns true if a Keras layer has this class name; others are user layers, and models.
bool isLayerOfKeras(std::string_view className);
/// Returns true if the class name is that of a Keras layer that changes images randomly: it begins with Random, or is
/// MixUp or CutMix. In Keras `training` of their calls is true by default, and files name their random state
/// "generator".
bool isOfRandomImages(std::string_view className);

/// The registered name of layers of this class; nullopt if they are not registered.
std::optional<std::string> registeredNameOf(const std::string &className);

} // namespace halftone::detail
