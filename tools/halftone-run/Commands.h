// The commands of halftone-run. Each prints its results and returns its exit code; it throws errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Output.h"

namespace halftone::tools {

ExitCode predict(const Arguments &arguments);
ExitCode evaluate(const Arguments &arguments);
ExitCode fit(const Arguments &arguments);
ExitCode compare(const Arguments &arguments);
ExitCode emit(const Arguments &arguments);
ExitCode warm(const Arguments &arguments);

} // namespace halftone::tools
