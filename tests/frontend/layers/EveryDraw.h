// One draw of each kind and dtype, for comparisons across threads, numerics and devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/frontend/Recorded.h"

namespace halftone::test {

inline constexpr const char *drawNames[] = {
    "uniform",         "uniform from 0.1 to 0.7", "uniform float64",  "uniform bfloat16", "uniform float16",
    "randint below 6", "randint of two words",    "randint of three", "dropout",          "dropout of rows",
    "normal",          "normal float64",          "normal float16",   "truncated_normal", "truncated_normal float64",
    "categorical"};
/// The first draws are bit-identical on each device and in each numerics; the others only in strict numerics.
inline constexpr size_t exactDraws = 10;

/// The results of all draws, in the order of their names.
inline std::vector<Tensor> everyDraw(Run run, const Shape &shape) {
  return runOnce(run, {Tensor::ones(shape)}, [](const std::vector<Value> &v) {
    const Shape shape = v[0].shape();
    return std::vector<Value>{
        random::uniform(shape, {.seed = 1}),
        random::uniform(shape, {.minval = 0.1, .maxval = 0.7, .seed = 2}),
        random::uniform(shape, {.minval = -3.1, .maxval = 0.7, .dtype = float64, .seed = 3}),
        random::uniform(shape, {.minval = 0.1, .maxval = 0.7, .dtype = bfloat16, .seed = 4}),
        random::uniform(shape, {.minval = -1, .maxval = 0.7, .dtype = float16, .seed = 5}),
        random::randint(shape, 0, 6, {.seed = 6}),
        random::randint(shape, -70000, 70000, {.seed = 7}),
        random::randint(shape, -3, int64_t{3} << 50, {.dtype = int64, .seed = 8}),
        random::dropout(v[0], 0.3, {.seed = 9}),
        random::dropout(v[0], 0.5, {.noise_shape = {none, 1}, .seed = 10}),
        random::normal(shape, {.mean = 1, .stddev = 2.5, .seed = 11}),
        random::normal(shape, {.dtype = float64, .seed = 12}),
        random::normal(shape, {.dtype = float16, .seed = 13}),
        random::truncated_normal(shape, {.seed = 14}),
        random::truncated_normal(shape, {.dtype = float64, .seed = 15}),
        random::categorical(v[0] * ops::arange(static_cast<int64_t>(shape[1])), 3, {.seed = 16}),
    };
  });
}

} // namespace halftone::test
