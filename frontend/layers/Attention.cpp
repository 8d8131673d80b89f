// Attention and AdditiveAttention: one head, no projections, all in the compute dtype.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Promotion.h"
#include "frontend/layers/AttentionCall.h"
#include "frontend/layers/FieldsAttention.h"
#include "frontend/layers/RandomNumbers.h"
#include "frontend/ops/Masks.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// The common part of both layers; `Derived` computes the scores from query and key.
template <class Derived, class Options> class ScoredBody : public BodyOf<Options>, public AttendingBody {
public:
  using BodyOf<Options>::BodyOf;
  void build(BuildContext &context, const std::vector<Shape> &given) override {
    const std::vector<Shape> shapes = shapesOfAttention(Derived::name, given);
    for (const Shape &shape : shapes)
      if (shape.rank() != 3)
        throw Error(ErrorKind::value_error,
                    fmt::format("{} layer needs inputs of shape (batch, sequence, features). Received: {}",
                                Derived::name, shape.str()));
    static_cast<Derived &>(*this).addWeights(context, shapes);
    if (this->options_.dropout > 0.0)
      state_ = addSeedState(context, this->options_.seed);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    return attend(attentionCall(Derived::name, inputs), context);
  }
  /// Keras subtracts a large number from the scores of masked keys, so a query whose keys are all masked has nearly
  /// equal weights.
  Values attend(const AttentionCall &given, const CallContext &context) override {
    AttentionCall call = given;
    call.query = asComputed(given.query, context);
    call.value = asComputed(given.value, context);
    call.key = asComputed(given.key, context);
    auto &self = static_cast<Derived &>(*this);
    self.hasQueryMask_ = call.queryMask.defined();
    Value scores = self.scores(call.query, call.key);
    AttentionCall masked = call;
    if (!call.valueMask.defined())
      masked.valueMask = maskOf(given.value);
    const Shape shape = scores.shape();
    if (const Value seen = seenKeys(masked, {shape[1], shape[2]}, {.causal = call.causal}); seen.defined()) {
      const double hidden = scores.dtype() == DType::float16 ? 3e4 : 1e9;
      const Value kept = broadcastTo(seen, shape);
      scores = ops::where(kept, scores, scores - hidden);
    }
    const Value weights = ops::softmax(scores);
    const bool drops = context.training() && self.options_.dropout > 0.0;
    Value out =
        ops::matmul(drops ? dropped(weights, self.options_.dropout, shape, nextKey(self.state_)) : weights, call.value);
    const Value queryMask = asMask(call.queryMask.defined() ? call.queryMask : maskOf(given.query));
    if (queryMask.defined())
      out = out * asDtype(ops::expand_dims(queryMask, -1), out.dtype(), "mask");
    return call.scores ? Values{out, weights} : Values{out};
  }
  bool takesSeparateValues() const override { return false; }
  /// As in Keras, the query mask of the call, which follows the inputs, or otherwise the query's own mask.
  Value mask(const Values &inputs, const std::vector<Value> &masks) override {
    return hasQueryMask_ ? asMask(inputs[3]) : masks[0];
  }

private:
  Variable state_;
  bool hasQueryMask_ = false; // of the last call
};

/// query + key for each pair of positions: (batch, t, s, features).
Value pairs(const Value &query, const Value &key) { return ops::expand_dims(query, 2) + ops::expand_dims(key, 1); }

class AttentionBody final : public ScoredBody<AttentionBody, AttentionOptions> {
public:
  static constexpr const char *name = "Attention";
  using ScoredBody::ScoredBody;
  void addWeights(BuildContext &context, const std::vector<Shape> &) {
    if (options_.use_scale)
      scale_ = context.add_weight({.initializer = "ones", .name = "scale"});
    if (options_.score_mode == "concat")
      concatWeight_ = context.add_weight({.initializer = "ones", .name = "concat_score_weight"});
  }
  Value scores(const Value &query, const Value &key) const {
    if (options_.score_mode == "dot") {
      const Value products = ops::matmul(query, ops::transpose(key, {0, 2, 1}));
      return options_.use_scale ? products * scale_ : products;
    }
    const Value sums = pairs(query, key);
    return concatWeight_ * ops::sum(ops::tanh(options_.use_scale ? scale_ * sums : sums), -1);
  }

private:
  Variable scale_, concatWeight_;
};

class AdditiveAttentionBody final : public ScoredBody<AdditiveAttentionBody, AdditiveAttentionOptions> {
public:
  static constexpr const char *name = "AdditiveAttention";
  using ScoredBody::ScoredBody;
  void addWeights(BuildContext &context, const std::vector<Shape> &shapes) {
    if (options_.use_scale)
      scale_ = context.add_weight({.shape = {shapes[0][-1]}, .initializer = "glorot_uniform", .name = "scale"});
  }
  Value scores(const Value &query, const Value &key) const {
    const Value terms = ops::tanh(pairs(query, key));
    return ops::sum(options_.use_scale ? scale_ * terms : terms, -1);
  }

private:
  Variable scale_;
};

AttentionCall callOf(const Value &query, const Value &value, const ScoredAttentionCallArgs &args) {
  return {.query = query,
          .value = value,
          .key = args.key,
          .queryMask = args.query_mask,
          .valueMask = args.value_mask,
          .keyMask = {},
          .attentionMask = {},
          .causal = args.use_causal_mask};
}

} // namespace

Attention::Attention(const AttentionArgs &args, Where where)
    : Layer(std::make_unique<AttentionBody>(AttentionOptions{args}), "Attention", layerArgs(args), where) {
  requireDropout(*this, args.dropout, where);
  if (args.score_mode != "dot" && args.score_mode != "concat")
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument score_mode. Expected one of {{'dot', 'concat'}}. Received: "
                            "score_mode={}",
                            args.score_mode),
                name(), where);
}
Value Attention::operator()(const Value &query, const Value &value, const ScoredAttentionCallArgs &args) const {
  return callAttention(*this, callOf(query, value, args), args.training)[0];
}
std::array<Value, 2> Attention::with_scores(const Value &query, const Value &value,
                                            const ScoredAttentionCallArgs &args) const {
  return callWithScores(*this, callOf(query, value, args), args.training);
}

AdditiveAttention::AdditiveAttention(const AdditiveAttentionArgs &args, Where where)
    : Layer(std::make_unique<AdditiveAttentionBody>(AdditiveAttentionOptions{args}), "AdditiveAttention",
            layerArgs(args), where) {
  requireDropout(*this, args.dropout, where);
}
Value AdditiveAttention::operator()(const Value &query, const Value &value, const ScoredAttentionCallArgs &args) const {
  return callAttention(*this, callOf(query, value, args), args.training)[0];
}
std::array<Value, 2> AdditiveAttention::with_scores(const Value &query, const Value &value,
                                                    const ScoredAttentionCallArgs &args) const {
  return callWithScores(*this, callOf(query, value, args), args.training);
}

} // namespace halftone::layers
