// Permission of this process to use x86 tile registers (AMX).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone {

/// Linux saves tile state only for processes that request it. The first call requests it for all threads. Returns false
/// if the CPU has no tiles or if the system refuses.
bool mayUseTiles();

} // namespace halftone
