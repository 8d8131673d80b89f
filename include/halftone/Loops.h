// Loops and branches on Values, named as in keras.ops. Each user function is traced once, for any number of steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Value.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::ops {

struct ScanArgs {
  std::optional<int64_t> length{}; // default: the extent of axis 0 of the xs; required without xs
  bool reverse = false;            // from the last slice to the first
  /// Keras's hint, a positive integer; it has no effect.
  int64_t unroll = 1;
  /// The interval, in steps, at which carries are kept for the backward pass, which recomputes the values between. With
  /// the square root of the length, memory is needed for about twice that many steps. By default the values of all
  /// steps are kept.
  std::optional<int64_t> checkpoint_every{};
};

/// Runs {carry, y} = f(carry, x) on the slices x of the xs along axis 0, in order, and returns the last carry and the
/// ys stacked along axis 0. A carry has the same shape and dtype at each step, and is rounded to the dtype. f may
/// assign variables and capture Values of the enclosing function. value_error if f returns carries of other shapes or
/// dtypes, or another number of them.
HALFTONE_API std::pair<Values, Values>
scan(const std::function<std::pair<Values, Values>(const Values &carry, const Values &x)> &f, const Values &init,
     const Values &xs = {}, const ScanArgs &args = {});

/// Runs carry = f(i, carry) for the int32 scalars i from `lower` to `upper` - 1. With integer bounds the loop has a
/// gradient; with Values, which are int32 scalars, it has none.
HALFTONE_API Values fori_loop(int64_t lower, int64_t upper,
                              const std::function<Values(const Value &i, const Values &carry)> &f, const Values &init);
HALFTONE_API Values fori_loop(const Value &lower, const Value &upper,
                              const std::function<Values(const Value &i, const Values &carry)> &f, const Values &init);

struct WhileLoopArgs {
  std::optional<int64_t> maximum_iterations{};
};
/// Runs vars = body(vars) while cond(vars), a bool scalar, is true. It has no gradient, since the number of steps is
/// not known at compile time.
HALFTONE_API Values while_loop(const std::function<Value(const Values &vars)> &cond,
                               const std::function<Values(const Values &vars)> &body, const Values &vars,
                               const WhileLoopArgs &args = {});

/// Runs true_fn() or false_fn(), depending on a bool scalar. Both must return Values of the same shapes and dtypes.
HALFTONE_API Values cond(const Value &pred, const std::function<Values()> &true_fn,
                         const std::function<Values()> &false_fn);
/// Runs branches[index](operands), and no other branch. `index` is an integer scalar, and is clamped.
HALFTONE_API Values switch_(const Value &index, const std::vector<std::function<Values(const Values &)>> &branches,
                            const Values &operands = {});

/// Applies f to each slice of the xs along axis 0, and stacks the results.
HALFTONE_API Values map(const std::function<Values(const Values &)> &f, const Values &xs);
HALFTONE_API Values vectorized_map(const std::function<Values(const Values &)> &f, const Values &xs);

struct AssociativeScanArgs {
  bool reverse = false;
  int64_t axis = 0;
};
/// Parallel prefix scan of an associative f along an axis: element i combines the elements 0 to i or, in reverse, from
/// the last down to i. f takes and returns Values of many elements along the axis; it is called 2 log2(n) times.
HALFTONE_API Values associative_scan(const std::function<Values(const Values &a, const Values &b)> &f,
                                     const Values &elems, const AssociativeScanArgs &args = {});

} // namespace halftone::ops
