// Random draws in traced functions, named as in keras.random, and the generators that they advance.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Random.h"
#include "frontend/base/RandomRules.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/RandomDistributions.h"
#include "frontend/layers/RandomNumbers.h"
#include "frontend/layers/SeedState.h"
#include <fmt/format.h>
#include <limits>

namespace halftone::random {
using namespace detail;

namespace {

/// runtime_error outside of a trace, also while a functional model is constructed (`x` is symbolic).
void requireTrace(std::string_view caller, const Value *x = nullptr) {
  if (Trace::current() && (!x || !x->defined() || x->node()->isTraced()))
    return;
  throw Error(
      ErrorKind::runtime_error,
      fmt::format(
          "{} can draw only while a function is traced. Draw in the call() of a Custom layer, which a functional "
          "model calls at each run, or in a jit function; Tensor::normal(), Tensor::uniform() and "
          "Tensor::randint() draw immediately",
          caller));
}

/// The state of draws without a seed: that of the layer being called, otherwise that of the traced function. Undefined
/// in a trace that only infers shapes.
Variable stateWithoutSeed() {
  if (LayerImpl *layer = calledLayer())
    return ownSeedState(*layer);
  const std::shared_ptr<Variable> generator = tracing().generator;
  if (generator && !generator->defined()) {
    CallTransaction::onFailure([generator, seeds = seedSequence()] {
      *generator = {};
      setSeedSequence(seeds);
    });
    *generator = makeSeedState({static_cast<uint32_t>(nextSeed()), 0});
  }
  return generator ? *generator : Variable();
}

Value keyOf(std::string_view caller, const Seed &seed) {
  if (seed.number())
    return fixedKey(keyOfSeed(caller, seed.number()));
  if (seed.generator())
    return seed.generator()->next();
  const Variable state = stateWithoutSeed();
  return state.defined() ? nextKey(state) : fixedKey({});
}

/// Scales and shifts numbers with mean 0 and standard deviation 1, for random::normal() and truncated_normal().
Value shifted(const Value &drawn, const NormalArgs &args, DType dtype) {
  Value x = args.stddev == 1.0 ? drawn : drawn * args.stddev;
  if (args.mean != 0.0)
    x = x + args.mean;
  return asDtype(x, dtype, "random");
}

/// The noise shape of random::dropout().
Shape shapeOfNoise(const Value &x, const Shape &given) {
  if (given.rank() == 0)
    return x.shape();
  std::vector<int64_t> dims = given.dims();
  const auto refuse = [&] {
    throw Error(ErrorKind::value_error,
                fmt::format("random::dropout() needs a `noise_shape` that broadcasts to the shape of x. Received: "
                            "noise_shape={}, x.shape={}",
                            given.str(), x.shape().str()));
  };
  if (given.rank() > x.rank())
    refuse();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0) // as in Keras, the extent of the axis of x with this index
      dims[axis] = x.shape()[static_cast<int64_t>(axis)];
    const int64_t extent = x.shape()[static_cast<int64_t>(axis) + x.rank() - given.rank()];
    if (dims[axis] != extent && dims[axis] != 1)
      refuse();
  }
  return Shape(std::move(dims));
}

} // namespace

SeedGenerator::SeedGenerator(const std::optional<int64_t> &seed)
    : state_(makeSeedState(keyOfSeed("random::SeedGenerator()", seed))) {}
Variable SeedGenerator::state() const { return state_; }
Value SeedGenerator::next() const {
  requireTrace("SeedGenerator::next()");
  if (LayerImpl *layer = calledLayer())
    keepSeedState(*layer, state_);
  return nextKey(state_);
}

Value normal(const Shape &shape, const NormalArgs &args) {
  constexpr const char *caller = "random::normal()";
  requireTrace(caller);
  const DType dtype = args.dtype.value_or(floatxDtype());
  requireFloat("random::normal", dtype);
  requireExtents(caller, shape);
  return shifted(detail::normal(keyOf(caller, args.seed), shape, atLeastFloat32(dtype)), args, dtype);
}

