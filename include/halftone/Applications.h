// keras.applications: architectures of image classifiers, without weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Layers.h"
#include "Model.h"

namespace halftone::applications {
struct ApplicationArgs {               // Keras's, without `weights`
  bool include_top = true;             // includes the classifier
  std::optional<Value> input_tensor{}; // symbolic images; none: an Input of `input_shape`
  std::optional<Shape>
      input_shape{}; // (height, width, channels); default: (224, 224, 3), or (None, None, 3) without the classifier
  Choice<FeaturePooling> pooling = FeaturePooling::none; // applied to the features; only without the classifier
  int64_t classes = 1000;
  ActivationArg classifier_activation = "softmax";
  std::string name{}; // empty: the name of the architecture
};
struct MobileNetV2Args {
  std::optional<Shape> input_shape{};
  double alpha = 1.0; // multiplies the filters of every layer
  bool include_top = true;
  std::optional<Value> input_tensor{};
  Choice<FeaturePooling> pooling = FeaturePooling::none;
  int64_t classes = 1000;
  ActivationArg classifier_activation = "softmax";
  std::string name{}; // empty: from alpha and height, such as "mobilenetv2_1.00_224"
};
// Each model has new weights, and Keras's layers by name, config and order, so it can load the weights that Keras
// saves. value_error for an input_shape of another rank or below 32 pixels, and, with the classifier, for one that is
// not static.

// NOLINTBEGIN(readability-identifier-naming): Keras's names

/// Residual network (He et al., arXiv:1512.03385); the caller preprocesses the pixels.
HALFTONE_API Model ResNet50(const ApplicationArgs &args = {});
/// Inverted residuals (Sandler et al., arXiv:1801.04381); expects pixels from -1 to 1.
HALFTONE_API Model MobileNetV2(const MobileNetV2Args &args = {});
/// Scaled inverted residuals (Tan and Le, arXiv:1905.11946); expects pixels from 0 to 255, which the model rescales.
HALFTONE_API Model EfficientNetB0(const ApplicationArgs &args = {});
/// Densely connected network (Huang et al., arXiv:1608.06993); the caller preprocesses the pixels.
HALFTONE_API Model DenseNet121(const ApplicationArgs &args = {});

// NOLINTEND(readability-identifier-naming)
} // namespace halftone::applications
