// Whether this process may use the tiles of x86 CPUs (AMX).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone {

/// Linux keeps the state of tiles only for processes that ask for it. The first call asks, for all threads. False if
/// the CPU has no tiles or if the system refuses.
bool mayUseTiles();

} // namespace halftone
