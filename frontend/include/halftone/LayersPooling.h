// Pooling: the largest element or the mean of windows, and of whole images.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"

namespace halftone::layers {

struct GlobalPoolingArgs {
  std::optional<DataFormat> data_format{};
  bool keepdims = false; // the spatial axes stay, with extent 1
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// The largest element of each channel: (batch, spatial axes.., channels) -> (batch, channels).
class HALFTONE_API GlobalMaxPooling1D : public Layer {
public:
  explicit GlobalMaxPooling1D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalMaxPooling2D : public Layer {
public:
  explicit GlobalMaxPooling2D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalMaxPooling3D : public Layer {
public:
  explicit GlobalMaxPooling3D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
/// The mean of each channel: (batch, spatial axes.., channels) -> (batch, channels).
class HALFTONE_API GlobalAveragePooling1D : public Layer {
public:
  explicit GlobalAveragePooling1D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalAveragePooling2D : public Layer {
public:
  explicit GlobalAveragePooling2D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalAveragePooling3D : public Layer {
public:
  explicit GlobalAveragePooling3D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
} // namespace halftone::layers
