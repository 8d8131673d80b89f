// keras.ops.image on Values: geometric transforms of images and arrays.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/ops/ImageSampling.h"
#include "frontend/ops/OperationRows.h"
#include "frontend/ops/Operations.h"
#include "frontend/ops/Windows.h"
#include "halftone/Linalg.h"
#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace halftone {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// Calls `f` on a batch of images with their channels last.
Value onBatch(const Value &images, DataFormat format, const std::function<Value(const Value &)> &f) {
  requireImages(images.shape());
  if (images.shape().elements() == 0)
    return images;
  const bool isOne = images.rank() == 3;
  const Value batch = channelsLast(isOne ? ops::expand_dims(images, 0) : images, format);
  const Value results = channelsBack(f(batch), format);
  return isOne ? ops::squeeze(results, 0) : results;
}

/// One table of numbers per image; a single one applies to all.
Value forEachImage(const Value &x, int64_t batch, const char *argument) {
  if (x.shape()[0] != 1 && x.shape()[0] != batch)
    throw Error(ErrorKind::value_error,
                fmt::format("`{0}` has the shape {1}, but there are {2} images: expected 1 or {2} as its "
                            "first extent",
                            argument, x.shape().str(), batch));
  std::vector<int64_t> dims = x.shape().dims();
  dims[0] = batch;
  return broadcastTo(x, Shape(std::move(dims)));
}

void requireTransforms(const Value &transform) {
  const int64_t rank = transform.rank();
  if (rank != 1 && rank != 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). "
                    "Received input with shape: transform.shape={}",
                    transform.shape().str()));
  if (transform.shape()[-1] != 8)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid transform: expected 8 numbers for each image. Received input with shape: "
                            "transform.shape={}",
                            transform.shape().str()));
}

Value affine(const Value &images, const Value &transform, DataFormat format, const Sampling &sampling) {
  requireTransforms(transform);
  return onBatch(images, format, [&](const Value &batch) {
    const Value table = transform.rank() == 1 ? ops::expand_dims(transform, 0) : transform;
    return transformed(batch, forEachImage(table, batch.shape()[0], "transform"), sampling, true);
  });
}

void requireCorners(const Value &points, const char *argument) {
  const Shape &shape = points.shape();
  if ((shape.rank() != 2 && shape.rank() != 3) || shape[-2] != 4 || shape[-1] != 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Invalid {} shape: expected (4,2) for a single image or (N,4,2) for a batch. Received shape: {}",
                    argument, shape.str()));
}

/// The transforms (n, 8) that map the corners `end` to the corners `start` (n, 4, 2).
Value homography(const Value &start, const Value &end) {
  const int64_t count = start.shape()[0];
  const auto column = [&](const Value &points, int64_t i) {
    return ops::slice(points, Shape{0, 0, i}, Shape{count, 4, 1});
  };
  const Value x = column(end, 0), y = column(end, 1), toX = column(start, 0), toY = column(start, 1);
  const Value one = ops::ones_like(x), zero = ops::zeros_like(x);
  const Value ofX = ops::concatenate({x, y, one, zero, zero, zero, -toX * x, -toX * y}, -1);
  const Value ofY = ops::concatenate({zero, zero, zero, x, y, one, -toY * x, -toY * y}, -1);
  const Value solution = ops::solve(ops::concatenate({ofX, ofY}, 1), ops::concatenate({toX, toY}, 1));
  return ops::reshape(solution, Shape{count, 8});
}

void requireCorners(const Value &start, const Value &end) {
  requireCorners(start, "start_points");
  requireCorners(end, "end_points");
  if (start.shape() != end.shape())
    throw Error(ErrorKind::value_error,
                fmt::format("start_points and end_points must have the same shape. Received start_points.shape={}, "
                            "end_points.shape={}",
                            start.shape().str(), end.shape().str()));
}

Value perspective(const List &v, DataFormat format, const Sampling &sampling) {
  requireCorners(v[1], v[2]);
  const auto corners = [](const Value &points) {
    const Value fine = points.dtype() == DType::float64 ? points : asDtype(points, DType::float32);
    return points.rank() == 2 ? ops::expand_dims(fine, 0) : fine;
  };
  return onBatch(v[0], format, [&](const Value &batch) {
    const Value transforms = homography(corners(v[1]), corners(v[2]));
    return transformed(batch, forEachImage(transforms, batch.shape()[0], "start_points"), sampling, true);
  });
}

