// Loops and branches on Values, named as in keras.ops: each function of the user's is traced once, however many steps run it.
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
  std::optional<int64_t> length{}; // the extent of axis 0 of the xs if not given; needed without xs
  bool reverse = false;            // from the last slices to the first
  /// Keras's hint. A whole number above 0; the compiler never unrolls.
  int64_t unroll = 1;
  /// The backward pass keeps the carries of every so many steps, and computes the values between them again: with the square root
  /// of the length, memory for about twice as many steps instead of all. All if not given.
  std::optional<int64_t> checkpoint_every{};
};

/// Runs {carry, y} = f(carry, x) on the slices x of the xs along axis 0, one after another. Gives the last carry, and the ys stacked
/// along axis 0. A carry keeps its shape and dtype from step to step, and rounds to the dtype at each. f may assign variables,
/// and read Values of the function around it. value_error if f gives a carry of another shape, dtype or count.
HALFTONE_API std::pair<Values, Values>
scan(const std::function<std::pair<Values, Values>(const Values &carry, const Values &x)> &f, const Values &init,
     const Values &xs = {}, const ScanArgs &args = {});

/// carry = f(i, carry) for the int32 scalars i from `lower` to `upper` - 1. With integers it has a gradient; with Values, which
/// are int32 scalars, it has none.
HALFTONE_API Values fori_loop(int64_t lower, int64_t upper,
                              const std::function<Values(const Value &i, const Values &carry)> &f, const Values &init);
HALFTONE_API Values fori_loop(const Value &lower, const Value &upper,
                              const std::function<Values(const Value &i, const Values &carry)> &f, const Values &init);

struct WhileLoopArgs {
  std::optional<int64_t> maximum_iterations{};
};
/// vars = body(vars) as long as cond(vars), a bool scalar, holds. No gradient: how many steps it takes is not known when it is
/// compiled.
HALFTONE_API Values while_loop(const std::function<Value(const Values &vars)> &cond,
                               const std::function<Values(const Values &vars)> &body, const Values &vars,
                               const WhileLoopArgs &args = {});

/// true_fn() or false_fn(), by a bool scalar; only one runs. Both give Values of the same shapes and dtypes.
HALFTONE_API Values cond(const Value &pred, const std::function<Values()> &true_fn,
                         const std::function<Values()> &false_fn);
/// branches[index](operands), by an integer scalar, which is clamped. Only that branch runs.
HALFTONE_API Values switch_(const Value &index, const std::vector<std::function<Values(const Values &)>> &branches,
                            const Values &operands = {});

/// f of each slice of the xs along axis 0, stacked.
HALFTONE_API Values map(const std::function<Values(const Values &)> &f, const Values &xs);
HALFTONE_API Values vectorized_map(const std::function<Values(const Values &)> &f, const Values &xs);

struct AssociativeScanArgs {
  bool reverse = false;
  int64_t axis = 0;
};
/// All partial results of an associative f along an axis: element i is f of elements 0 to i or, in reverse, of the last element
/// to i. f gets and gives Values of many elements along the axis at once; it is called 2 log2(n) times.
HALFTONE_API Values associative_scan(const std::function<Values(const Values &a, const Values &b)> &f,
                                     const Values &elems, const AssociativeScanArgs &args = {});

} // namespace halftone::ops
