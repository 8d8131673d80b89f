// The stack of a thread's watches.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/CompileWatch.h"
#include <utility>

namespace halftone::detail {

static thread_local const CompileWatch *newest = nullptr;

CompileWatch::CompileWatch(Show show, std::chrono::milliseconds after)
    : show_(std::move(show)), after_(after), outer_(std::exchange(newest, this)) {}
CompileWatch::~CompileWatch() { newest = outer_; }

const CompileWatch *CompileWatch::current() { return newest; }

} // namespace halftone::detail
