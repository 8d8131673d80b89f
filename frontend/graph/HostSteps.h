// Host work before a program runs, such as converting strings to numbers, since programs never see strings.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A host function from tensors to a tensor. Any thread may call it.
using HostFunction = std::function<Tensor(const std::vector<Tensor> &)>;

struct HostCall {
  std::string caller; // names the result, and begins errors
  std::vector<Value> inputs;
  ValueSpec result; // None for a data-dependent extent
  HostFunction compute;
  const void *owner = nullptr; // calls with the same owner and inputs are one step
};

/// The result of a call that the host makes before each run of the traced function; it becomes an additional feed of
/// the program. not_implemented_error unless each input is a feed of that function.
Value hostStep(const HostCall &call);
/// Throws for an input of a host step that is not a feed.
[[noreturn]] void refuseComputed(const std::string &caller);

/// Runs the step on these feeds of the traced function.
Tensor computeOn(const HostStep &step, const std::vector<Tensor> &feeds);

/// Reshapes a feed for host steps, keeping the number of elements. Used for strings, which no op can reshape.
Value feedOfShape(const Value &feed, const Shape &shape);

/// type_error for a Value of strings.
void refuseStrings(const Shape &shape, DType dtype);

/// Returns true if any of the tensors holds strings.
bool anyStrings(const std::vector<Tensor> &tensors);

} // namespace halftone::detail
