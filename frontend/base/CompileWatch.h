// Progress notifications of a compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>

namespace halftone::detail {

/// While it exists, a compile on this thread that has taken longer than `after` calls `show` with the number `done` of
/// `count` kernels that have code whenever it grows, at most a few times a second. Only the newest watch of a thread is
/// notified. `show` may run user code. An exception that it throws ends the compile and propagates to the compile's
/// caller.
class CompileWatch {
public:
  using Show = std::function<void(size_t done, size_t count)>;
  explicit CompileWatch(Show show, std::chrono::milliseconds after = std::chrono::seconds(2));
  ~CompileWatch();
  CompileWatch(const CompileWatch &) = delete;
  CompileWatch &operator=(const CompileWatch &) = delete;
  /// The newest watch of this thread; nullptr if it has none.
  static const CompileWatch *current();
  void show(size_t done, size_t count) const { show_(done, count); }
  std::chrono::milliseconds after() const { return after_; }

private:
  Show show_;
  std::chrono::milliseconds after_;
  const CompileWatch *outer_;
};

} // namespace halftone::detail
