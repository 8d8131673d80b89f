// Multi-head attention.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/AttentionHeads.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/KeyValueCache.h"
#include "frontend/layers/RandomNumbers.h"
#include "frontend/ops/Masks.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

/// The labels `first`, `first` + 1, ...
std::string labels(int64_t first, int64_t count) {
  std::string text;
  for (int64_t label = first; label < first + count; ++label)
    text += static_cast<char>('a' + label);
  return text;
}

/// The einsum equations of attention on queries and keys of shape (batch, ..., heads, features).
struct Equations {
  std::string keys, queries, scores;
  Equations(int64_t rank, const std::vector<int64_t> &axes) : keys(labels(0, rank)), queries(keys) {
    for (size_t i = 0; i < axes.size(); ++i)
      keys[static_cast<size_t>(axes[i])] = labels(rank + static_cast<int64_t>(i), 1)[0];
    for (int64_t axis = 0; axis + 1 < rank; ++axis)
      if (std::ranges::find(axes, axis) == axes.end())
        scores += queries[static_cast<size_t>(axis)];
    for (const std::string *side : {&queries, &keys})
      for (int64_t axis : axes)
        scores += (*side)[static_cast<size_t>(axis)];
  }
};

} // namespace

Layer AttentionHeads::project(const BuildContext &context, const char *name, const Shape &input, int64_t bound,
                              const std::vector<int64_t> &output) const {
  const int64_t rank = input.rank(), free = rank - bound, added = static_cast<int64_t>(output.size());
  const std::string made = labels(rank, added);
  const std::string equation = labels(0, rank) + "," + labels(free, bound) + made + "->" + labels(0, free) + made;
  std::vector<int64_t> shape(static_cast<size_t>(free - 1), -1);
  shape.insert(shape.end(), output.begin(), output.end());
  layers::EinsumDenseArgs args = projection_;
  if (settings_.bias)
    args.bias_axes = made;
  args.dtype = context.layer().policy;
  args.name = name;
  layers::EinsumDense layer(equation, Shape(shape), args, context.layer().where);
  layer.impl()->madeInCall = context.layer().madeInCall; // it lives as long as the attention layer
  layer.impl()->build({input});
  return layer;
}

std::vector<int64_t> AttentionHeads::axesOf(int64_t rank) const {
  std::vector<int64_t> axes;
  if (settings_.axes)
    for (int64_t axis : *settings_.axes)
      axes.push_back(axis < 0 ? axis + rank : axis);
  else
    for (int64_t axis = 1; axis + 1 < rank; ++axis)
      axes.push_back(axis);
  const auto isWrong = [&](int64_t axis) {
    return axis < 1 || axis >= rank - 1 || std::ranges::count(axes, axis) != 1;
  };
  if (axes.empty() || std::ranges::any_of(axes, isWrong))
    throw Error(ErrorKind::value_error,
                fmt::format("`attention_axes` of {} must be one or more distinct axes of a query of rank {}, except "
                            "the first and the last. Received: attention_axes=({})",
                            settings_.layer, rank, fmt::join(axes, ", ")));
  return axes;
}

void AttentionHeads::build(BuildContext &context, const std::vector<Shape> &given) {
  const std::vector<Shape> shapes = shapesOfAttention(settings_.layer, given);
  const Shape &query = shapes[0];
  if (query.rank() != shapes[1].rank())
    throw Error(ErrorKind::value_error,
                fmt::format("`query` and `value` of {} must have the same rank. Received: query_shape={} and "
                            "value_shape={}",
                            settings_.layer, query.str(), shapes[1].str()));
  const std::vector<int64_t> axes = axesOf(query.rank());
  const Layer queries = project(context, "query", query, 1, {settings_.heads, settings_.keyDim});
  const Layer keys = project(context, "key", shapes[2], 1, {settings_.groups, settings_.keyDim});
  std::optional<Layer> gate;
  if (settings_.gate)
    gate = project(context, "gate", query, 1, {settings_.heads, settings_.valueDim});
  const Layer values = project(context, "value", shapes[1], 1, {settings_.groups, settings_.valueDim});
  std::vector<int64_t> heads = query.dims();
  heads.back() = settings_.heads;
  heads.push_back(settings_.valueDim);
  const Layer output = project(context, "attention_output", Shape(heads), 2,
                               settings_.outputShape.value_or(std::vector<int64_t>{query[-1]}));
  if (settings_.dropout > 0.0)
    state_ = addSeedState(context, settings_.seed);
  CallTransaction::onFailure([this, layer = context.layer().shared_from_this(), given = settings_.axes] {
    settings_.axes = given; // another call may have a different rank
  });
  settings_.axes = axes;
  gate_ = gate;
  query_ = queries;
  key_ = keys;
  value_ = values;
  output_ = output;
  for (const std::optional<Layer> *layer : {&query_, &key_, &gate_, &value_, &output_})
    if (*layer)
      context.layer().adopt(**layer);
}

Value AttentionHeads::withHeads(const Value &seen, const Shape &scores) const {
  if (!seen.defined())
    return seen;
  std::vector<int64_t> dims = seen.shape().dims();
  const size_t attended = 2 * settings_.axes->size(), rank = static_cast<size_t>(scores.rank());
  bool fits = dims.size() <= rank;
  if (fits && dims.size() < rank)
    dims.insert(dims.end() - static_cast<int64_t>(std::min(attended, dims.size())), rank - dims.size(), 1);
  for (size_t axis = 0; fits && axis < rank; ++axis)
    fits = dims[axis] == 1 || dims[axis] == scores[static_cast<int64_t>(axis)];
  if (!fits)
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "The combined mask of a call of {} has the shape {}, which does not broadcast to that of the scores, {}.",
            settings_.layer, seen.shape().str(), scores.str()));
  return ops::reshape(seen, Shape(dims));
}

