// Dtype policies: Keras's classes, registry functions and the thread's global policy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Config.h"
#include "DType.h"
#include "Error.h"
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone {
class DTypePolicyMap;

/// A dtype policy, an immutable value. Subclasses add constructors and accessors, but no data, so a copy into a
/// DTypePolicy keeps its class. Equality is Keras's: by class and config, and by name between DTypePolicy and
/// FloatDTypePolicy. A moved-from policy remains valid. Not hashable, as in Keras.
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
  static DTypePolicy from_config(const Config &config); // {"name": a name or null}; type_error for anything else
  std::optional<DTypePolicyMap> as_map() const;         // the same map, not a copy; nullopt if this policy is not a map
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
  static FloatDTypePolicy from_config(const Config &config);

private:
  explicit FloatDTypePolicy(std::shared_ptr<Rep> rep) : DTypePolicy(std::move(rep)) {}
};

/// The policy "<mode>_from_<source>": the dtypes of the source, and a quantization mode. The source defaults to the
/// global policy. value_error for an unknown mode, an invalid source, and int8 over a source that computes in float16.
class HALFTONE_API QuantizedDTypePolicy : public DTypePolicy {
public:
  /// int8, float8, int4, gptq or awq
  explicit QuantizedDTypePolicy(std::string_view mode, std::optional<std::string> source_name = std::nullopt,
                                Where where = Where::current());
  static QuantizedDTypePolicy from_config(const Config &config);

protected:
  explicit QuantizedDTypePolicy(std::shared_ptr<Rep> rep) : DTypePolicy(std::move(rep)) {}
};

class HALFTONE_API QuantizedFloat8DTypePolicy : public QuantizedDTypePolicy {
public:
  static constexpr int64_t default_amax_history_length = 1024;
  explicit QuantizedFloat8DTypePolicy(std::string_view mode, std::optional<std::string> source_name = std::nullopt,
                                      Where where = Where::current());
  /// A length that is not an integer, a TypeError in Keras, does not compile. value_error for a length below 1.
  template <std::integral I>
  QuantizedFloat8DTypePolicy(std::string_view mode, std::optional<std::string> source_name, I amax_history_length,
                             Where where = Where::current())
      : QuantizedFloat8DTypePolicy(static_cast<int64_t>(amax_history_length), mode, std::move(source_name), where) {}
  int64_t amax_history_length() const;
  static QuantizedFloat8DTypePolicy from_config(const Config &config);

private:
  explicit QuantizedFloat8DTypePolicy(std::shared_ptr<Rep> rep) : QuantizedDTypePolicy(std::move(rep)) {}
  QuantizedFloat8DTypePolicy(int64_t length, std::string_view mode, std::optional<std::string> source_name,
                             Where where);
};

/// "int4/<block_size>": a positive block size, or -1 for one scale per channel.
class HALFTONE_API Int4DTypePolicy : public QuantizedDTypePolicy {
public:
  explicit Int4DTypePolicy(std::string_view mode, std::optional<std::string> source_name = std::nullopt,
                           Where where = Where::current());
  int64_t block_size() const; // -1: one scale per channel
  static Int4DTypePolicy from_config(const Config &config);

private:
  explicit Int4DTypePolicy(std::shared_ptr<Rep> rep) : QuantizedDTypePolicy(std::move(rep)) {}
};

/// "gptq/<weight_bits>/<group_size>": 2, 3, 4 or 8 bits; a positive group size, or -1 for the whole tensor.
class HALFTONE_API GPTQDTypePolicy : public QuantizedDTypePolicy {
public:
  explicit GPTQDTypePolicy(std::string_view mode, std::optional<std::string> source_name = std::nullopt,
                           Where where = Where::current());
  int64_t weight_bits() const;
  int64_t group_size() const;
  static GPTQDTypePolicy from_config(const Config &config);

private:
  explicit GPTQDTypePolicy(std::shared_ptr<Rep> rep) : QuantizedDTypePolicy(std::move(rep)) {}
};

/// "awq/4/<group_size>": a positive group size, or -1 for one scale per channel.
class HALFTONE_API AWQDTypePolicy : public QuantizedDTypePolicy {
public:
  explicit AWQDTypePolicy(std::string_view mode, std::optional<std::string> source_name = std::nullopt,
                          Where where = Where::current());
  int64_t weight_bits() const; // 4
  int64_t group_size() const;
  static AWQDTypePolicy from_config(const Config &config);

private:
  explicit AWQDTypePolicy(std::shared_ptr<Rep> rep) : QuantizedDTypePolicy(std::move(rep)) {}
};

