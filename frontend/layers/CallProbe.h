// Records the inputs of layers while a model is traced.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"

namespace halftone::detail {

/// While it lives, exports the first input of each call of `layers` on this thread as a result of the trace.
class CallProbe {
public:
  explicit CallProbe(const std::vector<Layer> &layers);
  ~CallProbe();
  CallProbe(const CallProbe &) = delete;
  /// The inputs in call order. Call it at the top level of the trace, while the trace is open.
  std::vector<std::pair<const LayerImpl *, Value>> inputs() const;
  static void note(const LayerImpl &layer, const std::vector<Value> &inputs);

private:
  std::set<const LayerImpl *> watched_;
  std::vector<std::pair<const LayerImpl *, size_t>> calls_; // with the index among the trace's additional results
  CallProbe *outer_;
};

} // namespace halftone::detail
