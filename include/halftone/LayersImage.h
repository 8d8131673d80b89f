// Layers for images and sequences: padding, cropping, resizing, data augmentation, spatial dropout.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"
#include <array>

namespace halftone::layers {

/// The arguments of layers that have only data_format besides the arguments of all layers. Inputs are (batch, spatial
/// axes.., channels) for channels_last, (batch, channels, spatial axes..) for channels_first.
struct DataFormatArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};

/// Pads each spatial axis with zeros on both sides.
class HALFTONE_API ZeroPadding1D : public Layer {
public:
  /// `padding`: one width for both sides, or {before, after}.
  ZeroPadding1D(const Integers &padding = 1, const DataFormatArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API ZeroPadding2D : public Layer {
public:
  ZeroPadding2D(const Margins &padding = 1, const DataFormatArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API ZeroPadding3D : public Layer {
public:
  ZeroPadding3D(const Margins &padding = 1, const DataFormatArgs &args = {}, Where where = Where::current());
};

/// Crops the input on both sides of each spatial axis. value_error if no element is left along an axis.
class HALFTONE_API Cropping1D : public Layer {
public:
  /// `cropping`: one width for both sides, or {before, after}. The input is (batch, steps, channels).
  Cropping1D(const Integers &cropping = 1, const LayerArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Cropping2D : public Layer {
public:
  Cropping2D(const Margins &cropping = 0, const DataFormatArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Cropping3D : public Layer {
public:
  Cropping3D(const Margins &cropping = 1, const DataFormatArgs &args = {}, Where where = Where::current());
};

/// Upsamples by the factor `size` along each spatial axis: repeats each element, or interpolates.
class HALFTONE_API UpSampling1D : public Layer {
public:
  UpSampling1D(int64_t size = 2, const LayerArgs &args = {}, Where where = Where::current());
};
struct UpSampling2DArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Choice<Interpolation> interpolation = Interpolation::nearest;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
class HALFTONE_API UpSampling2D : public Layer {
public:
  UpSampling2D(const Integers &size = 2, const UpSampling2DArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API UpSampling3D : public Layer {
public:
  UpSampling3D(const Integers &size = 2, const DataFormatArgs &args = {}, Where where = Where::current());
};

struct ResizingArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear;
  bool crop_to_aspect_ratio = false; // first crops the image to the aspect ratio of the result
  bool pad_to_aspect_ratio = false;  // first pads the image to the aspect ratio of the result
  double fill_value = 0.0;
  bool antialias = false; // smooths an image that is scaled down
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Resizes an image, or a batch of images, to this height and width. Integer images keep their dtype: they are computed
/// in float32, rounded and clamped.
class HALFTONE_API Resizing : public Layer {
public:
  Resizing(int64_t height, int64_t width, const ResizingArgs &args = {}, Where where = Where::current());
};
struct CenterCropArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Crops the center of an image, or of a batch of images; the result has the compute dtype. A smaller image is instead
/// cropped to the aspect ratio of the result, then resized.
class HALFTONE_API CenterCrop : public Layer {
public:
  CenterCrop(int64_t height, int64_t width, const CenterCropArgs &args = {}, Where where = Where::current());
};

/// The arguments of random image layers that have only these.
struct RandomImageArgs {
  std::optional<int64_t> seed{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, flips each image with probability 1/2; horizontal_and_vertical flips it both ways at once, as in Keras.
/// The result has the compute dtype.
class HALFTONE_API RandomFlip : public Layer {
public:
  RandomFlip(Choice<FlipMode> mode = FlipMode::horizontal_and_vertical, const RandomImageArgs &args = {},
             Where where = Where::current());
};
/// The arguments of random geometric transforms. fill_mode defines the pixels outside of the image.
struct RandomTransformArgs {
  Choice<FillMode> fill_mode = FillMode::reflect;                // not mirror
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  std::optional<int64_t> seed{};
  double fill_value = 0.0; // used by FillMode::constant
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, translates each image down by a random fraction of its height and to the right by a random fraction of
/// its width. The result has the compute dtype.
class HALFTONE_API RandomTranslation : public Layer {
public:
  RandomTranslation(const Factor &height_factor, const Factor &width_factor, const RandomTransformArgs &args = {},
                    Where where = Where::current());
};
/// In training, rotates each image about its center by a random angle: the factor is a fraction of a full turn,
/// positive for counterclockwise. value_error for a factor outside of -1 to 1. The result has the compute dtype.
class HALFTONE_API RandomRotation : public Layer {
public:
  explicit RandomRotation(const Factor &factor, const RandomTransformArgs &args = {}, Where where = Where::current());
};
/// In training, scales each image about its center by 1 / (1 + f) for a random f: a positive f zooms out. Without a
/// width_factor both axes have the same f. value_error for factors that are not above -1 and at most 1. The result has
/// the compute dtype.
class HALFTONE_API RandomZoom : public Layer {
public:
  /// RandomZoom({lower, upper}). Without this overload the braces could also initialize a RandomZoom to copy from.
  explicit RandomZoom(const double (&height_factor)[2], const RandomTransformArgs &args = {},
                      Where where = Where::current())
      : RandomZoom(Factor(height_factor[0], height_factor[1]), args, where) {}
  explicit RandomZoom(const Factor &height_factor, const RandomTransformArgs &args = {},
                      Where where = Where::current());
  explicit RandomZoom(const Factor &height_factor, const Factor &width_factor, const RandomTransformArgs &args = {},
                      Where where = Where::current());
};
struct RandomShearArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  Choice<FillMode> fill_mode = FillMode::reflect;                // not mirror
  double fill_value = 0.0;                                       // used by FillMode::constant
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, shears each image by a random factor along x and another along y: rows and columns are shifted by that
/// multiple of their index. The common sign of both factors is random. value_error for factors outside of 0 to 1. The
/// result has the compute dtype.
class HALFTONE_API RandomShear : public Layer {
public:
  RandomShear(Where where = Where::current()) : RandomShear(0.0, 0.0, {}, where) {}
  /// RandomShear({lower, upper})
  explicit RandomShear(const double (&x_factor)[2], Where where = Where::current())
      : RandomShear(Factor(x_factor[0], x_factor[1]), 0.0, {}, where) {}
  explicit RandomShear(const Factor &x_factor, const Factor &y_factor = 0.0, const RandomShearArgs &args = {},
                       Where where = Where::current());
};

/// The arguments of random color transforms. Results are clamped to value_range.
struct RandomColorArgs {
  std::vector<double> value_range = {0, 255}; // {minimum, maximum}
  std::optional<int64_t> seed{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, scales the distance of each pixel from its channel's mean by a random factor per image, from 1 - lower
/// to 1 + upper; a single number f stands for the bounds 0 and f. value_error for a factor outside of 0 to 1. The
/// result has the compute dtype.
class HALFTONE_API RandomContrast : public Layer {
public:
  explicit RandomContrast(const Factor &factor, const RandomColorArgs &args = {}, Where where = Where::current());
};
/// In training, adds a random fraction of the width of value_range to each image. value_error for a factor outside of
/// -1 to 1. The result has the compute dtype.
class HALFTONE_API RandomBrightness : public Layer {
public:
  explicit RandomBrightness(const Factor &factor, const RandomColorArgs &args = {}, Where where = Where::current());
};

/// In training, crops images to this height and width at a random offset, which is the same for all images of a batch;
/// images that are not larger along both axes are instead center-cropped to the aspect ratio of the result and resized.
/// Outside of training the identity, for images of any size. The result has the compute dtype.
class HALFTONE_API RandomCrop : public Layer {
public:
  RandomCrop(int64_t height, int64_t width, const RandomImageArgs &args = {}, Where where = Where::current());
};

/// Base of the layers that mix each image of a batch with a randomly chosen image of the batch, and labels (batch, ...)
/// in the same proportion. Labels are floats, such as one-hot vectors.
class HALFTONE_API ImageMixingLayer : public Layer {
public:
  using Layer::operator();
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method): overloads of Layer's
  [[nodiscard]] std::array<Value, 2> operator()(const Value &images, const Value &labels,
                                                const CallArgs &args = {}) const;
  [[nodiscard]] std::array<Tensor, 2> operator()(const Tensor &images, const Tensor &labels,
                                                 const CallArgs &args = {}) const;
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)

protected:
  using Layer::Layer;
};
struct MixUpArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, w image + (1 - w) other, where w is drawn from Beta(alpha, alpha) for each image. value_error unless
/// alpha > 0. The result has the compute dtype, mixed labels at least float32.
class HALFTONE_API MixUp : public ImageMixingLayer {
public:
  MixUp(double alpha = 0.2, const MixUpArgs &args = {}, Where where = Where::current());
};
/// In training, replaces a box of each image by that of the other. The fraction that is kept is drawn from Beta(a, a),
/// where a is drawn from the factor for each batch. value_error for a factor outside of 0 to 1. The result has the
/// compute dtype.
class HALFTONE_API CutMix : public ImageMixingLayer {
public:
  CutMix(const Factor &factor = 1.0, const RandomImageArgs &args = {}, Where where = Where::current());
};

struct SpatialDropout1DArgs {
  std::optional<int64_t> seed{};
  PolicyArg dtype{};
  std::string name{};
};
/// In training, sets a fraction `rate` of the channels of each sample to 0 and scales the others by 1 / (1 - rate);
/// otherwise the identity.
class HALFTONE_API SpatialDropout1D : public Layer {
public:
  explicit SpatialDropout1D(double rate, const SpatialDropout1DArgs &args = {}, Where where = Where::current());
};
struct SpatialDropoutArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::optional<int64_t> seed{};
  PolicyArg dtype{};
  std::string name{};
};
class HALFTONE_API SpatialDropout2D : public Layer {
public:
  explicit SpatialDropout2D(double rate, const SpatialDropoutArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API SpatialDropout3D : public Layer {
public:
  explicit SpatialDropout3D(double rate, const SpatialDropoutArgs &args = {}, Where where = Where::current());
};
} // namespace halftone::layers
