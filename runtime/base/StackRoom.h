// A stack depth check for code that recurses over user-nested structures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone {

/// value_error "<what>: nested too deeply ..." if the calling thread's stack is nearly exhausted, with enough left to
/// construct the error and for the functions called meanwhile. Every function that recurses over layers, models,
/// configs or other user-nested structures calls it once per level. Of a stack of more than 8 MiB it lets 8 MiB be
/// used, so that infinite recursion is an error on every stack. Takes a few nanoseconds.
void requireStack(const char *what);

} // namespace halftone
