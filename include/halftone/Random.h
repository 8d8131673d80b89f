// Random numbers in functions being traced, named as in keras.random.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"

namespace halftone::random {

/// A handle of a state of two uint32 words, the seed and the count of draws, which each draw advances on the device. The layer
/// in whose call() it draws first keeps the state among its variables(), so that checkpoints hold it; get_weights() leaves it
/// out. value_error for a seed that is not from 0 to 2^32 - 1.
class HALFTONE_API SeedGenerator {
public:
  SeedGenerator(const std::optional<int64_t> &seed = {}); // none: the next of set_random_seed()'s sequence
  Variable state() const;
  Value next() const; // the present key, uint32 (2,); advances the state

private:
  Variable state_;
};
/// What a draw depends on. A number: the same elements at each run, as in Keras. A SeedGenerator: others at each run. None:
/// a generator of the layer whose call() draws, or else of the function being traced, made at its first draw.
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
  Shape noise_shape{}; // {}: that of x; none in it: x's extent
  Seed seed{};
};
/// Draws are for functions being traced: runtime_error elsewhere, and while a functional model is put together. value_error for
/// an extent of None, a dtype of another kind, an empty range, and bounds or rates that do not fit.
HALFTONE_API Value normal(const Shape &shape, const NormalArgs &args = {});
HALFTONE_API Value truncated_normal(const Shape &shape, const NormalArgs &args = {}); // within two stddev
HALFTONE_API Value uniform(const Shape &shape, const UniformArgs &args = {});         // minval <= v < maxval
HALFTONE_API Value randint(const Shape &shape, int64_t minval, int64_t maxval, const RandintArgs &args = {});
HALFTONE_API Value categorical(const Value &logits, int64_t num_samples,
                               const CategoricalArgs &args = {}); // (batch, n)
/// Each vector of x along the axis in an order of its own.
HALFTONE_API Value shuffle(const Value &x, const ShuffleArgs &args = {});
// Parameters are numbers or Values that broadcast to the shape. No gradient flows to them; for one below 0, and a probability outside of
// 0 to 1, a draw is NaN, and a number is a value_error.
HALFTONE_API Value gamma(const Shape &shape, const Operand &alpha, const DistributionArgs &args = {}); // of scale 1
HALFTONE_API Value beta(const Shape &shape, const Operand &alpha, const Operand &beta,
                        const DistributionArgs &args = {});
/// How many of `counts` trials succeed.
HALFTONE_API Value binomial(const Shape &shape, const Operand &counts, const Operand &probabilities,
                            const DistributionArgs &args = {});
HALFTONE_API Value dropout(const Value &x, double rate, const DropoutArgs &args = {}); // whatever `training` says
} // namespace halftone::random
