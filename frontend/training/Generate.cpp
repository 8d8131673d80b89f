// Generates text with a model: processes the prompt, then samples tokens one by one from the logits.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Generate.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/layers/KeyValueCache.h"
#include "halftone/Jit.h"
#include "halftone/Ops.h"
#include "runtime/base/FloatMode.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <random>

namespace halftone {
using namespace detail;

namespace {

constexpr int64_t lengthStep =
    64; // for caches that no PositionEmbedding limits, so that texts of similar length share code

/// Samples tokens, identically on every machine.
class Sampler {
public:
  Sampler(const GenerateArgs &args, int64_t vocabulary)
      : temperature_(args.temperature), engine_(static_cast<uint64_t>(args.seed.value_or(nextSeed()))) {
    if (args.top_k && *args.top_k < vocabulary)
      likeliest_ = jit([most = *args.top_k](const Value &logits) { return ops::top_k(logits, most); });
  }

  /// Draws one token per row.
  std::vector<int32_t> draw(const Tensor &logits) {
    std::vector<int32_t> drawn;
    for (const std::vector<Candidate> &row : candidatesOf(logits))
      drawn.push_back(drawOne(row));
    return drawn;
  }

private:
  struct Candidate {
    int32_t token;
    float logit;
  };

  /// The candidates of each row, in token order.
  std::vector<std::vector<Candidate>> candidatesOf(const Tensor &logits) {
    const auto [values, tokens] = likeliest_ ? (*likeliest_)(logits) : std::array{logits, Tensor()};
    const std::vector<float> numbers = values.to_vector<float>();
    const std::vector<int32_t> names = likeliest_ ? tokens.to_vector<int32_t>() : std::vector<int32_t>();
    const auto width = static_cast<size_t>(values.shape()[-1]);
    std::vector<std::vector<Candidate>> rows(numbers.size() / width);
    for (size_t at = 0; at < numbers.size(); ++at)
      rows[at / width].push_back({likeliest_ ? names[at] : static_cast<int32_t>(at % width), numbers[at]});
    for (std::vector<Candidate> &row : rows)
      std::ranges::sort(row, {}, &Candidate::token);
    return rows;
  }

  int32_t drawOne(const std::vector<Candidate> &row) {
    if (std::ranges::any_of(row, [](const Candidate &each) { return std::isnan(each.logit); }))
      throw Error(ErrorKind::runtime_error, "generate: the model's logits are NaN");
    const Candidate greatest = *std::ranges::max_element(row, {}, &Candidate::logit);
    const double top = greatest.logit;
    if (temperature_ == 0.0 || std::isinf(top))
      return greatest.token;
    std::vector<double> sums;
    double sum = 0.0;
    for (const Candidate &each : row)
      sums.push_back(sum += std::exp((each.logit - top) / temperature_));
    const double position = static_cast<double>(engine_() >> 11) * 0x1p-53 * sum; // below sum, or equal by rounding
    const auto found = std::ranges::upper_bound(sums, position);
    return row[static_cast<size_t>(std::min(found, sums.end() - 1) - sums.begin())].token;
  }

  double temperature_;
  std::optional<Jitted<std::array<Value, 2>, const Value &>> likeliest_; // none: all tokens
  std::mt19937_64 engine_;
};

[[noreturn]] void refuse(const std::string &message) { throw Error(ErrorKind::value_error, "generate: " + message); }

void checkArguments(const Tensor &prompt, const GenerateArgs &args) {
  const auto isPrompt = [](const Shape &shape) {
    return (shape.rank() == 1 || shape.rank() == 2) && shape.elements() > 0;
  };
  if (!prompt.defined() || is_float(prompt.dtype()) || !isPrompt(prompt.shape()))
    refuse(fmt::format(
        "the prompt must be integers of shape (steps) or (batch, steps), with at least one token. Received: {}",
        described(prompt)));
  if (args.max_new_tokens < 0)
    refuse(fmt::format("max_new_tokens must not be negative. Received: {}", args.max_new_tokens));
  if (!(args.temperature >= 0.0) || std::isinf(args.temperature))
    refuse(fmt::format("temperature must be finite and at least 0. Received: {}", args.temperature));
  if (args.top_k && *args.top_k < 1)
    refuse(fmt::format("top_k must be at least 1. Received: {}", *args.top_k));
}

int64_t batchOf(const Tensor &prompt) { return prompt.shape().rank() == 2 ? prompt.shape()[0] : 1; }
/// The cache length. The last new token is not processed.
int64_t lengthOf(const Tensor &prompt, const GenerateArgs &args) {
  return prompt.shape()[-1] + std::max<int64_t>(args.max_new_tokens - 1, 0);
}

void checkFit(const KeyValueCache &cache, const Tensor &prompt, const GenerateArgs &args) {
  if (batchOf(prompt) != cache.batch())
    refuse(fmt::format("the prompt has {} texts, but the key-value cache is for {}", batchOf(prompt), cache.batch()));
  const std::vector<int64_t> tokens = prompt.astype(DType::int64).to_vector<int64_t>();
  const auto isUnknown = [&](int64_t token) { return token < 0 || token >= cache.vocabulary(); };
  if (const auto found = std::ranges::find_if(tokens, isUnknown); found != tokens.end())
    refuse(fmt::format("the token {} at index {} of the prompt is not in the vocabulary of {} tokens", *found,
                       (found - tokens.begin()) % prompt.shape()[-1], cache.vocabulary()));
  if (lengthOf(prompt, args) > cache.length())
    refuse(fmt::format("a prompt of {} tokens and {} new ones exceed the {} positions of the key-value cache",
                       prompt.shape()[-1], args.max_new_tokens, cache.length()));
}

/// `texts` (batch, steps) with the new tokens. The cache processes all but the last of them.
Tensor written(const KeyValueCache &cache, const Tensor &texts, const GenerateArgs &args) {
  const int64_t batch = cache.batch(), given = texts.shape()[1], all = given + args.max_new_tokens;
  std::vector<int32_t> result(static_cast<size_t>(batch * all));
  const std::vector<int32_t> prompt = texts.to_vector<int32_t>();
  for (int64_t text = 0; text < batch; ++text)
    std::copy_n(prompt.begin() + text * given, given, result.begin() + text * all);
  Sampler sampler(args, cache.vocabulary());
  Tensor next = texts;
  for (int64_t step = given; step < all; ++step) {
    std::vector<int32_t> drawn = sampler.draw(cache.read(next));
    for (int64_t text = 0; text < batch; ++text)
      result[static_cast<size_t>(text * all + step)] = drawn[static_cast<size_t>(text)];
    next = Tensor(std::move(drawn), {batch, 1});
  }
  return Tensor(std::move(result), {batch, all});
}

} // namespace

Tensor generate(const KeyValueCache &cache, const Tensor &prompt, const GenerateArgs &args) {
  checkArguments(prompt, args);
  checkFit(cache, prompt, args);
  const FloatMode mode;
  cache.reset();
  const Tensor texts = prompt.astype(DType::int32).reshape({cache.batch(), prompt.shape()[-1]});
  const Tensor result = written(cache, texts, args);
  return prompt.shape().rank() == 1 ? result.reshape({result.shape()[1]}) : result;
}

Tensor generate(const Model &model, const Tensor &prompt, const GenerateArgs &args) {
  checkArguments(prompt, args);
  const int64_t needed = (lengthOf(prompt, args) + lengthStep - 1) / lengthStep * lengthStep;
  return generate(KeyValueCache(KeyValueState::make(model, {.batch = batchOf(prompt)}, needed)), prompt, args);
}

} // namespace halftone
