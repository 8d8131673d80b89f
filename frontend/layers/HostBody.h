// Bodies of layers that compute on the host, from feeds alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <optional>
#include <vector>

namespace halftone::detail {

class HostBody {
public:
  virtual ~HostBody() = default;
  /// The result of a call on data, if nothing but host steps makes it.
  virtual std::optional<Tensor> onHost(const std::vector<Tensor> &inputs) const = 0;
  /// The dtype of the Input of a Sequential that begins with the layer and has no Input.
  virtual DType inputDType() const = 0;
};

} // namespace halftone::detail
