// What the layers of a functional model are connected to, as summary() tells it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <map>
#include <string>

namespace halftone::detail {

struct LayerImpl;

/// By layer "dense[0][0], add[1][0]": the layer that gives an input, which of its calls and which of that call's
/// outputs; through operations, which have no name, what these take. "-" for Inputs. Empty when the model is no graph,
/// or one chain in which each layer is called once.
std::map<const LayerImpl *, std::string> connectionsOf(const Layer &model);

} // namespace halftone::detail
