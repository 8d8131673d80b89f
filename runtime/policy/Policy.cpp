// Plain dtype policies, and the conversion of strings and arguments to policies.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/policy/PolicyRep.h"
#include <fmt/format.h>
#include <ostream>

using namespace halftone;

std::string DTypePolicy::Rep::repr() const {
  return fmt::format("<{} \"{}\">", isPlain() ? "DTypePolicy" : className, name);
}

Config DTypePolicy::Rep::config() const {
  Config config;
  config.set("name", name);
  return config;
}

std::shared_ptr<PolicyAccess::Rep> PolicyAccess::plain(std::string className, std::string_view name, Where where) {
  DType compute = DType::float32, variable = DType::float32;
  if (name == "mixed_float16") {
    compute = DType::float16;
  } else if (name == "mixed_bfloat16") {
    compute = DType::bfloat16;
  } else {
    try {
      compute = variable = standardize_dtype(name);
    } catch (const Error &) {
      throw Error(ErrorKind::value_error,
                  fmt::format("Cannot convert '{}' to a mixed precision DTypePolicy. Valid policies include "
                              "'mixed_float16', 'mixed_bfloat16', and the name of any float dtype such as 'float32'.",
                              name),
                  "", where);
    }
  }
  return std::make_shared<Rep>(std::move(className), std::string(name), compute, variable);
}

DTypePolicy::DTypePolicy() : DTypePolicy(dtype_policy().name(), {}) {}
DTypePolicy::DTypePolicy(std::string_view name, Where where) : rep_(PolicyAccess::plain("DTypePolicy", name, where)) {}
DTypePolicy::DTypePolicy(const DTypePolicy &) = default;
DTypePolicy &DTypePolicy::operator=(const DTypePolicy &) & = default;
DTypePolicy::~DTypePolicy() = default;

std::string DTypePolicy::name() const { return rep_->name; }
DType DTypePolicy::compute_dtype() const { return rep_->compute; }
DType DTypePolicy::variable_dtype() const { return rep_->variable; }
std::optional<std::string> DTypePolicy::quantization_mode() const { return rep_->quantizationMode(); }
std::string DTypePolicy::class_name() const { return rep_->className; }
std::string DTypePolicy::repr() const { return rep_->repr(); }
Config DTypePolicy::get_config() const { return rep_->config(); }
DTypePolicy DTypePolicy::from_config(const Config &config) { return policyFromConfig("DTypePolicy", config); }

bool halftone::operator==(const DTypePolicy &a, const DTypePolicy &b) {
  const bool sameClass = a.rep_->className == b.rep_->className || (a.rep_->isPlain() && b.rep_->isPlain());
  return sameClass && a.rep_->equals(*b.rep_);
}

FloatDTypePolicy::FloatDTypePolicy() : FloatDTypePolicy(dtype_policy().name(), {}) {}
FloatDTypePolicy::FloatDTypePolicy(std::string_view name, Where where)
    : DTypePolicy(PolicyAccess::plain("FloatDTypePolicy", name, where)) {}

DTypePolicy halftone::policyByString(std::string_view text, Where where) {
  try {
    if (std::optional<DTypePolicy> quantized = quantizedByString(text))
      return *quantized;
    return DTypePolicy(text, {});
  } catch (const Error &error) {
    throw Error(error.kind(), error.message(), error.layer_path(), where);
  }
}

PolicyArg::PolicyArg() noexcept = default;
PolicyArg::PolicyArg(const PolicyArg &) = default;
PolicyArg &PolicyArg::operator=(const PolicyArg &) & = default;
PolicyArg::~PolicyArg() = default;
PolicyArg::PolicyArg(const char *name, Where where) {
  if (name) {
    policy_.emplace(policyByString(name, where));
    text_ = name;
  }
}
PolicyArg::PolicyArg(const std::string &name, Where where) : policy_(policyByString(name, where)), text_(name) {}
PolicyArg::PolicyArg(DType dtype) : policy_(DTypePolicy(halftone::name(dtype))) {}
PolicyArg::PolicyArg(const DTypePolicy &policy) : policy_(policy) {}
DTypePolicy PolicyArg::get() const { return policy_ ? *policy_ : dtype_policy(); }

std::ostream &halftone::operator<<(std::ostream &os, const DTypePolicy &policy) { return os << policy.repr(); }
