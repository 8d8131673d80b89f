// A GPT as it is trained in questions about time: 6 layers, 384 wide, 6 heads, 256 characters of 65 kinds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <optional>
#include <string>

namespace halftone::benchmarks {

struct GptArgs {
  int64_t layers = 6, width = 384, heads = 6, length = 256;
  double learning_rate = 0; // 0: timed steps do not change the weights
  Numerics numerics = Numerics::fast;
  std::optional<std::string> rematerialize{}; // the mode of the RematScope in which the layers are made
};
constexpr int64_t gptVocabulary = 65;

/// Tokens (batch, length) to logits (batch, length, vocabulary), without dropout. As mlp() it is compiled with Adam,
/// built and initialised from seed 1, under the policy of that name.
Model gpt(const std::string &policy, const GptArgs &args = {});
/// `count` texts (count, length) of int32 tokens, with the tokens that follow; the same ones at each call.
Batch texts(int64_t count, int64_t length = GptArgs().length);

} // namespace halftone::benchmarks
