// Image operations on Values, named as in keras.ops.image.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Ops.h"
#include <optional>

/// Images are (height, width, channels) or, as a batch, (batch, height, width, channels); for channels_first (channels,
/// height, width) or (batch, channels, height, width). value_error for another rank.
namespace halftone::ops::image {

struct ResizeArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear;
  bool antialias = false;            // smooths an image that is scaled down
  bool crop_to_aspect_ratio = false; // first crops the image to the aspect ratio of the result
  bool pad_to_aspect_ratio = false;  // first pads the image with `fill_value` to the aspect ratio of the result
  double fill_value = 0.0;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Resizes an image, or a batch of images, to {height, width}. Integer images keep their dtype: they are computed in
/// float32, rounded and clamped.
HALFTONE_API Value resize(const Value &images, const Integers &size, const ResizeArgs &args = {});

struct AffineTransformArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  Choice<FillMode> fill_mode = FillMode::constant;
  double fill_value = 0.0; // used by FillMode::constant
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Projective transform: the pixel of the result at (x, y) is that of the image at ((a0 x + a1 y + a2) / k, (b0 x + b1
/// y + b2) / k), where k = c0 x + c1 y + 1. `transform` holds a0, a1, a2, b0, b1, b2, c0, c1 and is (8,) for all
/// images, or (batch, 8). Interpolation is in at least float32; the result has the dtype of the images, and integers
/// are rounded.
HALFTONE_API Value affine_transform(const Value &images, const Value &transform, const AffineTransformArgs &args = {});

struct PerspectiveTransformArgs {
  Choice<Interpolation> interpolation = Interpolation::bilinear; // or nearest
  double fill_value = 0.0;                                       // the value of pixels outside of the image
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Perspective transform that maps the corners `start_points` to `end_points`. Each is (4, 2) for all images, or
/// (batch, 4, 2): x and y of the top left, top right, bottom left and bottom right corner.
HALFTONE_API Value perspective_transform(const Value &images, const Value &start_points, const Value &end_points,
                                         const PerspectiveTransformArgs &args = {});

struct MapCoordinatesArgs {
  Choice<FillMode> fill_mode = FillMode::constant;
  double fill_value = 0.0; // used by FillMode::constant
};
/// Samples `inputs` at fractional coordinates (rank of the inputs, ...). `order` is 0 for the nearest element or 1 for
/// linear interpolation; value_error otherwise.
HALFTONE_API Value map_coordinates(const Value &inputs, const Value &coordinates, int64_t order,
                                   const MapCoordinatesArgs &args = {});

struct ExtractPatchesArgs {
  Integers strides{};         // default: the size
  Integers dilation_rate = 1; // the distance between the pixels of a patch
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Extracts patches of this size (one or two integers) into the channel axis: (batch, rows, columns, size * size *
/// channels). The channels of a patch are last in both data formats. With three integers the images are volumes (depth,
/// height, width, channels).
HALFTONE_API Value extract_patches(const Value &images, const Integers &size, const ExtractPatchesArgs &args = {});
/// extract_patches() for volumes; a single integer applies to all three axes.
HALFTONE_API Value extract_patches_3d(const Value &volumes, const Integers &size, const ExtractPatchesArgs &args = {});

struct CropImagesArgs {
  std::optional<int64_t> top_cropping{}, left_cropping{}, bottom_cropping{}, right_cropping{};
  std::optional<int64_t> target_height{}, target_width{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Crops images. For each axis exactly two of the three arguments are given, and none is negative; value_error
/// otherwise.
HALFTONE_API Value crop_images(const Value &images, const CropImagesArgs &args);
struct PadImagesArgs {
  std::optional<int64_t> top_padding{}, left_padding{}, bottom_padding{}, right_padding{};
  std::optional<int64_t> target_height{}, target_width{};
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// Pads images with zeros. Arguments as for crop_images().
HALFTONE_API Value pad_images(const Value &images, const PadImagesArgs &args);

/// 0.2989 red + 0.587 green + 0.114 blue, as one channel. Images with one channel are unchanged. Integers are
/// truncated.
HALFTONE_API Value rgb_to_grayscale(const Value &images,
                                    const Choice<DataFormat> &data_format = DataFormat::channels_last);

} // namespace halftone::ops::image
