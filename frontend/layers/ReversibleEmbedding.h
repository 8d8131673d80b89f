// Calls of layers that can also be called backwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"

namespace halftone::detail {

/// The body of such a layer, beside its LayerBody.
class ReversibleBody {
public:
  virtual Values callBack(const Value &x, const CallContext &context) = 0;

protected:
  ~ReversibleBody() = default;
};

/// Calls `layer`, which has a ReversibleBody, backwards.
Value callBack(const Layer &layer, const Value &x, std::optional<bool> training = {});

} // namespace halftone::detail
