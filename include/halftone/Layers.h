// All layers. The leading arguments are positional as in Keras; the others are a struct, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "LayersActivation.h"
#include "LayersAttention.h"
#include "LayersBasic.h"
#include "LayersConvolution.h"
#include "LayersImage.h"
#include "LayersMerge.h"
#include "LayersNormalization.h"
#include "LayersPooling.h"
#include "LayersPreprocessing.h"
#include "LayersRecurrent.h"

// Each struct ends with the fields of LayerArgs, which all layers share, in their order. A layer that never casts its
// inputs, or always does, has no `autocast`.
namespace halftone::layers {
using halftone::Input;

// Keras's aliases.
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution3D = Conv3D;
using MaxPool1D = MaxPooling1D;
using MaxPool2D = MaxPooling2D;
using MaxPool3D = MaxPooling3D;
using AvgPool1D = AveragePooling1D;
using AvgPool2D = AveragePooling2D;
using AvgPool3D = AveragePooling3D;
using GlobalMaxPool1D = GlobalMaxPooling1D;
using GlobalMaxPool2D = GlobalMaxPooling2D;
using GlobalAvgPool1D = GlobalAveragePooling1D;
using GlobalAvgPool2D = GlobalAveragePooling2D;

/// {"module", "class_name", "config", "registered_name"}, as Keras saves a layer of this catalogue. deserialize()
/// creates the layer that a config describes, unbuilt and with new weights; its arguments are checked as the
/// constructor checks them. value_error for an unknown class or argument, not_implemented_error for a value that is not
/// supported. A graph of layers is written by Model::to_json() and read by Model::from_config(); serialize() of one is
/// a value_error.
HALFTONE_API Config serialize(const Layer &layer);
HALFTONE_API Layer deserialize(const Config &config);
} // namespace halftone::layers
