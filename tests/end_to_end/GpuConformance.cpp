// Runs the conformance suite on the GPU of the driver that test programs use.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/Registry.h"
#include "tests/runtime/devices/cuda/GpuCandidate.h"

namespace halftone::test {

std::vector<Candidate> candidates() { return {gpuCandidate(deviceRuntime(Device::cuda(0)).valueOrThrow())}; }

} // namespace halftone::test
