// Which optimizers update variables in a trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include <vector>

namespace halftone::detail {

class Trace;

/// While it lives, it notes the optimizers whose apply() this thread records in the present trace. A program that users' code
/// traces meanwhile is another trace.
class UpdaterScope {
public:
  UpdaterScope();
  ~UpdaterScope();
  UpdaterScope(const UpdaterScope &) = delete;
  /// Each once, in the order of their first use. A wrapper stands for the optimizer in it.
  const std::vector<Optimizer> &optimizers() const { return optimizers_; }
  /// Tells the innermost scope, if it is one of the present trace.
  static void note(const Optimizer &optimizer);

private:
  UpdaterScope *const outer_;
  const Trace *const trace_;
  std::vector<Optimizer> optimizers_;
};

} // namespace halftone::detail
