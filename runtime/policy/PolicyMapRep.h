// The state behind a policy map: its default and its entries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/policy/PathPattern.h"
#include "runtime/policy/PolicyRep.h"
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone {

/// The only mutable Rep: all handles of the map share it, and its mutex guards it. No map contains itself, directly or
/// through other maps.
class PolicyMapRep final : public PolicyAccess::Rep {
public:
  /// value_error if the given default is a map.
  static std::shared_ptr<PolicyMapRep> make(const PolicyArg &given);
  PolicyMapRep(const PolicyArg &given, const DTypePolicy &fallback);

  std::optional<std::string> quantizationMode() const override;
  std::string repr() const override;
  std::string identity() const override; // of this map alone, since its entries change
  Config config() const override;
  bool equals(const Rep &other) const override;

  /// The config that the map would have if `fallback` had been given as its default.
  Config explicitConfig() const;
  std::vector<std::pair<std::string, DTypePolicy>> items() const;
  /// The key that matches a path, and its policy. value_error as of DTypePolicyMap::operator[].
  std::optional<std::pair<std::string, DTypePolicy>> find(std::string_view path) const;
  // Edits. Each bumps the configuration epoch. value_error, without any change, if the edit would give another mode to
  // the path of a layer whose weights are quantized (holdMode()).
  void insert(const std::string &key, const DTypePolicy &policy);
  void replace(const std::string &key, const DTypePolicy &policy); // an existing key moves to the end
  void erase(std::string_view key);
  /// As PolicyAccess::holdMode().
  std::shared_ptr<const void> holdMode(const std::string &path, const std::string &mode);
  bool contains(std::string_view key) const;
  size_t size() const;

  const PolicyArg given;      // the default as the user gave it; empty: the global policy
  const DTypePolicy fallback; // the default, resolved when the map was created; never a map

private:
  struct Entry {
    std::string key;
    DTypePolicy policy;
    uint64_t number;                            // increases from entry to entry
    bool isLiteral;                             // a literal key matches only its own text
    mutable std::optional<PathPattern> pattern; // compiled at the first match attempt
  };
  using Entries = std::list<Entry>;
  /// The quantization mode of the weights of the layer at `path`.
  struct HeldMode {
    std::string path, mode;
  };

  void requireNew(const DTypePolicy &policy, const std::string &key) const;
  std::optional<std::pair<std::string, DTypePolicy>> findLocked(std::string_view path) const;
  /// Call it after an edit of `key`.
  void requireHeldModes(std::string_view key) const;
  void enterLocked(Entries::iterator entry);
  void addLocked(const std::string &key, const DTypePolicy &policy);
  void dropLastLocked();
  /// Moves an entry to `removed`, and back to the position before `next`.
  Entries::iterator removeLocked(Entries::iterator entry, Entries &removed);
  void restoreLocked(Entries::iterator next, Entries &removed);
  /// Calls change() for a key under the mutex, and undo() if a held mode forbids the change. A change() that throws
  /// must have no effect.
  template <class Change, class Undo> void edit(std::string_view key, Change change, Undo undo);

  const uint64_t number; // unique among all maps of the process
  mutable std::mutex mutex;
  Entries entries;
  std::unordered_map<std::string_view, Entries::iterator> byKey; // by the entries' own keys
  std::map<uint64_t, const Entry *> patterns;                    // entries that are not literal, by their numbers
  uint64_t nextNumber = 0;
  std::unordered_multimap<std::string, std::weak_ptr<const HeldMode>> held; // by path; layers may be gone
  size_t heldBeforeSweep = 16;
};

} // namespace halftone
