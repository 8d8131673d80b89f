// The GPT of the timing benchmarks: 6 layers of width 384, 6 heads, 256 tokens of a vocabulary of 65 characters.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <optional>
#include <string>

namespace halftone::benchmarks {

struct GptArgs {
  int64_t layers = 6, width = 384, heads = 6, length = 256;
  double learning_rate = 0; // 0: timed steps leave the weights unchanged
  Numerics numerics = Numerics::fast;
  std::optional<std::string> rematerialize{}; // mode of the RematScope around the layers
};
constexpr int64_t gptVocabulary = 65;

/// Maps tokens (batch, length) to logits (batch, length, vocabulary), without dropout. Like mlp(), it is compiled with
/// Adam, built, and initialized from seed 1, under the policy of that name.
Model gpt(const std::string &policy, const GptArgs &args = {});
/// `count` texts (count, length) of int32 tokens, with the next tokens as targets; the same ones on each call.
Batch texts(int64_t count, int64_t length = GptArgs().length);

} // namespace halftone::benchmarks
