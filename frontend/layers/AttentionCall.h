// Calls of attention layers: their Values by name, and the resulting key mask.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LayerImpl.h"
#include "halftone/LayersAttention.h"
#include <array>

namespace halftone::detail {

/// One call. Masks may be undefined.
struct AttentionCall {
  Value query{}, value{}, key{};
  Value queryMask{}, valueMask{}, keyMask{}, attentionMask{};
  /// For query, value and key: the mask that applies if none is given.
  std::array<RecordedMask::Kind, 3> carried{};
  bool causal = false;
  bool scores = false; // whether the call also returns the weights
};

/// The call of a layer with a list of query, value and optionally key. value_error naming `layer` for another number.
AttentionCall attentionCall(const char *layer, const Values &inputs);
/// Returns the shapes of query, value and key; without a key, its shape is that of the value. value_error unless there
/// are a query and a value, and the key's shape matches the value's.
std::vector<Shape> shapesOfAttention(const char *layer, const std::vector<Shape> &shapes);

/// The body of an attention layer, a base in addition to LayerBody.
class AttendingBody {
public:
  virtual Values attend(const AttentionCall &call, const CallContext &context) = 0;
  /// Returns true if Keras's call takes query, value, key and masks as separate arguments. Otherwise it takes a list of
  /// query, value and key, and a list of masks.
  virtual bool takesSeparateValues() const = 0;

protected:
  ~AttendingBody() = default;
};

/// Calls `layer`, whose body is an AttendingBody. If the key is undefined, the value is the key.
std::vector<Value> callAttention(const Layer &layer, AttentionCall call, std::optional<bool> training);
/// Like callAttention(), returning the output and the weights.
std::array<Value, 2> callWithScores(const Layer &layer, AttentionCall call, std::optional<bool> training);

/// Numbers of query and key positions, for a mask (batch, queries, keys).
struct PositionCounts {
  int64_t queries, keys;
  Value first{}; // the key position of the first query, an int32 scalar; 0 if undefined
};
struct SeenArgs {
  bool causal = false;
  std::optional<int64_t> window{}; // a query attends to keys at a distance below this
  bool queries = false;            // also applies queryMask
  bool heads = false;              // adds a head axis if no mask of the call has one
};
/// The keys to which each query may attend by the masks of the call. The result broadcasts to (batch, queries, keys),
/// or has more axes if the call's attention mask or `heads` requires them. Undefined: all keys.
Value seenKeys(const AttentionCall &call, const PositionCounts &positions, const SeenArgs &args);

/// value_error unless the layer's argument `dropout` is between 0 and 1.
void requireDropout(const Layer &layer, double dropout, Where where);

} // namespace halftone::detail
