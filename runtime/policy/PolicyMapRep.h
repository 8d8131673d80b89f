// The state behind a policy map: its default and its entries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/policy/PathPattern.h"
#include "runtime/policy/PolicyRep.h"
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone {

/// The only Rep that changes: all handles of the map share it, and its mutex guards it. No map holds itself, directly
/// or through other maps.
class PolicyMapRep final : public PolicyAccess::Rep {
public:
  /// value_error when the given default is a map.
  static std::shared_ptr<PolicyMapRep> make(const PolicyArg &given);
  PolicyMapRep(const PolicyArg &given, const DTypePolicy &fallback);

  std::optional<std::string> quantizationMode() const override;
  std::string repr() const override;
  Config config() const override;
  bool equals(const Rep &other) const override;

  /// The config of the same map if `fallback` had been given as its default.
  Config explicitConfig() const;
  std::vector<std::pair<std::string, DTypePolicy>> items() const;
  /// The key that decides for a path, and its policy. value_error as of DTypePolicyMap::operator[].
  std::optional<std::pair<std::string, DTypePolicy>> find(std::string_view path) const;
  void insert(const std::string &key, const DTypePolicy &policy);
  void assign(const std::string &key, const DTypePolicy &policy); // replaces the policy if the key is there
  void erase(std::string_view key);
  bool contains(std::string_view key) const;
  size_t size() const;

  const PolicyArg given;      // the default as the user gave it; empty: the global policy
  const DTypePolicy fallback; // the default, settled when the map was made; never a map

private:
  struct Entry {
    std::string key;
    DTypePolicy policy;
    mutable std::optional<PathPattern> pattern; // compiled at the first try
  };
  mutable std::mutex mutex;
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> places;
};

} // namespace halftone
