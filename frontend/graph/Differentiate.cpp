// The alias of an argument with respect to which grad() and value_and_grad() differentiate.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Differentiate.h"
#include "frontend/graph/Trace.h"
#include "halftone/Error.h"

namespace halftone::detail {

Value alias(const Value &x, Where where) {
  Trace *const trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error,
                "the result of grad() is for functions being traced: jit(grad(f)) computes immediately", {}, where);
  if (!x.defined())
    throw Error(ErrorKind::value_error, "cannot differentiate a function at an undefined Value", {}, where);
  if (!is_float(x.dtype())) // gradient() refuses it
    return x;
  return trace->customGradient(x, {x}, [](const Value &upstream) { return std::vector<Value>{upstream}; });
}

} // namespace halftone::detail
