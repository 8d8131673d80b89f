// Layers for images and sequences: margins, resizing, random changes of training data, dropout of whole channels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"

namespace halftone::layers {

/// Of layers that have no other argument of their own. data_format is channels_last if it is not given: inputs are
/// (batch, spatial axes.., channels); of channels_first (batch, channels, spatial axes..).
struct DataFormatArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};

/// Zeros before and after each spatial axis.
class HALFTONE_API ZeroPadding1D : public Layer {
public:
  /// `padding`: one count for both sides, or {before, after}.
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

/// The input without its margins. value_error if no element is left along an axis.
class HALFTONE_API Cropping1D : public Layer {
public:
  /// `cropping`: one count for both sides, or {before, after}. The input is (batch, steps, channels).
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

/// Each element `size` times along each spatial axis; by interpolation, an image that many times as large.
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
  bool crop_to_aspect_ratio = false; // first cuts the image to the ratio of height and width
  bool pad_to_aspect_ratio = false;  // first adds margins, until the ratio fits
  double fill_value = 0.0;
  bool antialias = false; // an image that gets smaller is smoothed
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// An image, or a batch of them, with this height and width. Integers stay: they are computed in float32, rounded and
/// clamped.
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
/// The middle of an image, or of a batch of them, in the compute dtype. An image that is too small is first cut to the
/// ratio of height and width, and then resized.
class HALFTONE_API CenterCrop : public Layer {
public:
  CenterCrop(int64_t height, int64_t width, const CenterCropArgs &args = {}, Where where = Where::current());
};

struct RandomFlipArgs {
  std::optional<int64_t> seed{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, every second image on average is flipped; horizontal_and_vertical flips it both ways at once, as in
/// Keras. The result has the compute dtype.
class HALFTONE_API RandomFlip : public Layer {
public:
  RandomFlip(Choice<FlipMode> mode = FlipMode::horizontal_and_vertical, const RandomFlipArgs &args = {},
             Where where = Where::current());
};
struct RandomTranslationArgs {
  Choice<FillMode> fill_mode = FillMode::reflect;
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  std::optional<int64_t> seed{};
  double fill_value = 0.0; // of FillMode::constant
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// In training, moves each image down by a random part of its height and to the right by a random part of its width. The
/// result has the compute dtype.
class HALFTONE_API RandomTranslation : public Layer {
public:
  RandomTranslation(const Factor &height_factor, const Factor &width_factor, const RandomTranslationArgs &args = {},
                    Where where = Where::current());
};

struct SpatialDropout1DArgs {
  std::optional<int64_t> seed{};
  PolicyArg dtype{};
  std::string name{};
};
/// In training, zeros a share `rate` of the channels of each sample and scales the others by 1 / (1 - rate); else the
/// identity.
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
