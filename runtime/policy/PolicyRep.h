// The state behind a dtype policy; one subclass per class with its own config or behavior.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Policy.h"
#include <memory>
#include <optional>
#include <string>

namespace halftone {

/// Immutable after construction, except for maps.
struct DTypePolicy::Rep {
  Rep(std::string className, std::string name, DType compute, DType variable)
      : className(std::move(className)), name(std::move(name)), compute(compute), variable(variable) {}
  virtual ~Rep() = default;
  virtual std::optional<std::string> quantizationMode() const { return std::nullopt; }
  virtual std::string repr() const;
  /// A string that two policies share only if programs need not distinguish them.
  virtual std::string identity() const { return className + " " + name; }
  virtual Config config() const;
  /// Keras's ==. Called only if both may have the same class.
  virtual bool equals(const Rep &other) const { return name == other.name; }
  bool isPlain() const { return className == "DTypePolicy" || className == "FloatDTypePolicy"; }

  const std::string className, name;
  const DType compute, variable;
};

/// The constructor arguments of a quantized policy.
struct QuantizedPolicyArgs {
  std::string mode;
  std::optional<std::string> sourceName{};    // absent: the name of the global policy
  std::optional<int64_t> amaxHistoryLength{}; // of QuantizedFloat8DTypePolicy
};

struct PolicyAccess {
  using Rep = DTypePolicy::Rep;
  static std::shared_ptr<Rep> plain(std::string className, std::string_view name, Where where = {});
  static std::shared_ptr<Rep> quantized(const std::string &className, const QuantizedPolicyArgs &args,
                                        Where where = {});
  /// Creates a map from Keras's config {"default_policy", "policy_map"}.
  static std::shared_ptr<Rep> map(const Config &config);
  static DTypePolicy make(std::shared_ptr<Rep> rep) { return DTypePolicy(std::move(rep)); }
  static const Rep &rep(const DTypePolicy &policy) { return *policy.rep_; }
  static const std::shared_ptr<Rep> &handle(const DTypePolicy &policy) { return policy.rep_; }
  /// Replaces an entry of a map and moves it to the end. value_error as of DTypePolicyMap::insert, except that the key
  /// may exist.
  static void replace(const DTypePolicyMap &map, const std::string &key, const DTypePolicy &policy);
  /// While the result lives, the map refuses edits that give `path` another quantization mode. Used by layers whose
  /// weights are quantized.
  [[nodiscard]] static std::shared_ptr<const void> holdMode(const DTypePolicyMap &map, const std::string &path,
                                                            const std::string &mode);
  static const std::optional<std::string> &text(const PolicyArg &argument) { return argument.text_; }
};

/// policyIfSet() returns the thread's global policy and creates none. unsetPolicy() removes it.
std::optional<DTypePolicy> policyIfSet();
void unsetPolicy();

/// An id of the thread's global policy, or of the policy that it would get at the first read. Equal for policies with
/// the same identity(), never 0.
uint64_t globalPolicyId();

/// Records, while it lives, whether this thread reads its global policy.
class PolicyReads {
public:
  PolicyReads();
  ~PolicyReads();
  PolicyReads(const PolicyReads &) = delete;
  bool any() const;

private:
  bool outer_;
};

/// dtype_policies.get for a string. Errors carry `where` if it is known.
DTypePolicy policyByString(std::string_view text, Where where = {});

/// The policy of "<mode>_from_<source>", for a string that starts with a mode; nullopt for other strings.
std::optional<DTypePolicy> quantizedByString(std::string_view text);

/// Keras's from_config of the class. value_error if the class is not a policy, type_error if the config does not fit
/// the class.
DTypePolicy policyFromConfig(const std::string &className, const Config &config);

} // namespace halftone
