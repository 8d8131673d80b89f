// Multi-head attention: the projections of query, key, value and of the heads' outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/AttentionCall.h"
#include "halftone/LayersBasic.h"

namespace halftone::detail {

struct HeadSettings {
  const char *layer; // for errors
  int64_t heads, groups, keyDim, valueDim;
  std::optional<std::vector<int64_t>> outputShape{}, axes{};
  std::optional<int64_t> window{}, seed{};
  double dropout = 0.0;
  bool gate = false, bias = true;
};

/// The projections of an attention layer, and the attention between them. Each head has its own queries; heads / groups
/// adjacent heads share keys and values.
class AttentionHeads {
public:
  /// `projection`: the arguments of each projection except its name, bias and policy.
  AttentionHeads(HeadSettings settings, layers::EinsumDenseArgs projection)
      : settings_(std::move(settings)), projection_(std::move(projection)) {}

  void build(BuildContext &context, const std::vector<Shape> &shapes);
  Values attend(const AttentionCall &call, const CallContext &context) const;
  /// The axes to attend over, known once the layer is built.
  const std::optional<std::vector<int64_t>> &axes() const { return settings_.axes; }

private:
  /// A projection of the last `bound` axes of `input` to axes with the extents `output`.
  Layer project(const BuildContext &context, const char *name, const Shape &input, int64_t bound,
                const std::vector<int64_t> &output) const;
  /// The axes to attend over, for inputs of rank `rank`.
  std::vector<int64_t> axesOf(int64_t rank) const;
  /// The projected inputs of one call, with a head axis, and its mask.
  struct Heads {
    Value query, key, value; // all of the same dtype
    Value seen;              // the mask; undefined: all keys
  };
  /// Appends the heads of a causal call to those of the open cache, if any. Returns the positions of queries and keys.
  PositionCounts withCache(Heads &heads, const AttentionCall &call, const CallContext &context) const;
  Value fused(const Heads &heads, bool causal, bool drops) const;
  /// The outputs and weights of the heads, in their dtype.
  std::array<Value, 2> composed(Heads heads, bool drops) const;
  /// Inserts axes of extent 1 into `seen` before the axes that queries and keys attend over, up to `rank`.
  Value withHeads(const Value &seen, const Shape &scores) const;

  HeadSettings settings_;
  layers::EinsumDenseArgs projection_;
  std::optional<Layer> query_, key_, gate_, value_, output_;
  Variable state_; // of dropout
};

} // namespace halftone::detail
