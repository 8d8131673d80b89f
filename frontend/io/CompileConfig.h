// The arguments of compile() as Keras's files have them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/ConfigPlace.h"
#include "halftone/Model.h"
#include <optional>

namespace halftone::detail {

/// The arguments in a compile_config; nullopt if the model was not compiled. `outputs`: the names of the model's outputs,
/// which lists of losses and metrics follow. Errors name the place in the file.
std::optional<CompileArgs> readCompileConfig(const ConfigPlace &place, const std::vector<std::string> &outputs);

/// The compile_config of these arguments, of a model with so many outputs. value_error for a function of the user's.
Config writeCompileConfig(const CompileArgs &args, size_t outputs);

} // namespace halftone::detail