Value truncated_normal(const Shape &shape, const NormalArgs &args) {
  constexpr const char *caller = "random::truncated_normal()";
  requireTrace(caller);
  const DType dtype = args.dtype.value_or(floatxDtype());
  requireFloat("random::truncated_normal", dtype);
  requireExtents(caller, shape);
  return shifted(truncatedNormal(keyOf(caller, args.seed), shape, atLeastFloat32(dtype)), args, dtype);
}

Value uniform(const Shape &shape, const UniformArgs &args) {
  constexpr const char *caller = "random::uniform()";
  requireTrace(caller);
  const DType dtype = args.dtype.value_or(floatxDtype());
  const UniformRule rule = uniformRule("random::uniform", args.minval, args.maxval, dtype);
  requireExtents(caller, shape);
  Value v = detail::uniform(keyOf(caller, args.seed), shape, 0.0, rule.computed);
  if (rule.scale != 1.0)
    v = v * rule.scale;
  if (rule.needsMinimum)
    v = ops::minimum(v, rule.scale);
  if (rule.offset != 0.0)
    v = v + rule.offset;
  if (rule.factor != 1.0)
    v = v * rule.factor;
  if (rule.needsLowest)
    v = ops::maximum(v, rule.lowest);
  if (rule.needsHighest)
    v = ops::minimum(v, rule.highest);
  return asDtype(v, dtype, "random");
}

Value randint(const Shape &shape, int64_t minval, int64_t maxval, const RandintArgs &args) {
  constexpr const char *caller = "random::randint()";
  requireTrace(caller);
  const RandintRule rule = randintRule("random::randint", minval, maxval, args.dtype);
  requireExtents(caller, shape);
  const Value key = keyOf(caller, args.seed);
  const auto word = [&](uint32_t stream) { return asDtype(randomWords(key, shape, stream), DType::uint64, "random"); };
  const auto upper = [](const Value &x) { return ops::right_shift(x, 32); };
  const auto lower = [](const Value &x) { return x & 0xFFFFFFFFu; };
  Value v = rule.words == 1   ? upper(word(0) * rule.range)
            : rule.words == 2 ? scaledWords(word(0), word(1), rule.range, upper)
                              : scaledWords(word(0), word(1), word(2), rule.range, upper, lower);
  if (minval != 0)
    v = v + static_cast<uint64_t>(minval); // wraps
  return asDtype(v, args.dtype, "random");
}

Value categorical(const Value &logits, int64_t num_samples, const CategoricalArgs &args) {
  constexpr const char *caller = "random::categorical()";
  requireTrace(caller, &logits);
  if (!logits.defined() || logits.rank() != 2)
    throw Error(ErrorKind::value_error,
                fmt::format("`logits` should be a 2-D tensor with shape [batch_size, num_classes]. Received: logits={}",
                            logits.defined() ? logits.shape().str() : "an undefined Value"));
  if (!is_float(logits.dtype()))
    throw Error(ErrorKind::value_error,
                fmt::format("{} needs `logits` of a float dtype. Received: {}", caller, name(logits.dtype())));
  const int64_t batch = logits.shape()[0], classes = logits.shape()[1];
  if (num_samples < 0)
    throw Error(ErrorKind::value_error,
                fmt::format("{} needs a number of samples. Received: num_samples={}", caller, num_samples));
  if (classes == 0)
    throw Error(ErrorKind::value_error,
                fmt::format("{} needs at least one class. Received: logits of shape {}", caller, logits.shape().str()));
  const Value noise = asDtype(gumbel(keyOf(caller, args.seed), {batch, num_samples, classes}),
                              atLeastFloat32(logits.dtype()), "random");
  const Value scores = ops::expand_dims(asDtype(logits, noise.dtype(), "random"), 1) + noise;
  return ops::cast(ops::argmax(scores, -1), args.dtype);
}

