// Layers that are components of another layer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"

namespace halftone::detail {

/// Builds a component for inputs of shape `input`, unless it is built, and makes it a child of the layer.
void buildPart(const BuildContext &context, const Layer &part, const Shape &input);

/// The config of a component, which may be a graph of layers.
Config serializeAny(const Layer &part);
Layer deserializeAny(const Config &object);

/// The only output of a call; value_error if there are several.
Value onlyOutput(const Layer &layer, const Values &outputs);

} // namespace halftone::detail
