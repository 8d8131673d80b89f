// What all architectures have in common: their input, their classifier, and the model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Applications.h"
#include "halftone/Layers.h"

namespace halftone::applications {

/// The images of a model: `input_tensor`, or an Input of `input_shape`. value_error unless the shape is (height, width,
/// channels), of 32 pixels or more, and static if the classifier needs it.
Value imagesOf(const ApplicationArgs &args, int64_t defaultSize);

/// The names of the layers behind the features; "" for automatic ones.
struct ClassifierNames {
  const char *average = "avg_pool", *maximum = "max_pool";
};
/// The mean of all places of the features if the classifier follows, else what `pooling` gives.
Value pooledFeatures(const Value &features, const ApplicationArgs &args, const ClassifierNames &names = {});

/// The model from the Inputs on which the images depend.
Model modelOf(const Value &images, const Value &output, const std::string &name);

/// {{top, bottom}, {left, right}}: the zeros around images before a convolution with stride 2 that is as "same" padding in other
/// frameworks.
Margins marginsFor(const Value &images, int64_t kernelSize);

/// `filters` as a multiple of 8, not below 90 % of it.
int64_t divisibleFilters(double filters);

} // namespace halftone::applications
