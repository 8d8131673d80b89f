// Creates models and layers from their configs in a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/ConfigNode.h"
#include "halftone/Model.h"
#include <functional>
#include <string>

namespace halftone::detail {

/// The key in build_config of the dtypes of a model's inputs, in order. Keras ignores it.
inline constexpr const char *inputDTypesKey = "input_dtypes";

/// Reads the fields that model configs share with layer configs, as they are; null means the default. The policy is
/// validated but not used: a model's policies are those of its layers.
LayerArgs readModelArgs(const ConfigNode &config);

/// The layer or model described by the object at `entry`, with freshly initialized weights. The root model of a file is
/// built if the config records its input. Errors name the location in the file and the class.
Layer readLayer(const ConfigNode &entry);

/// load_model(). Calls `prepare`, if set, on the model with its weights, before compile() with the file's arguments and
/// before the optimizer state is read.
Model loadModel(const std::string &filepath, const LoadArgs &args, const std::function<void(const Model &)> &prepare);

/// The functional model described by the object: creates all layers, then makes the calls in dependency order.
Layer readFunctional(const ConfigNode &entry);

} // namespace halftone::detail