Value mapped(const Value &inputs, const Value &coordinates, const Sampling &sampling) {
  const Shape &shape = coordinates.shape();
  if (shape.rank() < 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Invalid coordinates rank: expected at least rank 2. Received input with shape: {}", shape.str()));
  if (shape[0] != inputs.rank())
    throw Error(
        ErrorKind::value_error,
        fmt::format("First dim of `coordinates` must be the same as the rank of `inputs`. Received inputs with shape: "
                    "{} and coordinate leading dim of {}",
                    inputs.shape().str(), shape[0]));
  const std::vector<int64_t> dims = shape.dims();
  const Shape result(std::vector<int64_t>(dims.begin() + 1, dims.end()));
  if (inputs.shape().elements() == 0 || result.elements() == 0) {
    if (sampling.fillMode != FillMode::constant && result.elements() > 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("map_coordinates: inputs of shape {} are empty", inputs.shape().str()));
    return tracing().splat(sampling.fillValue, result, inputs.dtype());
  }
  std::vector<SampledAxis> axes;
  for (int64_t i = 0; i < inputs.rank(); ++i) {
    std::vector<int64_t> start(dims.size(), 0), part = dims;
    start[0] = i;
    part[0] = 1;
    const Value own = ops::slice(coordinates, Shape(std::move(start)), Shape(std::move(part)));
    axes.push_back({ops::reshape(own, result), inputs.shape()[i]});
  }
  return sampled(ops::reshape(inputs, Shape{inputs.shape().elements()}), axes, {}, sampling);
}

} // namespace

namespace ops::image {

Value affine_transform(const Value &images, const Value &transform, const AffineTransformArgs &args) {
  const Sampling sampling = samplingOf(args.interpolation, args.fill_mode, args.fill_value);
  if (isSymbolic(images) || isSymbolic(transform)) {
    Config config;
    setField(config, "interpolation", args.interpolation);
    setField(config, "fill_mode", args.fill_mode);
    setField(config, "fill_value", args.fill_value);
    setField(config, "data_format", args.data_format);
    return recordOperation("AffineTransform", {images, transform}, config);
  }
  return applyOne("affine_transform", {images, transform}, [format = args.data_format, sampling](const List &v) {
    return affine(v[0], v[1], format, sampling);
  });
}

Value perspective_transform(const Value &images, const Value &start_points, const Value &end_points,
                            const PerspectiveTransformArgs &args) {
  const Sampling sampling = samplingOf(args.interpolation, FillMode::constant, args.fill_value);
  const List inputs{images, start_points, end_points};
  if (std::ranges::any_of(inputs, isSymbolic)) {
    Config config;
    setField(config, "interpolation", args.interpolation);
    setField(config, "fill_value", args.fill_value);
    setField(config, "data_format", args.data_format);
    return recordOperation("PerspectiveTransform", inputs, config);
  }
  return applyOne("perspective_transform", inputs,
                  [format = args.data_format, sampling](const List &v) { return perspective(v, format, sampling); });
}

Value map_coordinates(const Value &inputs, const Value &coordinates, int64_t order, const MapCoordinatesArgs &args) {
  if (order != 0 && order != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument `order`. Expected one of [0, 1]. Received: order={}", order));
  if (isSymbolic(inputs) || isSymbolic(coordinates)) {
    Config config = configOf("order", order);
    setField(config, "fill_mode", args.fill_mode);
    setField(config, "fill_value", args.fill_value);
    return recordOperation("MapCoordinates", {inputs, coordinates}, config);
  }
  return applyOne("map_coordinates", {inputs, coordinates}, [args, order](const List &v) {
    return mapped(v[0], v[1], {order == 1, args.fill_mode, args.fill_value});
  });
}

} // namespace ops::image

Values detail::affineTransformOperation(OperationArguments &a) {
  const Value images = a.value("images"), transform = a.value("transform");
  ops::image::AffineTransformArgs args{.fill_value = a.number("fill_value", 0.0)};
  if (!a.isNull("interpolation"))
    args.interpolation = wordOf<Interpolation>(a, "interpolation");
  if (!a.isNull("fill_mode"))
    args.fill_mode = wordOf<FillMode>(a, "fill_mode");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  return ops::image::affine_transform(images, transform, args);
}

/// The transforms may determine the number of images if the images do not.
static ValueSpec specOf(const Value &images) {
  requireImages(images.shape());
  return {images.shape(), images.dtype()};
}
ValueSpec detail::affineTransformSpec(OperationArguments &a) {
  const Value images = a.value("images");
  requireTransforms(a.value("transform"));
  return specOf(images);
}
ValueSpec detail::perspectiveTransformSpec(OperationArguments &a) {
  const Value images = a.value("images"), start = a.value("start_points"), end = a.value("end_points");
  requireCorners(start, end);
  return specOf(images);
}

Values detail::perspectiveTransformOperation(OperationArguments &a) {
  const Value images = a.value("images"), start = a.value("start_points"), end = a.value("end_points");
  ops::image::PerspectiveTransformArgs args{.fill_value = a.number("fill_value", 0.0)};
  if (!a.isNull("interpolation"))
    args.interpolation = wordOf<Interpolation>(a, "interpolation");
  args.data_format = wordOf<DataFormat>(a, "data_format");
  return ops::image::perspective_transform(images, start, end, args);
}

Values detail::mapCoordinatesOperation(OperationArguments &a) {
  const Value inputs = a.value("inputs"), coordinates = a.value("coordinates");
  ops::image::MapCoordinatesArgs args{.fill_value = a.number("fill_value", 0.0)};
  if (!a.isNull("fill_mode"))
    args.fill_mode = wordOf<FillMode>(a, "fill_mode");
  return ops::image::map_coordinates(inputs, coordinates, a.integer("order"), args);
}

} // namespace halftone
