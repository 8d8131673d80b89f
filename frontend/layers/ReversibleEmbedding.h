// Calls of layers that can also be applied in reverse.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"

namespace halftone::detail {

/// The body of such a layer, a base in addition to LayerBody.
class ReversibleBody {
public:
  virtual Values callBack(const Value &x, const CallContext &context) = 0;

protected:
  ~ReversibleBody() = default;
};

/// Calls `layer`, whose body is a ReversibleBody, in reverse.
Value callBack(const Layer &layer, const Value &x, std::optional<bool> training = {});

} // namespace halftone::detail