Value shuffle(const Value &x, const ShuffleArgs &args) {
  constexpr const char *caller = "random::shuffle()";
  requireTrace(caller, &x);
  if (!x.defined())
    throw Error(ErrorKind::value_error, "an undefined Value was given to random::shuffle()");
  const int64_t axis = normalizeAxis("random::shuffle", args.axis, x.rank());
  const Value words = randomWords(keyOf(caller, args.seed), x.shape());
  return x.shape().elements() == 0 ? x : ops::take_along_axis(x, ops::argsort(words, axis), axis);
}

namespace {

/// The parameters of a draw, broadcast to its shape, in float32 at least.
Value parameterOf(std::string_view caller, const char *parameter, const Operand &given, const Shape &shape, DType dtype,
                  double most = std::numeric_limits<double>::infinity()) {
  if (given.is_number()) {
    const double number = given.number().real();
    if (!(number >= 0.0 && number <= most))
      throw Error(ErrorKind::value_error,
                  fmt::format("{} needs {} from 0 to {}. Received: {}={}", caller, parameter, most, parameter, number));
    return tracing().splat(number, shape, atLeastFloat32(dtype));
  }
  return broadcastTo(ops::stop_gradient(asDtype(asFloat(given.value()), atLeastFloat32(dtype), "random")), shape);
}

/// The dtype of rejection sampling.
DType distributionDtype(const char *caller, const Shape &shape, const DistributionArgs &args) {
  requireTrace(caller);
  const DType dtype = args.dtype.value_or(floatxDtype());
  requireFloat(caller, dtype);
  requireExtents(caller, shape);
  return dtype;
}

} // namespace

Value gamma(const Shape &shape, const Operand &alpha, const DistributionArgs &args) {
  constexpr const char *caller = "random::gamma()";
  const DType dtype = distributionDtype(caller, shape, args);
  const Value shaped = parameterOf(caller, "alpha", alpha, shape, dtype);
  const GammaDraw draw = gammaDraw(keyOf(caller, args.seed), shaped);
  return asDtype(draw.base * ops::exp(draw.logarithm), dtype, "random");
}

Value beta(const Shape &shape, const Operand &alpha, const Operand &beta, const DistributionArgs &args) {
  constexpr const char *caller = "random::beta()";
  const DType dtype = distributionDtype(caller, shape, args);
  const Value first = parameterOf(caller, "alpha", alpha, shape, dtype),
              second = parameterOf(caller, "beta", beta, shape, dtype);
  return asDtype(betaDraw(keyOf(caller, args.seed), first, second), dtype, "random");
}

Value binomial(const Shape &shape, const Operand &counts, const Operand &probabilities, const DistributionArgs &args) {
  constexpr const char *caller = "random::binomial()";
  const DType dtype = distributionDtype(caller, shape, args);
  const Value n = parameterOf(caller, "counts", counts, shape, dtype),
              p = parameterOf(caller, "probabilities", probabilities, shape, dtype, 1.0);
  return asDtype(binomialDraw(keyOf(caller, args.seed), n, p), dtype, "random");
}

Value dropout(const Value &x, double rate, const DropoutArgs &args) {
  constexpr const char *caller = "random::dropout()";
  requireTrace(caller, &x);
  if (!x.defined())
    throw Error(ErrorKind::value_error, "an undefined Value was given to random::dropout()");
  if (!is_float(x.dtype()))
    throw Error(ErrorKind::type_error, fmt::format("{} needs floats. Received: {}", caller, name(x.dtype())));
  if (!(rate >= 0.0 && rate <= 1.0))
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                            "Received: rate={}",
                            rate));
  const Shape noise = shapeOfNoise(x, args.noise_shape);
  if (rate == 0.0)
    return x;
  if (rate == 1.0)
    return ops::zeros_like(x);
  return dropped(x, rate, noise, keyOf(caller, args.seed));
}

} // namespace halftone::random
