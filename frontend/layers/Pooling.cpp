// MaxPooling and AveragePooling over one, two or three spatial axes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/FieldsImage.h"
#include "frontend/layers/PlainBody.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

using Pool = Value (*)(const Value &x, const std::vector<int64_t> &size, const ops::PoolArgs &args);

template <class LayerClass> PoolingOptions<LayerClass> optionsOf(const Integers &size, PoolingArgs args, int64_t rank) {
  args.strides = forEachAxis(args.strides.value_or(size), rank);
  return {std::move(args), forEachAxis(size, rank)};
}
template <Pool pool, class LayerClass>
std::unique_ptr<LayerBody> pooling(const Integers &size, const PoolingArgs &args, int64_t rank) {
  using Options = PoolingOptions<LayerClass>;
  return plain(optionsOf<LayerClass>(size, args, rank), [](const Value &x, const Options &options,
                                                           const CallContext &) {
    const std::vector<int64_t> &sizes = options.poolSize.list();
    requireRank(x.shape(), std::ssize(sizes) + 2);
    return pool(x, sizes,
                {.strides = options.strides->list(), .padding = options.padding, .data_format = options.data_format});
  });
}
void check(const Layer &layer, const Integers &size, const PoolingArgs &args, int64_t rank, Where where) {
  requireEntries(layer, "pool_size", forEachAxis(size, rank), rank, 1, where);
  requireEntries(layer, "strides", forEachAxis(args.strides.value_or(size), rank), rank, 1, where);
  if (args.padding == Padding::causal)
    throw Error(ErrorKind::value_error, "Argument `padding` must be either 'valid' or 'same'. Received: padding=causal",
                layer.name(), where);
}

} // namespace

MaxPooling1D::MaxPooling1D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::max_pool, MaxPooling1D>(pool_size, args, 1), "MaxPooling1D", layerArgs(args), where) {
  check(*this, pool_size, args, 1, where);
}
MaxPooling2D::MaxPooling2D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::max_pool, MaxPooling2D>(pool_size, args, 2), "MaxPooling2D", layerArgs(args), where) {
  check(*this, pool_size, args, 2, where);
}
MaxPooling3D::MaxPooling3D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::max_pool, MaxPooling3D>(pool_size, args, 3), "MaxPooling3D", layerArgs(args), where) {
  check(*this, pool_size, args, 3, where);
}
AveragePooling1D::AveragePooling1D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::average_pool, AveragePooling1D>(pool_size, args, 1), "AveragePooling1D", layerArgs(args),
            where) {
  check(*this, pool_size, args, 1, where);
}
AveragePooling2D::AveragePooling2D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::average_pool, AveragePooling2D>(pool_size, args, 2), "AveragePooling2D", layerArgs(args),
            where) {
  check(*this, pool_size, args, 2, where);
}
AveragePooling3D::AveragePooling3D(const Integers &pool_size, const PoolingArgs &args, Where where)
    : Layer(pooling<ops::average_pool, AveragePooling3D>(pool_size, args, 3), "AveragePooling3D", layerArgs(args),
            where) {
  check(*this, pool_size, args, 3, where);
}

} // namespace halftone::layers
