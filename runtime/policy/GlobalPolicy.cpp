// The thread's global policy, and the process's floatx.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/base/Floatx.h"
#include "runtime/policy/PolicyRep.h"
#include <fmt/format.h>

using namespace halftone;

static thread_local std::optional<DTypePolicy> current;

DTypePolicy halftone::dtype_policy() {
  if (!current)
    current = DTypePolicy(name(floatx()));
  return *current;
}

std::optional<DTypePolicy> halftone::policyIfSet() { return current; }
void halftone::unsetPolicy() { current.reset(); }
void halftone::set_dtype_policy(const DTypePolicy &policy) { current = policy; }
void halftone::set_dtype_policy(std::string_view name, Where where) { current = policyByString(name, where); }

PolicyScope::PolicyScope(const PolicyArg &policy) : saved_(current) { current = policy.get(); }
PolicyScope::~PolicyScope() { current = saved_; }

std::string halftone::config::floatx() { return std::string(name(halftone::floatx())); }

void halftone::config::set_floatx(std::string_view dtype) {
  for (DType accepted : {DType::bfloat16, DType::float16, DType::float32, DType::float64})
    if (dtype == name(accepted)) {
      setFloatx(accepted);
      return;
    }
  throw Error(ErrorKind::value_error,
              fmt::format("Unknown `floatx` value: {}. Expected one of {{'bfloat16', 'float16', 'float32', 'float64'}}",
                          dtype));
}

double halftone::config::epsilon() { return 1e-7; }
