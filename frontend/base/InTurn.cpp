// Holds the parts of objects that are being destroyed.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/InTurn.h"
#include <new>
#include <utility>

namespace halftone::detail {

using Parts = std::vector<std::shared_ptr<const void>>;
static thread_local constinit Parts *waiting =
    nullptr; // trivially destructible, since statics are destroyed after thread_local objects

InTurn::InTurn() : isOutermost_(!waiting) {
  if (isOutermost_)
    waiting = &parts_;
}

InTurn::~InTurn() {
  if (!isOutermost_)
    return;
  while (!parts_.empty()) {
    const std::shared_ptr<const void> part = std::move(parts_.back());
    parts_.pop_back();
  }
  waiting = nullptr;
}

void InTurn::add(std::shared_ptr<const void> part) noexcept {
  if (part)
    try {
      waiting->push_back(std::move(part));
    } catch (const std::bad_alloc &) { // the part is destroyed when this call returns
    }
}

} // namespace halftone::detail
