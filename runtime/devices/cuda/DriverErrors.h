// Scope of CUDA driver errors, and advice for users.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/DriverTypes.h"
#include <string>
#include <string_view>

namespace halftone::cuda {

/// The scope of an error. After an error of scope `request` or `code` the driver continues to work; after an error of
/// scope `process` it refuses all further work.
enum class Reach { request, code, process };

/// The scope listed in DriverResults.def; Reach::request for an error that is not listed there.
Reach reachOf(Result result);

/// Advice to the user: a clause without a full stop, or "".
std::string_view adviceOn(Result result);

/// The driver that a PTX text needs: "PTX 8.7, which needs a driver 570 or newer (CUDA 12.8)". "PTX 99.9, which needs a
/// newer driver" if the release is unknown, "PTX of unknown version" if the text does not state its version.
std::string neededBy(std::string_view ptx);

} // namespace halftone::cuda
