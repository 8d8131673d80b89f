// Work of the host before a program is played: numbers of strings, which programs never see.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::detail {

/// A tensor of tensors, on the host. Any thread may call it.
using HostFunction = std::function<Tensor(const std::vector<Tensor> &)>;

struct HostCall {
  std::string who; // names the result, and begins errors
  std::vector<Value> inputs;
  ValueSpec result; // None for an extent that only the data tell
  HostFunction compute;
  const void *owner = nullptr; // two calls of one owner on the same inputs are one step
};

/// The result of a call that the host makes before each play of the function being traced: a further feed of its program.
/// not_implemented_error unless each input is a feed of that function.
Value hostStep(const HostCall &call);
/// Refuses an input of a host step that no feed is.
[[noreturn]] void refuseComputed(const std::string &who);

/// The result for these feeds of the function that was traced.
Tensor computeOn(const HostStep &step, const std::vector<Tensor> &feeds);

/// A feed in another shape with as many elements, as host steps see it. For strings, which no op reshapes.
Value feedOfShape(const Value &feed, const Shape &shape);

/// type_error for a Value of strings.
void refuseStrings(const Shape &shape, DType dtype);

/// Whether one of the tensors holds strings.
bool anyStrings(const std::vector<Tensor> &tensors);

} // namespace halftone::detail
