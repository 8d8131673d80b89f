// A model in a .keras file, as the module of one of its programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ModuleOrPlan.h"

namespace halftone::tools {

/// The module of the program that the arguments ask for, and the file's values of its variables. Without --batch-size the
/// first --input decides, or the batch has 32 rows.
ModuleOrPlan loadKerasModel(const Arguments &arguments);

} // namespace halftone::tools
