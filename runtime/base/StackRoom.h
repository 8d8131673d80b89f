// A stack depth check for code that recurses over user-nested structures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone {

/// value_error "<what>: nested too deeply ..." if the calling thread's stack is nearly exhausted. Enough of the stack
/// is reserved for constructing the error and for calls that do not recurse. Every function that recurses over layers,
/// models, configs or other user-nested structures calls it once per level. At most 8 MiB of a larger stack may be
/// used, so that infinite recursion is an error on every stack. Takes a few nanoseconds.
void requireStack(const char *what);

} // namespace halftone
