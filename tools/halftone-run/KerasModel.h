// The model of a .keras file, and the module of one of its programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ModuleOrPlan.h"

namespace halftone::tools {

constexpr int64_t usualBatch = 32; // rows; Keras's default

/// The file's model under the policy given by the arguments; compiled as recorded in the file if `compiled`.
Model openKerasModel(const Arguments &arguments, bool compiled);

/// The module of a program of the model, in stage graph.
ModuleFile moduleOf(const Model &model, const Arguments &arguments, Program program, int64_t batchSize);

/// The module of the program that the arguments select, and the file's values of its variables. Without --batch-size,
/// the first --input determines the batch size; otherwise it is 32 rows.
ModuleOrPlan loadKerasModel(const Arguments &arguments);

} // namespace halftone::tools
