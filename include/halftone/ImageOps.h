// Operations on images that are Values, named as in keras.ops.image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <optional>

/// Images are (height, width, channels), or a batch of them (batch, height, width, channels); of channels_first
/// (channels, height, width) and (batch, channels, height, width). value_error for another rank.
namespace halftone::ops::image {

struct ResizeArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear;
  bool antialias = false;            // an image that gets smaller is smoothed
  bool crop_to_aspect_ratio = false; // first cuts the image to the ratio of height and width
  bool pad_to_aspect_ratio = false;  // first adds margins of `fill_value`, until the ratio fits
  double fill_value = 0.0;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// An image, or a batch of them, with this height and width. Integers stay: they are computed in float32, rounded and
/// clamped.
HALFTONE_API Value resize(const Value &images, const Integers &size, const ResizeArgs &args = {});

struct AffineTransformArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  Choice<FillMode> fill_mode = FillMode::constant;
  double fill_value = 0.0; // of FillMode::constant
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// The pixel at (x, y) is that of the given image at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where
/// k = c0 x + c1 y + 1. `transform` is (8,), a0, a1, a2, b0, b1, b2, c0, c1, for all images, or (batch, 8). The weights of
/// neighbours are float32 at least; the result has the dtype of the images, and of integers is rounded.
HALFTONE_API Value affine_transform(const Value &images, const Value &transform, const AffineTransformArgs &args = {});

struct PerspectiveTransformArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  double fill_value = 0.0;                                       // of the pixels outside
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Moves the corners `start_points` to `end_points`, each (4, 2) for all images, or (batch, 4, 2): x and y of the top left,
/// the top right, the bottom left and the bottom right one.
HALFTONE_API Value perspective_transform(const Value &images, const Value &start_points, const Value &end_points,
                                         const PerspectiveTransformArgs &args = {});

struct MapCoordinatesArgs {
  Choice<FillMode> fill_mode = FillMode::constant;
  double fill_value = 0.0; // of FillMode::constant
};
/// The elements of `inputs` at coordinates (rank of the inputs, ...), between elements too. `order` is 0, the nearest element,
/// or 1, a weighted sum of the neighbours; value_error for another one.
HALFTONE_API Value map_coordinates(const Value &inputs, const Value &coordinates, int64_t order,
                                   const MapCoordinatesArgs &args = {});

struct ExtractPatchesArgs {
  Integers strides{};         // none: the size
  Integers dilation_rate = 1; // the step between the pixels of one patch
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// The patches of this size, one or two numbers, as channels: (batch, rows, columns, size * size * channels), where a patch
/// has its channels last in both data formats. Three numbers: of volumes (depth, height, width, channels).
HALFTONE_API Value extract_patches(const Value &images, const Integers &size, const ExtractPatchesArgs &args = {});
/// The same; one number is three.
HALFTONE_API Value extract_patches_3d(const Value &volumes, const Integers &size, const ExtractPatchesArgs &args = {});

struct CropImagesArgs {
  std::optional<int64_t> top_cropping{}, left_cropping{}, bottom_cropping{}, right_cropping{};
  std::optional<int64_t> target_height{}, target_width{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Images without margins. Exactly two of the three arguments of each axis are given, none below 0; value_error else.
HALFTONE_API Value crop_images(const Value &images, const CropImagesArgs &args);
struct PadImagesArgs {
  std::optional<int64_t> top_padding{}, left_padding{}, bottom_padding{}, right_padding{};
  std::optional<int64_t> target_height{}, target_width{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Images with margins of zeros; arguments as of crop_images().
HALFTONE_API Value pad_images(const Value &images, const PadImagesArgs &args);

/// 0.2989 red + 0.587 green + 0.114 blue, as one channel. One channel stays as it is. Integers are cut off.
HALFTONE_API Value rgb_to_grayscale(const Value &images,
                                    const Choice<DataFormat> &data_format = DataFormat::channels_last);

} // namespace halftone::ops::image
