// keras.applications: architectures of image classifiers, without weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Layers.h"
#include "Model.h"

namespace halftone::applications {
struct ApplicationArgs {               // of Keras, but `weights`
  bool include_top = true;             // whether the classifier is part of the model
  std::optional<Value> input_tensor{}; // images of a graph; none: an Input of `input_shape`
  std::optional<Shape>
      input_shape{}; // (height, width, channels); none: (224, 224, 3), without the classifier (None, None, 3)
  Choice<FeaturePooling> pooling = FeaturePooling::none; // of the features, without the classifier
  int64_t classes = 1000;
  ActivationArg classifier_activation = "softmax";
  std::string name{}; // empty: that of the architecture
};
struct MobileNetV2Args {
  std::optional<Shape> input_shape{};
  double alpha = 1.0; // times the filters of every layer
  bool include_top = true;
  std::optional<Value> input_tensor{};
  Choice<FeaturePooling> pooling = FeaturePooling::none;
  int64_t classes = 1000;
  ActivationArg classifier_activation = "softmax";
  std::string name{}; // empty: "mobilenetv2_1.00_224", by alpha and height
};
// Each model has new weights, and layers of Keras's names, configs and order: it loads the weights that Keras saves for it.
// value_error for an input_shape of another rank or below 32 pixels, and, with the classifier, for one that is not static.

// NOLINTBEGIN(readability-identifier-naming): Keras's names

/// Residual networks, pixels as preprocessed by the caller (He et al., arXiv:1512.03385).
HALFTONE_API Model ResNet50(const ApplicationArgs &args = {});
/// Inverted residuals (Sandler et al., arXiv:1801.04381); pixels from -1 to 1.
HALFTONE_API Model MobileNetV2(const MobileNetV2Args &args = {});
/// Scaled inverted residuals (Tan and Le, arXiv:1905.11946); pixels from 0 to 255, which the model rescales.
HALFTONE_API Model EfficientNetB0(const ApplicationArgs &args = {});
/// Densely connected layers (Huang et al., arXiv:1608.06993); pixels as preprocessed by the caller.
HALFTONE_API Model DenseNet121(const ApplicationArgs &args = {});

// NOLINTEND(readability-identifier-naming)
} // namespace halftone::applications
