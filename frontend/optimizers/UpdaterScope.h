// Tracks the optimizers that update variables in a trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Optimizers.h"
#include <vector>

namespace halftone::detail {

class Trace;

/// While it lives, records the optimizers whose apply() this thread traces in the current trace. A program that user
/// code traces meanwhile is another trace.
class UpdaterScope {
public:
  UpdaterScope();
  ~UpdaterScope();
  UpdaterScope(const UpdaterScope &) = delete;
  /// Without duplicates, in order of first use. A wrapper stands for the wrapped optimizer.
  const std::vector<Optimizer> &optimizers() const { return optimizers_; }
  /// Notifies the innermost scope, if it belongs to the current trace.
  static void note(const Optimizer &optimizer);

private:
  UpdaterScope *const outer_;
  const Trace *const trace_;
  std::vector<Optimizer> optimizers_;
};

} // namespace halftone::detail
