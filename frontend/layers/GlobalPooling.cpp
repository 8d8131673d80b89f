// GlobalMaxPooling and GlobalAveragePooling: one element for each channel of each sample.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"

namespace halftone::layers {
using namespace detail;

namespace {

using Reduce = Value (*)(const Value &x, const Axes &axis, bool keepdims);

template <Reduce reduce, int64_t spatial, class LayerClass>
std::unique_ptr<LayerBody> global(const GlobalPoolingArgs &args) {
  using Options = GlobalPoolingOptions<LayerClass>;
  return plain(Options{withDataFormat(args)}, [](const Value &x, const Options &options, const CallContext &) {
    requireRank(x.shape(), spatial + 2);
    return reduce(x, Axes(spatialAxes(spatial, *options.data_format)), options.keepdims);
  });
}

} // namespace

GlobalMaxPooling1D::GlobalMaxPooling1D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 1, GlobalMaxPooling1D>(args), "GlobalMaxPooling1D", layerArgs(args), where) {}
GlobalMaxPooling2D::GlobalMaxPooling2D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 2, GlobalMaxPooling2D>(args), "GlobalMaxPooling2D", layerArgs(args), where) {}
GlobalMaxPooling3D::GlobalMaxPooling3D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::max, 3, GlobalMaxPooling3D>(args), "GlobalMaxPooling3D", layerArgs(args), where) {}
GlobalAveragePooling1D::GlobalAveragePooling1D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::mean, 1, GlobalAveragePooling1D>(args), "GlobalAveragePooling1D", layerArgs(args), where) {}
GlobalAveragePooling2D::GlobalAveragePooling2D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::mean, 2, GlobalAveragePooling2D>(args), "GlobalAveragePooling2D", layerArgs(args), where) {}
GlobalAveragePooling3D::GlobalAveragePooling3D(const GlobalPoolingArgs &args, Where where)
    : Layer(global<ops::mean, 3, GlobalAveragePooling3D>(args), "GlobalAveragePooling3D", layerArgs(args), where) {}

} // namespace halftone::layers
