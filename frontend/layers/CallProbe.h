// Watches which inputs layers get while a model is traced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"

namespace halftone::detail {

/// While it lives, the first input of each call of `layers` on this thread becomes a result of the trace.
class CallProbe {
public:
  explicit CallProbe(const std::vector<Layer> &layers);
  ~CallProbe();
  CallProbe(const CallProbe &) = delete;
  /// The inputs of one call after the other. Only at the top of the trace, and while it is open.
  std::vector<std::pair<const LayerImpl *, Value>> inputs() const;
  static void note(const LayerImpl &layer, const std::vector<Value> &inputs);

private:
  std::set<const LayerImpl *> watched_;
  std::vector<std::pair<const LayerImpl *, size_t>> calls_; // with the position among the trace's further results
  CallProbe *outer_;
};

} // namespace halftone::detail
