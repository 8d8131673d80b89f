// Verifies that all processes have the same traced function before they run it together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "runtime/plan/Executable.h"
#include <string_view>

namespace halftone::detail {

/// Compares the function of `trace`, represented by its `text` and `executable`, and the values of the variables that
/// optimizers update in it, with those of the other processes. value_error, the same in all processes, with the first
/// difference. From then on the labels of exchanges include digests of the values that the host writes to these
/// variables and to learning rates.
void agreeOnProgram(const Trace &trace, std::string_view text, const Executable &executable);

} // namespace halftone::detail
