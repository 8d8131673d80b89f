// The process's default float dtype.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Floatx.h"
#include "runtime/base/ConfigurationEpoch.h"
#include <atomic>

static std::atomic<halftone::DType> current{halftone::DType::float32};

halftone::DType halftone::floatx() { return current.load(std::memory_order_relaxed); }
void halftone::setFloatx(DType dtype) {
  if (current.exchange(dtype, std::memory_order_relaxed) != dtype)
    bumpConfigurationEpoch();
}
