// Random number generation in functions being traced, named as in keras.random.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"

namespace halftone::random {

/// A handle of a random state: two uint32 words, the seed and the number of draws, which each draw advances on the
/// device. The layer in whose call() the generator is first used owns the state as one of its variables(), so that
/// checkpoints hold it; get_weights() omits it. value_error unless the seed is from 0 to 2^32 - 1.
class HALFTONE_API SeedGenerator {
public:
  SeedGenerator(const std::optional<int64_t> &seed = {}); // none: the next seed of the sequence of set_random_seed()
  Variable state() const;
  Value next() const; // the current key, uint32 (2,); advances the state

private:
  Variable state_;
};
/// The seed of a draw. An integer gives the same elements at each run, as in Keras; a SeedGenerator gives new ones at
/// each run. Without either, the draw uses a generator of the layer whose call() draws, or else of the function being
/// traced, which is created at its first draw.
class HALFTONE_API Seed {
public:
  Seed() = default;
  template <detail::Whole I> Seed(I number) : number_(detail::whole(number, "a seed")) {}
  Seed(SeedGenerator generator) : generator_(std::move(generator)) {}
  const std::optional<int64_t> &number() const { return number_; }
  const std::optional<SeedGenerator> &generator() const { return generator_; }

private:
  std::optional<int64_t> number_{};
  std::optional<SeedGenerator> generator_{};
};

struct NormalArgs {
  double mean = 0.0, stddev = 1.0;
  std::optional<DType> dtype{}; // floatx
  Seed seed{};
};
struct UniformArgs {
  double minval = 0.0, maxval = 1.0;
  std::optional<DType> dtype{}; // floatx
  Seed seed{};
};
struct RandintArgs {
  DType dtype = int32;
  Seed seed{};
};
struct CategoricalArgs {
  DType dtype = int32;
  Seed seed{};
};
struct ShuffleArgs {
  int64_t axis = 0;
  Seed seed{};
};
struct DistributionArgs {
  std::optional<DType> dtype{}; // floatx
  Seed seed{};
};
struct DropoutArgs {
  Shape noise_shape{}; // {}: the shape of x; an extent of none: that of x
  Seed seed{};
};
/// Draws are allowed only in functions being traced: runtime_error elsewhere, and while a functional model is built.
/// value_error for an extent of None, an unsupported dtype, an empty range, and invalid bounds or rates.
HALFTONE_API Value normal(const Shape &shape, const NormalArgs &args = {});
HALFTONE_API Value truncated_normal(const Shape &shape, const NormalArgs &args = {}); // within two standard deviations
HALFTONE_API Value uniform(const Shape &shape, const UniformArgs &args = {});         // minval <= v < maxval
HALFTONE_API Value randint(const Shape &shape, int64_t minval, int64_t maxval, const RandintArgs &args = {});
HALFTONE_API Value categorical(const Value &logits, int64_t num_samples,
                               const CategoricalArgs &args = {}); // (batch, n)
/// Permutes each vector of x along the axis independently.
HALFTONE_API Value shuffle(const Value &x, const ShuffleArgs &args = {});
// Distribution parameters are numbers or Values that broadcast to the shape. No gradient flows to them. A negative
// parameter, or a probability outside of [0, 1], gives NaN in a Value, and is a value_error as a number.
HALFTONE_API Value gamma(const Shape &shape, const Operand &alpha, const DistributionArgs &args = {}); // with scale 1
HALFTONE_API Value beta(const Shape &shape, const Operand &alpha, const Operand &beta,
                        const DistributionArgs &args = {});
/// The number of successes in `counts` trials.
HALFTONE_API Value binomial(const Shape &shape, const Operand &counts, const Operand &probabilities,
                            const DistributionArgs &args = {});
HALFTONE_API Value dropout(const Value &x, double rate, const DropoutArgs &args = {}); // also outside of training
} // namespace halftone::random
