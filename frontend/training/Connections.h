// The connections between the layers of a functional model, as summary() shows them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <map>
#include <string>

namespace halftone::detail {

struct LayerImpl;

/// For each layer, its inputs as "dense[0][0], add[1][0]": the producing layer, the index of its call, and the index of
/// the call's output. If an operation produces the input, the list names the operation's own inputs, since operations
/// have no name. "-" for Inputs. Empty if the model is not a graph, or if it is a chain in which each layer is called
/// once.
std::map<const LayerImpl *, std::string> connectionsOf(const Layer &model);

} // namespace halftone::detail
