// Texts that a model writes token after token: the cache of its attention layers, and generate().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Model.h"

namespace halftone {
namespace detail {
struct KeyValueState;
class OpenCache;
} // namespace detail

struct KeyValueCacheArgs {
  int64_t batch = 1; // texts that are read side by side
  /// The most tokens of a text; if not given, the places of the model's PositionEmbedding.
  std::optional<int64_t> length{};
  std::optional<DType> dtype{}; // in which keys and values are kept; if not given, that in which a layer computes them
};
/// The keys and values of the tokens that a model has read, for its causal layers MultiHeadAttention and
/// GroupQueryAttention, so that it reads each token once. The model takes tokens (batch, steps) and gives logits (batch,
/// steps, vocabulary). A handle; copies share the cache. The cache keeps no masks of keys.
class HALFTONE_API KeyValueCache {
public:
  /// value_error if the model has no causal attention, its logits have another shape, or its PositionEmbedding has
  /// fewer places than the cache; type_error for a dtype that is no float.
  explicit KeyValueCache(const Model &model, const KeyValueCacheArgs &args = {});
  KeyValueCache(const KeyValueCache &);
  KeyValueCache(KeyValueCache &&) noexcept;
  KeyValueCache &operator=(const KeyValueCache &) &;
  KeyValueCache &operator=(KeyValueCache &&) & noexcept;
  ~KeyValueCache();
  int64_t batch() const;
  int64_t length() const;
  int64_t position() const;   // tokens of each text that have been read
  int64_t vocabulary() const; // the extent of the logits
  /// Reads the next tokens of each text, integers (batch, n), and gives the float32 logits (batch, vocabulary) of the
  /// token behind them. One program reads chunks of 64 tokens, others 16, 4 and 1, whatever the position. value_error,
  /// and nothing is read, for more tokens than the length leaves or for another shape.
  Tensor read(const Tensor &tokens) const;
  void reset() const; // forgets all tokens
  explicit KeyValueCache(std::shared_ptr<detail::KeyValueState> state);
  const std::shared_ptr<detail::KeyValueState> &state() const { return state_; }

private:
  std::shared_ptr<detail::KeyValueState> state_;
};

/// While the scope lives, a function that is being traced reads tokens behind those of the cache: in its one call of
/// the cache's model, causal attention sees the cache's tokens too and adds the new ones, and PositionEmbedding counts
/// from the cache's position. Before each run of the function, value_error if its tokens exceed the length.
class HALFTONE_API CacheScope {
public:
  [[nodiscard]] explicit CacheScope(const KeyValueCache &cache); // runtime_error if nothing is being traced
  ~CacheScope();
  CacheScope(const CacheScope &) = delete;

private:
  std::shared_ptr<detail::OpenCache> open_;
};

struct GenerateArgs {
  int64_t max_new_tokens = 100;
  double temperature = 1.0;       // divides the logits; 0: always the likeliest token
  std::optional<int64_t> top_k{}; // draws among so many likeliest tokens
  std::optional<int64_t> seed{};  // if not given, the next of those that set_random_seed() begins
};
/// The prompt, integers (steps) or (batch, steps), and the tokens that the model writes behind it, one drawn after the
/// other: int32, with as many axes. value_error for an empty prompt, a token outside of the vocabulary, a text longer
/// than the model's PositionEmbedding, and as KeyValueCache(); runtime_error for logits that are NaN.
[[nodiscard]] HALFTONE_API Tensor generate(const Model &model, const Tensor &prompt, const GenerateArgs &args = {});
/// The same with a cache of the model, which forgets what it has read: its programs serve many texts.
[[nodiscard]] HALFTONE_API Tensor generate(const KeyValueCache &cache, const Tensor &prompt,
                                           const GenerateArgs &args = {});
} // namespace halftone
