// Layers in which each element of a sequence attends to elements of another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Ops.h"
#include <array>

namespace halftone::layers {

/// The arguments of a call besides query (batch, ..., features) and value. Masks are bool; those of query, key and value
/// that the call does not give are the ones that these Values carry.
struct AttentionCallArgs {
  Value key{};            // the value if undefined; it has the value's axes but for the features
  Value value_mask{};     // (batch, s): false for keys that nobody sees
  Value key_mask{};       // (batch, s): the same
  Value attention_mask{}; // (batch, t, s) or with an axis of heads: false where a query does not see a key
  std::optional<bool> training{};
  bool use_causal_mask = false; // no query sees a key behind its own place
};

struct MultiHeadAttentionArgs {
  std::optional<int64_t> value_dim{}; // key_dim if not given
  double dropout = 0.0;
  bool use_bias = true;
  bool use_gate = false;                    // the heads' outputs are multiplied by sigmoid of a projection of the query
  std::optional<Integers> output_shape{};   // of the last axes; the query's features if not given
  std::optional<Integers> attention_axes{}; // the axes to attend over; all but the first and the last if not given
  std::optional<int64_t> sliding_window{};  // a query sees keys less than so many places away
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{}; // of each projection
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  std::optional<int64_t> seed{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Projects query, key and value to `num_heads` heads, attends, and projects the heads' outputs to the query's features.
/// The projections are layers EinsumDense named query, key, value and attention_output, and with a gate, gate: policies
/// and weights are found under "<path>/query". Scores are computed in float32 at least, unless they are given out.
class HALFTONE_API MultiHeadAttention : public Layer {
public:
  MultiHeadAttention(int64_t num_heads, int64_t key_dim, const MultiHeadAttentionArgs &args = {},
                     Where where = Where::current());
  using Layer::operator();
  [[nodiscard]] Value operator()(const Value &query, const Value &value, const AttentionCallArgs &args = {}) const;
  /// The output, and the weights (batch, heads, t, s) in the compute dtype. A query that sees no key has weights of 0.
  [[nodiscard]] std::array<Value, 2> with_scores(const Value &query, const Value &value,
                                                 const AttentionCallArgs &args = {}) const;
};

struct GroupQueryAttentionArgs {
  bool use_bias = true;
  bool use_gate = false;
  std::optional<int64_t> sliding_window{};
  double dropout = 0.0;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{}; // of each projection
  Constraint kernel_constraint{};
  Constraint bias_constraint{};
  std::optional<int64_t> seed{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// MultiHeadAttention of which num_query_heads / num_key_value_heads neighbouring heads of the query share a head of key
/// and value. Query (batch, t, features), value (batch, s, features).
class HALFTONE_API GroupQueryAttention : public Layer {
public:
  GroupQueryAttention(int64_t head_dim, int64_t num_query_heads, int64_t num_key_value_heads,
                      const GroupQueryAttentionArgs &args = {}, Where where = Where::current());
  using Layer::operator();
  [[nodiscard]] Value operator()(const Value &query, const Value &value, const AttentionCallArgs &args = {}) const;
  [[nodiscard]] std::array<Value, 2> with_scores(const Value &query, const Value &value,
                                                 const AttentionCallArgs &args = {}) const;
};
using GroupedQueryAttention = GroupQueryAttention;

/// The arguments of a call of Attention and AdditiveAttention besides query and value. Masks that the call does not give
/// are those that query and value carry.
struct ScoredAttentionCallArgs {
  Value key{};        // the value if undefined
  Value query_mask{}; // (batch, t): the output is 0 where it is false
  Value value_mask{}; // (batch, s): false for keys that nobody sees
  std::optional<bool> training{};
  bool use_causal_mask = false;
};

struct AttentionArgs {
  bool use_scale = false;         // multiplies scores by a weight `scale` ()
  std::string score_mode = "dot"; // "dot": products of query and key; "concat": sums of tanh(query + key), weighted
  double dropout = 0.0;
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Means of value (batch, s, features), weighted by the softmax of scores of query (batch, t, features) and key, all in
/// the compute dtype.
class HALFTONE_API Attention : public Layer {
public:
  explicit Attention(const AttentionArgs &args = {}, Where where = Where::current());
  using Layer::operator();
  [[nodiscard]] Value operator()(const Value &query, const Value &value,
                                 const ScoredAttentionCallArgs &args = {}) const;
  /// The output, and the weights (batch, t, s).
  [[nodiscard]] std::array<Value, 2> with_scores(const Value &query, const Value &value,
                                                 const ScoredAttentionCallArgs &args = {}) const;
};

struct AdditiveAttentionArgs {
  bool use_scale = true; // the terms of the sum are multiplied by a weight `scale` (features,)
  double dropout = 0.0;
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Attention whose scores are sums of tanh(query + key).
class HALFTONE_API AdditiveAttention : public Layer {
public:
  explicit AdditiveAttention(const AdditiveAttentionArgs &args = {}, Where where = Where::current());
  using Layer::operator();
  [[nodiscard]] Value operator()(const Value &query, const Value &value,
                                 const ScoredAttentionCallArgs &args = {}) const;
  [[nodiscard]] std::array<Value, 2> with_scores(const Value &query, const Value &value,
                                                 const ScoredAttentionCallArgs &args = {}) const;
};

} // namespace halftone::layers
