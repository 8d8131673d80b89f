// The counter of changes to settings that traces read.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigurationEpoch.h"
#include <atomic>

static std::atomic<uint64_t> changes{0};

uint64_t halftone::configurationChanges() { return changes.load(std::memory_order_acquire); }
void halftone::bumpConfigurationEpoch() { changes.fetch_add(1, std::memory_order_acq_rel); }
