// A model in a .keras file, and the module of one of its programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ModuleOrPlan.h"

namespace halftone::tools {

constexpr int64_t usualBatch = 32; // rows, Keras's

/// The file's model under the policy that the arguments ask for, compiled as the file says if `compiled`.
Model openKerasModel(const Arguments &arguments, bool compiled);

/// The module of the program that the arguments ask for, and the file's values of its variables. Without --batch-size the
/// first --input decides, or the batch has 32 rows.
ModuleOrPlan loadKerasModel(const Arguments &arguments);

} // namespace halftone::tools
