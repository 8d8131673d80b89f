// Threads that read elements ahead, and call a function on them, in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/data/DatasetRep.h"

namespace halftone::detail {

/// The elements of `next`, or `f` of them, which `threads` threads compute up to `ahead` elements ahead of the reader. One
/// thread at once calls `next`, and the elements keep its order. An element whose computation throws an error is the last one:
/// the reader gets the error. If the system starts no thread, the reader's thread does the work.
NextElement workedAhead(NextElement next, std::function<Batch(Batch)> f, int64_t threads, int64_t ahead);

} // namespace halftone::detail
