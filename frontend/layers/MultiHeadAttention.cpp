// MultiHeadAttention and GroupQueryAttention.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/AttentionHeads.h"
#include "frontend/layers/FieldsAttention.h"
#include "frontend/layers/SpatialAxes.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

std::optional<std::vector<int64_t>> listOf(const std::optional<Integers> &integers) {
  return integers ? std::optional(integers->list()) : std::nullopt;
}

HeadSettings settingsOf(const MultiHeadAttentionOptions &options) {
  return {.layer = "MultiHeadAttention",
          .heads = options.numHeads,
          .groups = options.numHeads,
          .keyDim = options.keyDim,
          .valueDim = *options.value_dim,
          .outputShape = listOf(options.output_shape),
          .axes = listOf(options.attention_axes),
          .window = options.sliding_window,
          .seed = options.seed,
          .dropout = options.dropout,
          .gate = options.use_gate,
          .bias = options.use_bias};
}
HeadSettings settingsOf(const GroupQueryAttentionOptions &options) {
  return {.layer = "GroupQueryAttention",
          .heads = options.numQueryHeads,
          .groups = options.numKeyValueHeads,
          .keyDim = options.headDim,
          .valueDim = options.headDim,
          .window = options.sliding_window,
          .seed = options.seed,
          .dropout = options.dropout,
          .gate = options.use_gate,
          .bias = options.use_bias};
}

template <class Args> EinsumDenseArgs projectionOf(const Args &args) {
  return {.kernel_initializer = args.kernel_initializer,
          .bias_initializer = args.bias_initializer,
          .kernel_regularizer = args.kernel_regularizer,
          .bias_regularizer = args.bias_regularizer,
          .activity_regularizer = args.activity_regularizer,
          .kernel_constraint = args.kernel_constraint,
          .bias_constraint = args.bias_constraint};
}

template <class Options> class HeadsBody final : public BodyOf<Options>, public AttendingBody {
public:
  explicit HeadsBody(const Options &options)
      : BodyOf<Options>(options), settings_(settingsOf(options)), heads_(settings_, projectionOf(options)) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    heads_.build(context, shapes);
    if constexpr (requires { this->options_.attention_axes; }) // Keras's config contains them once the layer is built
      this->options_.attention_axes = Integers(*heads_.axes());
  }
  Values call(const Values &inputs, const CallContext &context) override {
    return heads_.attend(attentionCall(settings_.layer, inputs), context);
  }
  Values attend(const AttentionCall &call, const CallContext &context) override { return heads_.attend(call, context); }
  bool takesSeparateValues() const override { return true; }

private:
  HeadSettings settings_;
  AttentionHeads heads_;
};

AttentionCall callOf(const Value &query, const Value &value, const AttentionCallArgs &args) {
  return {.query = query,
          .value = value,
          .key = args.key,
          .queryMask = {},
          .valueMask = args.value_mask,
          .keyMask = args.key_mask,
          .attentionMask = args.attention_mask,
          .causal = args.use_causal_mask};
}

/// The activity regularizer belongs to the projections, not to the layer.
template <class Args> LayerArgs ownArgs(const Args &args) {
  LayerArgs own = layerArgs(args);
  own.activity_regularizer = {};
  return own;
}

MultiHeadAttentionOptions withValueDim(MultiHeadAttentionOptions options) {
  options.value_dim = options.value_dim.value_or(options.keyDim);
  return options;
}

void requireWindow(const Layer &layer, const std::optional<int64_t> &window, Where where) {
  if (window)
    requirePositive(layer, "sliding_window", *window, where);
}

using MultiHeadBody = HeadsBody<MultiHeadAttentionOptions>;
using GroupQueryBody = HeadsBody<GroupQueryAttentionOptions>;

} // namespace

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionArgs &args,
                                       Where where)
    : Layer(std::make_unique<MultiHeadBody>(withValueDim({args, num_heads, key_dim})), "MultiHeadAttention",
            ownArgs(args), where) {
  requirePositive(*this, "num_heads", num_heads, where);
  requirePositive(*this, "key_dim", key_dim, where);
  requirePositive(*this, "value_dim", args.value_dim.value_or(key_dim), where);
  requireDropout(*this, args.dropout, where);
  requireWindow(*this, args.sliding_window, where);
  if (args.output_shape)
    for (int64_t extent : args.output_shape->list())
      requirePositive(*this, "output_shape", extent, where);
}
Value MultiHeadAttention::operator()(const Value &query, const Value &value, const AttentionCallArgs &args) const {
  return callAttention(*this, callOf(query, value, args), args.training)[0];
}
std::array<Value, 2> MultiHeadAttention::with_scores(const Value &query, const Value &value,
                                                     const AttentionCallArgs &args) const {
  return callWithScores(*this, callOf(query, value, args), args.training);
}

GroupQueryAttention::GroupQueryAttention(int64_t head_dim, int64_t num_query_heads, int64_t num_key_value_heads,
                                         const GroupQueryAttentionArgs &args, Where where)
    : Layer(std::make_unique<GroupQueryBody>(
                GroupQueryAttentionOptions{args, head_dim, num_query_heads, num_key_value_heads}),
            "GroupedQueryAttention", ownArgs(args), where) {
  requirePositive(*this, "head_dim", head_dim, where);
  requirePositive(*this, "num_query_heads", num_query_heads, where);
  requirePositive(*this, "num_key_value_heads", num_key_value_heads, where);
  requireDropout(*this, args.dropout, where);
  requireWindow(*this, args.sliding_window, where);
  if (num_query_heads % num_key_value_heads != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                            "num_query_heads={} and num_key_value_heads={}",
                            num_query_heads, num_key_value_heads),
                name(), where);
}
Value GroupQueryAttention::operator()(const Value &query, const Value &value, const AttentionCallArgs &args) const {
  return callAttention(*this, callOf(query, value, args), args.training)[0];
}
std::array<Value, 2> GroupQueryAttention::with_scores(const Value &query, const Value &value,
                                                      const AttentionCallArgs &args) const {
  return callWithScores(*this, callOf(query, value, args), args.training);
}

} // namespace halftone::layers
