// Dtype policies: Keras's classes, registry functions and the thread's global policy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Config.h"
#include "DType.h"
#include "Error.h"
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace halftone {
/// An immutable value. Subclasses add constructors and accessors, never data, so copying one into a DTypePolicy
/// keeps its class, and equality is Keras's: class and config, DTypePolicy == FloatDTypePolicy by name. A moved-from
/// policy is a copy. Not hashable, as in Keras.
class HALFTONE_API DTypePolicy {
public:
  DTypePolicy(); // name=None: the global policy's name
  /// value_error "Cannot convert 'X' to a mixed precision DTypePolicy..." at the user's line
  explicit DTypePolicy(std::string_view name, Where where = Where::current());
  DTypePolicy(const DTypePolicy &);
  DTypePolicy &operator=(const DTypePolicy &) &; // no assignment to a temporary
  ~DTypePolicy();
  std::string name() const;
  DType compute_dtype() const;
  DType variable_dtype() const;
  std::optional<std::string> quantization_mode() const;
  std::string class_name() const;
  std::string repr() const; // <DTypePolicy "mixed_float16">
  Config get_config() const;
  static DTypePolicy from_config(const Config &config); // {"name": a name or null}; type_error on anything else
  friend HALFTONE_API bool operator==(const DTypePolicy &, const DTypePolicy &);

protected:
  friend struct PolicyAccess;
  struct Rep;
  explicit DTypePolicy(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}
  std::shared_ptr<Rep> rep_;
};

class HALFTONE_API FloatDTypePolicy : public DTypePolicy {
public:
  FloatDTypePolicy();
  explicit FloatDTypePolicy(std::string_view name, Where where = Where::current());
};

/// Whatever Keras accepts as a layer's dtype argument; routed as dtype_policies.get does. Empty means the global
/// policy.
class HALFTONE_API PolicyArg {
public:
  PolicyArg() noexcept;
  PolicyArg(const PolicyArg &);
  PolicyArg &operator=(const PolicyArg &) &;
  ~PolicyArg();
  PolicyArg(const char *name,
            Where where = Where::current()); // a bad name is reported at the user's line; null is empty
  PolicyArg(const std::string &name, Where where = Where::current());
  PolicyArg(DType dtype); // never read as a quantization mode: int8 is the plain policy
  PolicyArg(const DTypePolicy &policy);
  bool empty() const { return !policy_; }
  DTypePolicy get() const; // the policy, or the global one
private:
  std::optional<DTypePolicy> policy_;
};

/// The thread's policy. While unset, the first read makes it from floatx() and keeps it: later set_floatx calls do not
/// change it.
HALFTONE_API DTypePolicy dtype_policy();
HALFTONE_API void set_dtype_policy(const DTypePolicy &policy);
HALFTONE_API void set_dtype_policy(std::string_view name,
                                   Where where = Where::current()); // routed as dtype_policies::get
/// Sets the thread's policy and restores the old one (or that it was unset); Halftone's addition.
class HALFTONE_API PolicyScope {
public:
  [[nodiscard]] explicit PolicyScope(const PolicyArg &policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope &) = delete;

private:
  std::optional<DTypePolicy> saved_;
};

namespace dtype_policies {
/// A string that starts with a quantization mode is read as "<mode>_from_<source>", so get("int8") is a value_error
/// where DTypePolicy("int8") is not: Keras's rule.
HALFTONE_API DTypePolicy get(const PolicyArg &identifier);
HALFTONE_API DTypePolicy get(const Config &serialized); // value_error without "class_name" or when it is not a policy's
HALFTONE_API Config serialize(const DTypePolicy &policy); // {"module","class_name","config","registered_name"}
HALFTONE_API DTypePolicy deserialize(const Config &config);
} // namespace dtype_policies
namespace mixed_precision { // Keras's other spellings
inline DTypePolicy dtype_policy() { return halftone::dtype_policy(); }
inline DTypePolicy global_policy() { return halftone::dtype_policy(); }
inline void set_dtype_policy(std::string_view name, Where where = Where::current()) {
  halftone::set_dtype_policy(name, where);
}
inline void set_global_policy(std::string_view name, Where where = Where::current()) {
  halftone::set_dtype_policy(name, where);
}
using Policy = halftone::DTypePolicy;
} // namespace mixed_precision
namespace config {
HALFTONE_API std::string floatx();                    // of the process: "float32" at start
HALFTONE_API void set_floatx(std::string_view dtype); // value_error unless bfloat16, float16, float32 or float64
HALFTONE_API double epsilon();                        // 1e-7
} // namespace config
} // namespace halftone
