// The arguments of compile() in the form of Keras's files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/ConfigNode.h"
#include "halftone/Model.h"
#include <optional>

namespace halftone::detail {

/// Parses a compile_config; nullopt if the model was not compiled. `outputs` holds the names of the model's outputs,
/// which define the order of lists of losses and metrics. Errors name the location in the file.
std::optional<CompileArgs> readCompileConfig(const ConfigNode &entry, const std::vector<std::string> &outputs);

/// The compile_config of these arguments for a model with `outputs` outputs. value_error for a user's function.
Config writeCompileConfig(const CompileArgs &args, size_t outputs);

} // namespace halftone::detail