/// Any value that Keras accepts as the dtype argument of a layer, interpreted as by dtype_policies.get. Empty: the
/// global policy.
class HALFTONE_API PolicyArg {
public:
  PolicyArg() noexcept;
  PolicyArg(const PolicyArg &);
  PolicyArg &operator=(const PolicyArg &) &;
  ~PolicyArg();
  PolicyArg(const char *name,
            Where where = Where::current()); // an error about an invalid name has the user's source line; null is empty
  PolicyArg(const std::string &name, Where where = Where::current());
  PolicyArg(DType dtype); // never a quantization mode: int8 is the float policy of that name
  PolicyArg(const DTypePolicy &policy);
  bool empty() const { return !policy_; }
  DTypePolicy get() const; // the policy, or the global one
private:
  friend struct PolicyAccess;
  std::optional<DTypePolicy> policy_;
  std::optional<std::string> text_; // the name that the user gave
};

/// Policies by layer path. A path takes the entry whose key equals it, or else the single entry whose key, as a regular
/// expression, matches the whole path (Python's re.fullmatch), or else the default. A map is a handle: layers with the
/// same map share it, as in Keras. It is also a policy, whose name, dtypes and mode are those of the default; the
/// default is fixed when the map is created. Thread-safe. An edit that changes the mode for the path of a quantized
/// layer is a value_error.
class HALFTONE_API DTypePolicyMap : public DTypePolicy {
public:
  using Entry = std::pair<std::string, PolicyArg>;
  DTypePolicyMap();
  /// value_error if a key occurs twice, or if the default is itself a map.
  DTypePolicyMap(std::initializer_list<Entry> policy_map);
  explicit DTypePolicyMap(PolicyArg default_policy, std::initializer_list<Entry> policy_map = {});
  static DTypePolicyMap from_config(const Config &config); // {"default_policy", "policy_map"}
  /// Reads a map that save() or Keras wrote. io_error if there is no such file; value_error or type_error, with the
  /// name of the file, if it does not hold a map.
  static DTypePolicyMap load(const std::string &json_path);
  /// Writes a new file and renames it. A default that was taken from the global policy is written explicitly, so the
  /// file keeps the map's current meaning. (get_config() leaves that default and the names of entries null, as Keras
  /// does.)
  void save(const std::string &json_path) const;
  DTypePolicy default_policy() const;
  /// The policy for a path. If no key matches, the default applies, so there is no key_error. value_error if two keys
  /// match the path, if a key that must be tried is not a regular expression, or if matching takes too long.
  DTypePolicy operator[](std::string_view path) const;
  std::optional<std::string> matching_key(std::string_view path) const; // the key that applies; nullopt: the default
  void insert(const std::string &key, const PolicyArg &policy) const;   // value_error if the key exists
  void erase(std::string_view key) const;                               // key_error if there is no such key
  bool contains(std::string_view key) const;                            // true if the map has exactly this key
  size_t size() const;
  std::vector<std::pair<std::string, DTypePolicy>> items() const; // in insertion order
private:
  friend class DTypePolicy;
  explicit DTypePolicyMap(std::shared_ptr<Rep> rep) : DTypePolicy(std::move(rep)) {}
};

/// The thread's policy. If none is set, the first read sets it to that of floatx(): later calls of set_floatx do not
/// change it.
HALFTONE_API DTypePolicy dtype_policy();
HALFTONE_API void set_dtype_policy(const DTypePolicy &policy); // a map is a policy
HALFTONE_API void set_dtype_policy(std::string_view name,
                                   Where where = Where::current()); // the name is as for dtype_policies::get
/// Sets the thread's policy for the lifetime of the scope, then restores the previous one, or the unset state. Not in
/// Keras.
class HALFTONE_API PolicyScope {
public:
  [[nodiscard]] explicit PolicyScope(const PolicyArg &policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope &) = delete;

private:
  std::optional<DTypePolicy> saved_;
};

namespace dtype_policies {
/// The policy for an identifier. A string that starts with a quantization mode is parsed as "<mode>_from_<source>". So
/// get("int8") is a value_error, while DTypePolicy("int8") is not: Keras's rule.
HALFTONE_API DTypePolicy get(const PolicyArg &identifier);
HALFTONE_API DTypePolicy get(const Config &serialized);   // deserialize()
HALFTONE_API Config serialize(const DTypePolicy &policy); // {"module","class_name","config","registered_name"}
/// The inverse of serialize(). value_error without "class_name", type_error if the class is not a policy or the config
/// does not match it. A missing or null config is empty.
HALFTONE_API DTypePolicy deserialize(const Config &config);
} // namespace dtype_policies
namespace mixed_precision { // Keras's aliases
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
HALFTONE_API std::string floatx();                    // per process; initially "float32"
HALFTONE_API void set_floatx(std::string_view dtype); // value_error unless bfloat16, float16, float32 or float64
HALFTONE_API double epsilon();                        // 1e-7
} // namespace config
HALFTONE_API std::ostream &operator<<(std::ostream &os, const DTypePolicy &policy); // repr()
} // namespace halftone
