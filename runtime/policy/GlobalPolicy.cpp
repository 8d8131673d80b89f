// The thread's global policy, and the process's floatx.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/base/Floatx.h"
#include "runtime/base/PerThread.h"
#include "runtime/policy/PolicyRep.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

using namespace halftone;

static constexpr std::array floatxDTypes{DType::bfloat16, DType::float16, DType::float32, DType::float64};

static thread_local PerThread<std::optional<DTypePolicy>> current;
static thread_local uint64_t currentId = 0; // of the current policy
static thread_local bool wasRead = false;

static uint64_t idOf(const std::string &identity) {
  return static_cast<uint64_t>(std::hash<std::string>()(identity)) | 1; // never 0
}

static void setCurrent(const std::optional<DTypePolicy> &policy) {
  currentId = policy ? idOf(PolicyAccess::rep(*policy).identity()) : 0;
  *current = policy;
}

DTypePolicy halftone::dtype_policy() {
  wasRead = true;
  if (!*current)
    setCurrent(DTypePolicy(name(floatx())));
  return **current;
}

std::optional<DTypePolicy> halftone::policyIfSet() {
  wasRead = true;
  return *current;
}
void halftone::unsetPolicy() { setCurrent(std::nullopt); }
void halftone::set_dtype_policy(const DTypePolicy &policy) { setCurrent(policy); }
void halftone::set_dtype_policy(std::string_view name, Where where) { setCurrent(policyByString(name, where)); }

uint64_t halftone::globalPolicyId() {
  static const std::array<uint64_t, 4> ofFloatx = [] {
    std::array<uint64_t, 4> ids{};
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = idOf(PolicyAccess::plain("DTypePolicy", name(floatxDTypes[i]))->identity());
    return ids;
  }();
  if (*current)
    return currentId;
  return ofFloatx[static_cast<size_t>(std::ranges::find(floatxDTypes, floatx()) - floatxDTypes.begin())];
}

PolicyReads::PolicyReads() : outer_(wasRead) { wasRead = false; }
PolicyReads::~PolicyReads() { wasRead |= outer_; }
bool PolicyReads::any() const { return wasRead; }

PolicyScope::PolicyScope(const PolicyArg &policy) : saved_(*current) { setCurrent(policy.get()); }
PolicyScope::~PolicyScope() { setCurrent(saved_); }

std::string halftone::config::floatx() { return std::string(name(halftone::floatx())); }

void halftone::config::set_floatx(std::string_view dtype) {
  for (DType accepted : floatxDTypes)
    if (dtype == name(accepted)) {
      setFloatx(accepted);
      return;
    }
  throw Error(ErrorKind::value_error,
              fmt::format("Unknown `floatx` value: {}. Expected one of {{'bfloat16', 'float16', 'float32', 'float64'}}",
                          dtype));
}

double halftone::config::epsilon() { return 1e-7; }
