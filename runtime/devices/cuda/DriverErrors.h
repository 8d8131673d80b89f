// What an error of the CUDA driver concerns, and what a user can do about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/devices/cuda/DriverTypes.h"
#include <string>
#include <string_view>

namespace halftone::cuda {

/// What an error concerns. After an error of one request or of a kernel's code the driver goes on working; after one of
/// the process it refuses all further work.
enum class Reach { request, code, process };

/// The column of DriverResults.def; Reach::request for an error that has no line there.
Reach reachOf(Result result);

/// What a user can do: a clause without a full stop, or "".
std::string_view adviceOn(Result result);

/// "PTX 8.7, which needs a driver 570 or newer (CUDA 12.8)", of a kernel's text. "PTX 99.9, which needs a newer driver" if
/// the release is not known, "PTX of no known version" if the text does not tell its version.
std::string neededBy(std::string_view ptx);

} // namespace halftone::cuda
