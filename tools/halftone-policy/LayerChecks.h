// The lint checks on the policies that a map assigns to a model's layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "MapFile.h"
#include "RecordedModel.h"
#include "compiler/targets/Target.h"

namespace halftone::tools {

/// P008 to P011, P014 and P016, for each layer whose policy is decided by one key or by the default. A layer recorded
/// as a softmax or an output is judged by the policy that it would receive.
std::vector<Finding> checkLayers(const MapFile &map, const RecordedModel &model, const compiler::Target &target);

} // namespace halftone::tools
