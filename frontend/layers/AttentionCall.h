// Calls of attention layers: their Values by name, and which keys a query sees.
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
  /// Of query, value and key: whether a mask that the Value carries counts where none is given.
  std::array<RecordedMask::Kind, 3> carried{};
  bool causal = false;
  bool scores = false; // whether the call gives the weights too
};

/// The call of a layer with a list of query, value and perhaps key. value_error naming `layer` for another count.
AttentionCall attentionCall(const char *layer, const Values &inputs);
/// value_error unless there are shapes of a query and a value, and the key's fits the value's. The third shape, of the
/// key, is the value's if there is none.
std::vector<Shape> shapesOfAttention(const char *layer, const std::vector<Shape> &shapes);

/// The body of an attention layer, beside its LayerBody.
class AttendingBody {
public:
  virtual Values attend(const AttentionCall &call, const CallContext &context) = 0;
  /// Whether Keras's call takes query, value, key and masks as arguments of their own. If not, it takes a list of query,
  /// value and key, and a list of masks.
  virtual bool takesValuesApart() const = 0;

protected:
  ~AttendingBody() = default;
};

/// Calls `layer`, which has an AttendingBody. The key is the value if it is undefined.
std::vector<Value> callAttention(const Layer &layer, AttentionCall call, std::optional<bool> training);
/// The same for the output and the weights.
std::array<Value, 2> callWithScores(const Layer &layer, AttentionCall call, std::optional<bool> training);

/// Where queries and keys are, of (batch, queries, keys).
struct Places {
  int64_t queries, keys;
  Value first{}; // the place of the first query among the keys, an int32 scalar; 0 if undefined
};
struct SeenArgs {
  bool causal = false;
  std::optional<int64_t> window{}; // a query sees the keys less than so many places away
  bool queries = false;            // by queryMask too
  bool heads = false;              // with an axis of heads if no mask of the call has one
};
/// Which keys each query sees by the masks of the call: it broadcasts to (batch, queries, keys), or has more axes if
/// the call's attention mask or `heads` asks for them. Undefined: all.
Value seenKeys(const AttentionCall &call, const Places &places, const SeenArgs &args);

/// The layer's argument `dropout` lies between 0 and 1, else value_error.
void requireDropout(const Layer &layer, double dropout, Where where);

} // namespace halftone::detail
