// The catalogue of layers. First argument(s) as in Keras; everything else in one struct, in Keras's order.
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

// Each struct ends with the arguments of every layer, LayerArgs, in their order. A layer that never casts its inputs, or
// always does, has no `autocast`.
namespace halftone::layers {
using halftone::Input;

// Keras's second names.
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

/// {"module", "class_name", "config", "registered_name"}, as Keras saves a layer of this list. deserialize() makes the
/// layer that a config describes, not built and with new weights: its arguments are checked as the constructor does.
/// value_error for a class or an argument that it does not know, not_implemented_error for a value that is not built. A graph of
/// layers is written by Model::to_json() and read by Model::from_config(): serialize() refuses it with a value_error.
HALFTONE_API Config serialize(const Layer &layer);
HALFTONE_API Layer deserialize(const Config &config);
} // namespace halftone::layers
