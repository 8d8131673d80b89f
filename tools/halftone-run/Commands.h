// The commands of halftone-run. Each prints its results and gives its exit code; errors are thrown.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Output.h"

namespace halftone::tools {

ExitCode predict(const Arguments &arguments);
ExitCode compare(const Arguments &arguments);
ExitCode emit(const Arguments &arguments);

} // namespace halftone::tools
