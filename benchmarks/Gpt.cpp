// The GPT of the timing benchmarks, and its data.
// SPDX-License-Identifier: Apache-2.0
#include "Gpt.h"
#include <random>

namespace halftone::benchmarks {

namespace {

struct Block {
  layers::LayerNormalization first{{.epsilon = 1e-5}}, second{{.epsilon = 1e-5}};
  layers::MultiHeadAttention attention;
  layers::Dense wide, narrow;

  explicit Block(const GptArgs &args)
      : attention(args.heads, args.width / args.heads), wide(4 * args.width, {.activation = "gelu"}),
        narrow(args.width) {}
  Value call(const Value &x) const {
    const Value h = first(x), y = x + attention(h, h, {.use_causal_mask = true});
    return y + narrow(wide(second(y)));
  }
};

} // namespace

Model gpt(const std::string &policy, const GptArgs &args) {
  using namespace layers;
  set_random_seed(1);
  set_dtype_policy(policy);
  const RematScope scope(args.rematerialize);
  const Input tokens({args.length}, {.dtype = int32});
  Value x = Embedding(gptVocabulary, args.width)(tokens);
  x = x + PositionEmbedding(args.length)(x);
  for (int64_t i = 0; i < args.layers; ++i)
    x = Custom(Block(args))(x);
  const Model model({tokens}, {Dense(gptVocabulary)(LayerNormalization({.epsilon = 1e-5})(x))});
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
