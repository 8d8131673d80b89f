// The room that is left on the stack of the calling thread, for code that recurses as deeply as its argument is nested.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone {

/// value_error "<what>: nested too deeply ..." if the calling thread's stack has little room left, so that the error can still be
/// made and what is called meanwhile still works. Every function that recurses over layers, models, configs or other structures
/// that users nest calls it once for each level. Of a stack of more than 8 MiB it lets 8 MiB be used, so that
/// a recursion without an end is an error on every stack. Takes a few nanoseconds.
void requireStack(const char *what);

} // namespace halftone
