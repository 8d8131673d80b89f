// The connections between the layers of a functional model, as summary() tells them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <map>
#include <string>

namespace halftone::detail {

struct LayerImpl;

/// By layer, its inputs as "dense[0][0], add[1][0]": the layer that gives an input, the index of the call and the index
/// of that call's output. If an operation gives an input, its own inputs are listed, since operations have no name. "-"
/// for Inputs. Empty if the model is no graph, or one chain in which each layer is called once.
std::map<const LayerImpl *, std::string> connectionsOf(const Layer &model);

} // namespace halftone::detail
