// How processes check that they have one traced function before they compute with each other in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "runtime/plan/Executable.h"
#include <string_view>

namespace halftone::detail {

/// Compares the function of `trace`, as its `text` and `executable` show it, and the values of the variables that optimizers
/// update in it with those of the other processes. value_error, the same in all processes, that names the first difference.
/// From then on the labels of exchanges tell which values the host gives to these variables and to learning rates.
void agreeOnProgram(const Trace &trace, std::string_view text, const Executable &executable);

} // namespace halftone::detail
