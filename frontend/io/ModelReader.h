// Makes models and layers from their configs in a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/ConfigPlace.h"
#include "halftone/Model.h"
#include <functional>
#include <string>

namespace halftone::detail {

/// The fields that a model's config has in common with those of layers, read as they are; null stands for the default. The
/// policy is checked and serves no further: models have that of their layers.
LayerArgs readModelArgs(const ConfigPlace &config);

/// The layer or model of the object at `place`; weights have their initial values. The model of a
/// whole file is built if the config tells its input. Errors name the place in the file and the class.
Layer readLayer(const ConfigPlace &place);

/// load_model(). Calls `prepare`, if there is one, for the model with its weights, before compile() as the file says and before
/// the state of the optimizer is read.
Model loadModel(const std::string &filepath, const LoadArgs &args, const std::function<void(const Model &)> &prepare);

/// The functional model of such an object: all of its layers, then its calls, each after the calls on which it depends.
Layer readFunctional(const ConfigPlace &place);

} // namespace halftone::detail
