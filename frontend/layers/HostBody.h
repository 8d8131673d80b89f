// Bodies of layers that compute on the host, from feeds only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <optional>
#include <vector>

namespace halftone::detail {

class HostBody {
public:
  virtual ~HostBody() = default;
  /// The result of a call on data, if host steps alone compute it.
  virtual std::optional<Tensor> onHost(const std::vector<Tensor> &inputs) const = 0;
  /// The dtype of the implicit Input of a Sequential that begins with the layer.
  virtual DType inputDType() const = 0;
};

} // namespace halftone::detail
