// A GPU as a candidate of the conformance suite.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/runtime/devices/Candidates.h"

namespace halftone::test {

/// The GPU, emulated or not, with its counting kernels. The candidate keeps `owner` alive.
Candidate gpuCandidate(std::shared_ptr<DeviceRuntime> gpu, std::shared_ptr<const void> owner = nullptr);

} // namespace halftone::test
