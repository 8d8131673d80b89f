// Records the calls of a model's quantizable layers on given data.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <string>
#include <vector>

namespace halftone::detail {

/// A layer and the first input of each of its calls.
struct WatchedLayer {
  Layer layer;
  std::vector<Tensor> inputs{};
};

/// Runs the model on `x` and returns `layers` with their inputs. A layer that is not called has no inputs.
std::vector<WatchedLayer> watchedCalls(const Model &model, const std::vector<Layer> &layers, const Tensors &x);

/// A standalone copy of the layer, with the same arguments and weights, under another policy.
Layer copiedAlone(const WatchedLayer &watched, const std::string &policy);

} // namespace halftone::detail
