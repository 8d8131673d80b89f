// Pooling layers: maximum or mean of windows, and of whole images.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"

namespace halftone::layers {

struct PoolingArgs {
  std::optional<Integers> strides{}; // default: pool_size
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// The maximum of each window: (batch, spatial axes.., channels) -> (batch, output positions.., channels).
class HALFTONE_API MaxPooling1D : public Layer {
public:
  MaxPooling1D(const Integers &pool_size = 2, const PoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API MaxPooling2D : public Layer {
public:
  MaxPooling2D(const Integers &pool_size = 2, const PoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API MaxPooling3D : public Layer {
public:
  MaxPooling3D(const Integers &pool_size = 2, const PoolingArgs &args = {}, Where where = Where::current());
};
/// The mean of each window; with `same`, of its elements inside the input.
class HALFTONE_API AveragePooling1D : public Layer {
public:
  explicit AveragePooling1D(const Integers &pool_size, const PoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API AveragePooling2D : public Layer {
public:
  explicit AveragePooling2D(const Integers &pool_size, const PoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API AveragePooling3D : public Layer {
public:
  explicit AveragePooling3D(const Integers &pool_size, const PoolingArgs &args = {}, Where where = Where::current());
};

struct GlobalPoolingArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  bool keepdims = false; // keeps the spatial axes, with extent 1
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// The maximum of each channel: (batch, spatial axes.., channels) -> (batch, channels).
class HALFTONE_API GlobalMaxPooling1D : public Layer {
public:
  GlobalMaxPooling1D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalMaxPooling2D : public Layer {
public:
  GlobalMaxPooling2D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalMaxPooling3D : public Layer {
public:
  GlobalMaxPooling3D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
/// The mean of each channel: (batch, spatial axes.., channels) -> (batch, channels). In 1D a second input, or else the
/// mask that the input carries, selects the steps of the mean; it broadcasts to (batch, steps). A sample whose steps
/// are all masked has the mean 0.
class HALFTONE_API GlobalAveragePooling1D : public Layer {
public:
  GlobalAveragePooling1D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalAveragePooling2D : public Layer {
public:
  GlobalAveragePooling2D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API GlobalAveragePooling3D : public Layer {
public:
  GlobalAveragePooling3D(const GlobalPoolingArgs &args = {}, Where where = Where::current());
};

struct AdaptivePoolingArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// The mean of each of `output_size` windows that cover a spatial axis evenly: window i of n is [floor(i * s / n),
/// ceil((i + 1) * s / n)) for an axis of extent s. (batch, spatial axes.., channels) -> (batch, output_size..,
/// channels). value_error for a size below 1.
class HALFTONE_API AdaptiveAveragePooling1D : public Layer {
public:
  explicit AdaptiveAveragePooling1D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                    Where where = Where::current());
};
class HALFTONE_API AdaptiveAveragePooling2D : public Layer {
public:
  explicit AdaptiveAveragePooling2D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                    Where where = Where::current());
};
class HALFTONE_API AdaptiveAveragePooling3D : public Layer {
public:
  explicit AdaptiveAveragePooling3D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                    Where where = Where::current());
};
/// The maximum of each window of AdaptiveAveragePooling.
class HALFTONE_API AdaptiveMaxPooling1D : public Layer {
public:
  explicit AdaptiveMaxPooling1D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                Where where = Where::current());
};
class HALFTONE_API AdaptiveMaxPooling2D : public Layer {
public:
  explicit AdaptiveMaxPooling2D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                Where where = Where::current());
};
class HALFTONE_API AdaptiveMaxPooling3D : public Layer {
public:
  explicit AdaptiveMaxPooling3D(const Integers &output_size, const AdaptivePoolingArgs &args = {},
                                Where where = Where::current());
};
} // namespace halftone::layers
