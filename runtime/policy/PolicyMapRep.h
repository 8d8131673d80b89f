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
  std::string identity() const override; // of this map alone, since its entries change
  Config config() const override;
  bool equals(const Rep &other) const override;

  /// The config of the same map if `fallback` had been given as its default.
  Config explicitConfig() const;
  std::vector<std::pair<std::string, DTypePolicy>> items() const;
  /// The key that decides for a path, and its policy. value_error as of DTypePolicyMap::operator[].
  std::optional<std::pair<std::string, DTypePolicy>> find(std::string_view path) const;
  // Edits. Each bumps the configuration epoch. value_error, and nothing changes, if the edit gives the path of a layer whose
  // weights are quantized another mode (holdMode()).
  void insert(const std::string &key, const DTypePolicy &policy);
  void replace(const std::string &key, const DTypePolicy &policy); // the key moves to the end, if it is there
  void erase(std::string_view key);
  /// As PolicyAccess::holdMode().
  std::shared_ptr<const void> holdMode(const std::string &path, const std::string &mode);
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
  /// The mode that the weights of the layer at a path have.
  struct HeldMode {
    std::string path, mode;
  };

  void requireNew(const DTypePolicy &policy, const std::string &key) const;
  std::optional<std::pair<std::string, DTypePolicy>> findLocked(std::string_view path) const;
  void requireHeldModes() const;
  void eraseLocked(std::unordered_map<std::string, size_t>::iterator found);
  /// Calls change() under the mutex, and undoes it if it throws or a held mode forbids it.
  template <class Change> void edit(Change change);

  const uint64_t number; // of all maps of the process
  mutable std::mutex mutex;
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> places;
  std::vector<std::weak_ptr<const HeldMode>> held; // of layers that may be gone
  size_t heldBeforeSweep = 16;
};

} // namespace halftone