Value AttentionHeads::fused(const Heads &heads, bool causal, bool drops) const {
  const Shape q = heads.query.shape(), k = heads.key.shape(), v = heads.value.shape();
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1])
    throw Error(
        ErrorKind::value_error,
        fmt::format("{} needs query, key and value with the same batch size, and a key for each value. Received, as "
                    "(batch, sequence, heads, features): query {}, key {}, value {}",
                    settings_.layer, q.str(), k.str(), v.str()));
  const Value mask = withHeads(heads.seen, Shape{q[0], q[2], q[1], k[1]});
  return tracing().attention(heads.query, heads.key, heads.value,
                             {.mask = mask,
                              .key = drops ? nextKey(state_) : Value(),
                              .causal = causal,
                              .scale = 1.0 / std::sqrt(static_cast<double>(settings_.keyDim)),
                              .rate = drops ? settings_.dropout : 0.0});
}

std::array<Value, 2> AttentionHeads::composed(Heads heads, bool drops) const {
  if (const int64_t repeats = settings_.heads / settings_.groups; repeats != 1)
    for (Value *shared : {&heads.key, &heads.value})
      *shared = ops::repeat(*shared, repeats, shared->rank() - 2);
  const Equations labels(heads.query.rank(), *settings_.axes);
  const Value scores = ops::einsum(labels.keys + "," + labels.queries + "->" + labels.scores,
                                   {heads.key, heads.query * (1.0 / std::sqrt(static_cast<double>(settings_.keyDim)))});
  std::vector<int64_t> over;
  for (int64_t axis = scores.rank() - static_cast<int64_t>(settings_.axes->size()); axis < scores.rank(); ++axis)
    over.push_back(axis);
  const Value weights = softmaxOver(scores, Axes(over), withHeads(heads.seen, scores.shape()));
  const Value used = drops ? dropped(weights, settings_.dropout, weights.shape(), nextKey(state_)) : weights;
  return {ops::einsum(labels.scores + "," + labels.keys + "->" + labels.queries, {used, heads.value}), weights};
}

PositionCounts AttentionHeads::withCache(Heads &heads, const AttentionCall &call, const CallContext &context) const {
  const int64_t axis = settings_.axes->front();
  PositionCounts positions{call.query.shape()[axis], call.value.shape()[axis]};
  OpenCache *cache = call.causal ? OpenCache::current() : nullptr;
  if (!cache)
    return positions;
  const auto refuse = [&](const std::string &reason) {
    throw Error(ErrorKind::value_error, fmt::format("{} cannot use a key-value cache: {}", settings_.layer, reason));
  };
  for (const Value *mask : {&call.queryMask, &call.valueMask, &call.keyMask, &call.attentionMask})
    if (mask->defined())
      refuse("its call has a mask, and the cache does not store masks of keys");
  if (heads.query.rank() != 4 || positions.queries != positions.keys)
    refuse(fmt::format(
        "query and value must have one axis of steps, with the same extent. Received: query {} and value {}",
        call.query.shape().str(), call.value.shape().str()));
  const KeysAndValues all = cache->append(context.path(), {heads.key, heads.value});
  heads.key = all.keys;
  heads.value = all.values;
  return {positions.queries, heads.key.shape()[1], cache->position()};
}

Values AttentionHeads::attend(const AttentionCall &given, const CallContext &context) const {
  AttentionCall call = given;
  if (!call.valueMask.defined())
    call.valueMask = maskOf(call.value);
  if (!call.keyMask.defined())
    call.keyMask = maskOf(call.key);
  if (!call.queryMask.defined())
    call.queryMask = maskOf(call.query);
  Heads heads{(*query_)(call.query), (*key_)(call.key), (*value_)(call.value), {}};
  const DType dtype = result_type(result_type(heads.query.dtype(), heads.key.dtype()), heads.value.dtype());
  for (Value *each : {&heads.query, &heads.key, &heads.value})
    *each = asDtype(*each, dtype);
  const bool drops = context.training() && settings_.dropout > 0.0;
  const bool whole = !call.scores && heads.query.rank() == 4 && settings_.dropout < 1.0;
  if (settings_.axes->size() != 1 && (call.causal || settings_.window))
    throw Error(ErrorKind::value_error,
                fmt::format("{} attends over {} axes; a causal mask and a sliding window need one", settings_.layer,
                            settings_.axes->size()));
  const PositionCounts positions = withCache(heads, call, context);
  const bool causalOp = call.causal && whole && !positions.first.defined(); // it numbers query positions from 0
  // The mask has the axes of the scores from the start, since a kernel computes it only if no reshape follows.
  heads.seen =
      seenKeys(call, positions,
               {.causal = call.causal && !causalOp, .window = settings_.window, .queries = true, .heads = whole});
  Value out, weights;
  if (whole)
    out = fused(heads, causalOp, drops);
  else
    std::tie(out, weights) = std::tuple_cat(composed(heads, drops));
  if (gate_) {
    const Value gate = ops::sigmoid((*gate_)(call.query));
    out = out * gate;
  }
  out = (*output_)(out);
  return call.scores ? Values{out, weights} : Values{out};
}

} // namespace halftone::detail
