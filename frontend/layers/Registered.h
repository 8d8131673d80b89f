// Users' layers by their registered names.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "halftone/Layer.h"
#include <optional>
#include <string>
#include <string_view>

namespace halftone::detail {

/// The layer of an object that Keras saved of a class that a user registered. value_error, which says how to register it,
/// for any other.
Layer registeredLayer(const std::string &registeredName, const Config &config);

/// Whether layers are registered under exactly this name.
bool isRegisteredLayer(const std::string &registeredName);

/// Whether a layer of Keras has this class name; others are users' layers, and models.
bool isLayerOfKeras(std::string_view className);
/// Whether the class name is that of Keras's layers that change images at random: it begins with Random, or is MixUp or CutMix.
/// In Keras `training` of their calls is true by default, and files name the state of their draws "generator".
bool isOfRandomImages(std::string_view className);

/// The name under which layers of this class are registered; nullopt if they are not.
std::optional<std::string> registeredNameOf(const std::string &className);

} // namespace halftone::detail
