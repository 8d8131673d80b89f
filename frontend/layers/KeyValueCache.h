// Use of the open key-value cache by attention layers, and the variables of a cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Generate.h"
#include <memory>
#include <string>
#include <vector>

namespace halftone::detail {

/// "(2, 3) in int32", for messages.
std::string described(const Tensor &tensor);

/// Keys (batch, steps, heads, features) and values.
struct KeysAndValues {
  Value keys, values;
};

/// One causal call of an attention layer. The variables have `length` steps.
struct CachedCall {
  std::string path; // of the layer
  Shape keyShape, valueShape;
  DType dtype;
  Variable keys{}, values{};
};

struct KeyValueState {
  /// Creates the cache of a model. `needed`: its length if neither the arguments nor the model give one.
  static std::shared_ptr<KeyValueState> make(const Model &model, const KeyValueCacheArgs &args,
                                             std::optional<int64_t> needed = {});
  KeyValueState(const Model &model, const KeyValueCacheArgs &args);
  KeyValueState(const KeyValueState &) = delete;

  Model model;
  int64_t batch, length = 0, vocabulary = 0;
  std::optional<DType> dtype;
  std::optional<int64_t> positions; // number of rows of the smallest position table
  std::vector<CachedCall> calls;    // in the order of the model
  Variable position;                // undefined while the calls are being collected
  std::weak_ptr<Trace> trace;       // the trace that last opened the cache
  CompiledFunction program;         // tokens (batch, n): the last logits (batch, vocabulary)
};

/// A cache that is open in one trace.
class OpenCache {
public:
  /// Opens the cache in the current trace until close(). If the state has no position, its calls are collected.
  static std::shared_ptr<OpenCache> open(const std::shared_ptr<KeyValueState> &state);
  void close();
  /// The open cache of the current trace; null if there is none.
  static OpenCache *current();

  /// Appends the new steps of the layer at `path` to the cached steps. Returns all steps, in the dtypes of the new
  /// steps.
  KeysAndValues append(const std::string &path, const KeysAndValues &steps);
  /// The position of the first new step: an int32 scalar.
  Value position() const;
  /// Records a call of a PositionEmbedding with this many positions.
  void place(const Shape &input, int64_t positions);

private:
  OpenCache(std::shared_ptr<KeyValueState> state, std::shared_ptr<Trace> trace);
  void noteSteps(int64_t batch, int64_t steps);
  Value appended(const Variable &cached, const Value &steps) const;
  void finish(Trace &trace) const;

  std::shared_ptr<KeyValueState> state_;
  std::weak_ptr<Trace> trace_;
  OpenCache *outer_;
  size_t next_ = 0; // of the cache's calls
  int64_t steps_ = 0;
};

} // namespace halftone::detail
