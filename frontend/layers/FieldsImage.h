// The arguments of image layers and pooling as config keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"

namespace halftone::detail {

struct ZeroPadding1DOptions : layers::DataFormatArgs {
  Integers padding = 1;
  Layer layer() const { return layers::ZeroPadding1D(padding, *this); }
};
template <class LayerClass> struct ZeroPaddingOptions : layers::DataFormatArgs {
  Margins padding = 1;
  Layer layer() const { return LayerClass(padding, *this); }
};
struct Cropping1DOptions : LayerArgs {
  Integers cropping = 1;
  Layer layer() const { return layers::Cropping1D(cropping, *this); }
};
template <class LayerClass> struct CroppingOptions : layers::DataFormatArgs {
  Margins cropping = std::is_same_v<LayerClass, layers::Cropping2D> ? 0 : 1;
  Layer layer() const { return LayerClass(cropping, *this); }
};
struct UpSampling1DOptions : LayerArgs {
  int64_t size = 2;
  Layer layer() const { return layers::UpSampling1D(size, *this); }
};
struct UpSampling2DOptions : layers::UpSampling2DArgs {
  Integers size = 2;
  Layer layer() const { return layers::UpSampling2D(size, *this); }
};
struct UpSampling3DOptions : layers::DataFormatArgs {
  Integers size = 2;
  Layer layer() const { return layers::UpSampling3D(size, *this); }
};
struct ResizingOptions : layers::ResizingArgs {
  int64_t height = 0, width = 0;
  Layer layer() const { return layers::Resizing(height, width, *this); }
};
struct CenterCropOptions : layers::CenterCropArgs {
  int64_t height = 0, width = 0;
  Layer layer() const { return layers::CenterCrop(height, width, *this); }
};
struct RandomFlipOptions : layers::RandomImageArgs {
  FlipMode mode = FlipMode::horizontal_and_vertical;
  Layer layer() const { return layers::RandomFlip(mode, *this); }
};
struct RandomTranslationOptions : layers::RandomTransformArgs {
  Factor heightFactor = 0.0, widthFactor = 0.0;
  Layer layer() const { return layers::RandomTranslation(heightFactor, widthFactor, *this); }
};
struct RandomRotationOptions : layers::RandomTransformArgs {
  Factor factor = 0.0;
  Layer layer() const { return layers::RandomRotation(factor, *this); }
};
struct RandomZoomOptions : layers::RandomTransformArgs {
  Factor heightFactor = 0.0;
  std::optional<Factor> widthFactor{};
  Layer layer() const {
    return widthFactor ? layers::RandomZoom(heightFactor, *widthFactor, *this)
                       : layers::RandomZoom(heightFactor, *this);
  }
};
struct RandomShearOptions : layers::RandomShearArgs {
  Factor xFactor = 0.0, yFactor = 0.0;
  Layer layer() const { return layers::RandomShear(xFactor, yFactor, *this); }
};
struct RandomContrastOptions : layers::RandomColorArgs {
  Factor factor = 0.0;
  Layer layer() const { return layers::RandomContrast(factor, *this); }
};
struct RandomBrightnessOptions : layers::RandomColorArgs {
  Factor factor = 0.0;
  Layer layer() const { return layers::RandomBrightness(factor, *this); }
};
struct RandomCropOptions : layers::RandomImageArgs {
  int64_t height = 0, width = 0;
  Layer layer() const { return layers::RandomCrop(height, width, *this); }
};
struct MixUpOptions : layers::MixUpArgs {
  double alpha = 0.2;
  Layer layer() const { return layers::MixUp(alpha, *this); }
};
struct CutMixOptions : layers::RandomImageArgs {
  Factor factor = 1.0;
  Layer layer() const { return layers::CutMix(factor, *this); }
};
struct SpatialDropout1DOptions : layers::SpatialDropout1DArgs {
  double rate = 0.0;
  Layer layer() const { return layers::SpatialDropout1D(rate, *this); }
};
template <class LayerClass> struct SpatialDropoutOptions : layers::SpatialDropoutArgs {
  double rate = 0.0;
  Layer layer() const { return LayerClass(rate, *this); }
};
template <> inline constexpr bool passesMask<SpatialDropout1DOptions> = true;
template <class LayerClass> inline constexpr bool passesMask<SpatialDropoutOptions<LayerClass>> = true;
template <class LayerClass> struct AdaptivePoolingOptions : layers::AdaptivePoolingArgs {
  Integers outputSize{};
  Layer layer() const { return LayerClass(outputSize, *this); }
};
template <class LayerClass> struct PoolingOptions : layers::PoolingArgs {
  Integers poolSize = 2;
  Layer layer() const { return LayerClass(poolSize, *this); }
};
template <class LayerClass> using GlobalPoolingOptions = PlainOptions<LayerClass, layers::GlobalPoolingArgs>;

template <>
inline constexpr std::tuple layerFields<ZeroPadding1DOptions>{
    ListField{"padding", &ZeroPadding1DOptions::padding}, Field{"data_format", &layers::DataFormatArgs::data_format}};
template <class LayerClass>
inline constexpr std::tuple layerFields<ZeroPaddingOptions<LayerClass>>{
    Field{"padding", &ZeroPaddingOptions<LayerClass>::padding},
    Field{"data_format", &layers::DataFormatArgs::data_format}};
template <>
inline constexpr std::tuple layerFields<Cropping1DOptions>{ListField{"cropping", &Cropping1DOptions::cropping}};
template <class LayerClass>
inline constexpr std::tuple layerFields<CroppingOptions<LayerClass>>{
    Field{"cropping", &CroppingOptions<LayerClass>::cropping},
    Field{"data_format", &layers::DataFormatArgs::data_format}};
template <> inline constexpr std::tuple layerFields<UpSampling1DOptions>{Field{"size", &UpSampling1DOptions::size}};
template <>
inline constexpr std::tuple layerFields<UpSampling2DOptions>{
    ListField{"size", &UpSampling2DOptions::size}, Field{"data_format", &layers::UpSampling2DArgs::data_format},
    Field{"interpolation", &layers::UpSampling2DArgs::interpolation}};
template <>
inline constexpr std::tuple layerFields<UpSampling3DOptions>{
    ListField{"size", &UpSampling3DOptions::size}, Field{"data_format", &layers::DataFormatArgs::data_format}};
template <>
inline constexpr std::tuple layerFields<ResizingOptions>{
    Field{"data_format", &layers::ResizingArgs::data_format},
    Field{"height", &ResizingOptions::height, Presence::required},
    Field{"width", &ResizingOptions::width, Presence::required},
    Field{"interpolation", &layers::ResizingArgs::interpolation},
    Field{"crop_to_aspect_ratio", &layers::ResizingArgs::crop_to_aspect_ratio},
    Field{"pad_to_aspect_ratio", &layers::ResizingArgs::pad_to_aspect_ratio},
    FixedField{"fill_mode", "constant"},
    Field{"fill_value", &layers::ResizingArgs::fill_value},
    Field{"antialias", &layers::ResizingArgs::antialias}};
template <>
inline constexpr std::tuple layerFields<CenterCropOptions>{
    Field{"data_format", &layers::CenterCropArgs::data_format},
    Field{"height", &CenterCropOptions::height, Presence::required},
    Field{"width", &CenterCropOptions::width, Presence::required}};
template <>
inline constexpr std::tuple layerFields<RandomFlipOptions>{Field{"data_format", &layers::RandomImageArgs::data_format},
                                                           Field{"seed", &layers::RandomImageArgs::seed},
                                                           Field{"mode", &RandomFlipOptions::mode}};
template <>
inline constexpr std::tuple layerFields<RandomTranslationOptions>{
    Field{"data_format", &layers::RandomTransformArgs::data_format},
    Field{"height_factor", &RandomTranslationOptions::heightFactor, Presence::required},
    Field{"width_factor", &RandomTranslationOptions::widthFactor, Presence::required},
    Field{"fill_mode", &layers::RandomTransformArgs::fill_mode},
    Field{"interpolation", &layers::RandomTransformArgs::interpolation},
    Field{"seed", &layers::RandomTransformArgs::seed},
    Field{"fill_value", &layers::RandomTransformArgs::fill_value}};
template <>
inline constexpr std::tuple layerFields<RandomRotationOptions>{
    Field{"data_format", &layers::RandomTransformArgs::data_format},
    Field{"factor", &RandomRotationOptions::factor, Presence::required},
    Field{"fill_mode", &layers::RandomTransformArgs::fill_mode},
    Field{"fill_value", &layers::RandomTransformArgs::fill_value},
    Field{"interpolation", &layers::RandomTransformArgs::interpolation},
    Field{"seed", &layers::RandomTransformArgs::seed}};
template <>
inline constexpr std::tuple layerFields<RandomZoomOptions>{
    Field{"data_format", &layers::RandomTransformArgs::data_format},
    Field{"height_factor", &RandomZoomOptions::heightFactor, Presence::required},
    Field{"width_factor", &RandomZoomOptions::widthFactor},
    Field{"fill_mode", &layers::RandomTransformArgs::fill_mode},
    Field{"interpolation", &layers::RandomTransformArgs::interpolation},
    Field{"seed", &layers::RandomTransformArgs::seed},
    Field{"fill_value", &layers::RandomTransformArgs::fill_value}};
template <>
inline constexpr std::tuple layerFields<RandomShearOptions>{
    Field{"data_format", &layers::RandomShearArgs::data_format},
    Field{"x_factor", &RandomShearOptions::xFactor},
    Field{"y_factor", &RandomShearOptions::yFactor},
    Field{"fill_mode", &layers::RandomShearArgs::fill_mode},
    Field{"interpolation", &layers::RandomShearArgs::interpolation},
    Field{"seed", &layers::RandomShearArgs::seed},
    Field{"fill_value", &layers::RandomShearArgs::fill_value}};
/// The fields of RandomContrast and RandomBrightness.
template <class Options>
constexpr std::tuple randomColorFields{
    Field{"data_format", &layers::RandomColorArgs::data_format}, Field{"factor", &Options::factor, Presence::required},
    Field{"value_range", &layers::RandomColorArgs::value_range}, Field{"seed", &layers::RandomColorArgs::seed}};
template <> inline constexpr std::tuple layerFields<RandomContrastOptions> = randomColorFields<RandomContrastOptions>;
template <>
inline constexpr std::tuple layerFields<RandomBrightnessOptions> = randomColorFields<RandomBrightnessOptions>;
template <>
inline constexpr std::tuple layerFields<RandomCropOptions>{
    Field{"data_format", &layers::RandomImageArgs::data_format},
    Field{"height", &RandomCropOptions::height, Presence::required},
    Field{"width", &RandomCropOptions::width, Presence::required}, Field{"seed", &layers::RandomImageArgs::seed}};
template <>
inline constexpr std::tuple layerFields<MixUpOptions>{Field{"data_format", &layers::MixUpArgs::data_format},
                                                      Field{"alpha", &MixUpOptions::alpha},
                                                      Field{"seed", &layers::MixUpArgs::seed}};
template <>
inline constexpr std::tuple layerFields<CutMixOptions>{Field{"data_format", &layers::RandomImageArgs::data_format},
                                                       Field{"factor", &CutMixOptions::factor},
                                                       Field{"seed", &layers::RandomImageArgs::seed}};

/// All fields of a SpatialDropout. Of the fields that all layers share, Keras gives it only these two.
template <class Options>
constexpr std::tuple spatialDropoutFields{Field{"rate", &Options::rate, Presence::required},
                                          Field{"seed", &Options::seed}, Field{"name", &Options::name},
                                          Field{"dtype", &Options::dtype}};
template <>
inline constexpr std::tuple layerFields<SpatialDropout1DOptions> = spatialDropoutFields<SpatialDropout1DOptions>;
template <class LayerClass>
inline constexpr std::tuple layerFields<SpatialDropoutOptions<LayerClass>> =
    std::tuple_cat(spatialDropoutFields<SpatialDropoutOptions<LayerClass>>,
                   std::tuple{Field{"data_format", &layers::SpatialDropoutArgs::data_format}});

template <class LayerClass>
inline constexpr std::tuple layerFields<AdaptivePoolingOptions<LayerClass>>{
    ListField{"output_size", &AdaptivePoolingOptions<LayerClass>::outputSize, Presence::required},
    Field{"data_format", &layers::AdaptivePoolingArgs::data_format}};
template <class LayerClass>
inline constexpr std::tuple layerFields<PoolingOptions<LayerClass>>{
    ListField{"pool_size", &PoolingOptions<LayerClass>::poolSize,
              std::is_default_constructible_v<LayerClass> ? Presence::optional : Presence::required},
    Field{"padding", &layers::PoolingArgs::padding}, ListField{"strides", &layers::PoolingArgs::strides},
    Field{"data_format", &layers::PoolingArgs::data_format}};
template <class LayerClass>
inline constexpr std::tuple layerFields<GlobalPoolingOptions<LayerClass>>{
    Field{"data_format", &layers::GlobalPoolingArgs::data_format},
    Field{"keepdims", &layers::GlobalPoolingArgs::keepdims}};

} // namespace halftone::detail
