// Serializes models and layers as Keras configs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"

namespace halftone::detail {

/// The object of config.json: {"module", "class_name", "config", "registered_name", "build_config", "compile_config"}.
/// value_error, naming the layer, for a model, layer or operation that a config cannot represent, such as a user's
/// function.
Config writeModel(const Model &model);

} // namespace halftone::detail
