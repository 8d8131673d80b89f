// A small GPT with two causal layers, for tests of the key-value cache and of generate().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/Recorded.h"

namespace halftone::test {

struct TinyGpt {
  const char *policy = "float32";
  bool grouped = false; // GroupQueryAttention in place of MultiHeadAttention
  std::optional<int64_t> window{};
  bool scores = false; // requests the attention weights, though the model does not return them
  int64_t steps = -1;  // the number of steps of the Input
  int64_t length = 16; // the length of PositionEmbedding
  int64_t words = 11;  // the size of the vocabulary
};

inline Value attended(const Value &x, const TinyGpt &how) {
  using namespace layers;
  if (how.grouped)
    return GroupQueryAttention(8, 4, 2, {.sliding_window = how.window, .dtype = how.policy})(x, x,
                                                                                             {.use_causal_mask = true});
  const MultiHeadAttention layer(2, 8, {.value_dim = 6, .sliding_window = how.window, .dtype = how.policy});
  return how.scores ? layer.with_scores(x, x, {.use_causal_mask = true})[0] : layer(x, x, {.use_causal_mask = true});
}

/// Maps tokens (batch, steps) to logits (batch, steps, words). Initialised from seed 5.
inline Model tinyGpt(const TinyGpt &how) {
  using namespace layers;
  set_random_seed(5);
  const Input tokens({how.steps}, {.dtype = int32});
  const PolicyScope scope(how.policy);
  Value x = Embedding(how.words, 16, {.embeddings_initializer = "glorot_normal"})(tokens);
  x = x + PositionEmbedding(how.length)(x);
  for (int i = 0; i < 2; ++i)
    x = x + attended(LayerNormalization()(x), how);
  return Model({tokens}, {Dense(how.words, {.dtype = "float32"})(x)});
}

/// `count` tokens (1, count) of a vocabulary of 11. Longer sequences begin with the shorter ones.
inline Tensor someTokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>((i * i + 3 * i + i / 5) % 11));
  return Tensor(std::move(tokens), {1, count});
}

} // namespace halftone::test
