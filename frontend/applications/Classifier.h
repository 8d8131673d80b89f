// Parts shared by all architectures: the input, the classifier and the model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Applications.h"
#include "halftone/Layers.h"

namespace halftone::applications {

/// The input images of a model: `input_tensor`, or an Input of `input_shape`. value_error unless the shape is (height,
/// width, channels) with at least 32x32 pixels, and static if there is a classifier.
Value imagesOf(const ApplicationArgs &args, int64_t defaultSize);

/// The names of the pooling layers after the features; "" for automatic names.
struct ClassifierNames {
  const char *average = "avg_pool", *maximum = "max_pool";
};
/// The mean of the features over all positions if the classifier follows; otherwise the result of `pooling`.
Value pooledFeatures(const Value &features, const ApplicationArgs &args, const ClassifierNames &names = {});

/// The model whose inputs are the Inputs on which `images` depends.
Model modelOf(const Value &images, const Value &output, const std::string &name);

/// {{top, bottom}, {left, right}}: zero padding that makes a convolution with stride 2 pad as "same" does in other
/// frameworks.
Margins marginsFor(const Value &images, int64_t kernelSize);

/// `filters` rounded to a multiple of 8 that is at least 90 % of it.
int64_t divisibleFilters(double filters);

} // namespace halftone::applications
