// The open traces of a thread.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Trace.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/PerThread.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace halftone::detail {

static thread_local PerThread<std::vector<std::shared_ptr<Trace>>> openTraces; // innermost last

Trace *Trace::current() { return openTraces->empty() ? nullptr : openTraces->back().get(); }
Trace::Scope::Scope(std::shared_ptr<Trace> trace) {
  static std::atomic<uint64_t> calls{0};
  noticeStaticObjects(calls); // of the trace's context
  openTraces->push_back(std::move(trace));
}
Trace::Scope::~Scope() { openTraces->pop_back(); }

} // namespace halftone::detail
