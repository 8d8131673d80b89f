// The GPT of the questions about time, and its data.
// SPDX-License-Identifier: Apache-2.0
#include "Gpt.h"
#include <random>

namespace halftone::benchmarks {

Model gpt(const std::string &policy, const GptArgs &args) {
  using namespace layers;
  set_random_seed(1);
  set_dtype_policy(policy);
  const auto normalized = [](const Value &x) { return LayerNormalization({.epsilon = 1e-5})(x); };
  const Input tokens({args.length}, {.dtype = int32});
  Value x = Embedding(gptVocabulary, args.width)(tokens);
  x = x + PositionEmbedding(args.length)(x);
  for (int64_t i = 0; i < args.layers; ++i) {
    const Value h = normalized(x);
    x = x + MultiHeadAttention(args.heads, args.width / args.heads)(h, h, {.use_causal_mask = true});
    x = x + Dense(args.width)(Dense(4 * args.width, {.activation = "gelu"})(normalized(x)));
  }
  const Model model({tokens}, {Dense(gptVocabulary)(normalized(x))});
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::Adam(args.learning_rate),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .numerics = args.numerics});
  return model;
}

Batch texts(int64_t count, int64_t length) {
  std::mt19937 random(7);
  std::vector<int32_t> x, y;
  for (int64_t text = 0; text < count; ++text) {
    auto next = static_cast<int32_t>(random() % gptVocabulary);
    for (int64_t step = 0; step < length; ++step) {
      x.push_back(next);
      next = static_cast<int32_t>(random() % gptVocabulary);
      y.push_back(next);
    }
  }
  return {Tensor(std::move(x), {count, length}), Tensor(std::move(y), {count, length})};
}

} // namespace halftone::benchmarks
