// Policies by layer path.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ConfigurationEpoch.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/StackRoom.h"
#include "runtime/policy/PolicyMapRep.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace halftone;

/// The default of a new map: the given policy, otherwise the global policy. If the global policy is a map, the default
/// of that map.
static DTypePolicy resolvedDefault(const PolicyArg &given) {
  if (!given.empty() && given.get().as_map())
    throw Error(ErrorKind::value_error, "`default_policy` cannot be a `DTypePolicyMap`.");
  const DTypePolicy policy = given.get();
  const std::optional<DTypePolicyMap> global = policy.as_map();
  return global ? global->default_policy() : policy;
}

std::shared_ptr<PolicyMapRep> PolicyMapRep::make(const PolicyArg &given) {
  return std::make_shared<PolicyMapRep>(given, resolvedDefault(given));
}

static std::atomic<uint64_t> mapCount{0};

PolicyMapRep::PolicyMapRep(const PolicyArg &given, const DTypePolicy &fallback)
    : Rep("DTypePolicyMap", "map_" + fallback.name(), fallback.compute_dtype(), fallback.variable_dtype()),
      given(given), fallback(fallback), number(mapCount.fetch_add(1)) {}

std::optional<std::string> PolicyMapRep::quantizationMode() const { return fallback.quantization_mode(); }

std::string PolicyMapRep::repr() const {
  std::vector<std::string> entries;
  for (const auto &[key, policy] : items())
    entries.push_back(fmt::format("({}, {})", pythonRepr(key), pythonRepr(policy.name())));
  return fmt::format("<DTypePolicyMap at {} default_policy={}, mapping=[{}]>", fmt::ptr(this), fallback.name(),
                     fmt::join(entries, ", "));
}

std::string PolicyMapRep::identity() const { return fmt::format("{} {}", className, number); }

bool PolicyMapRep::equals(const Rep &other) const {
  const auto &that = static_cast<const PolicyMapRep &>(other);
  return this == &that || (fallback == that.fallback && items() == that.items());
}

std::vector<std::pair<std::string, DTypePolicy>> PolicyMapRep::items() const {
  const ForkSafeLock lock(mutex);
  std::vector<std::pair<std::string, DTypePolicy>> result;
  for (const Entry &entry : entries)
    result.emplace_back(entry.key, entry.policy);
  return result;
}

std::optional<std::pair<std::string, DTypePolicy>> PolicyMapRep::find(std::string_view path) const {
  const ForkSafeLock lock(mutex);
  return findLocked(path);
}

std::optional<std::pair<std::string, DTypePolicy>> PolicyMapRep::findLocked(std::string_view path) const {
  if (const auto exact = byKey.find(path); exact != byKey.end())
    return std::pair(exact->second->key, exact->second->policy);
  std::vector<const Entry *> hits;
  for (const auto &[order, pattern] : patterns) {
    const Entry &entry = *pattern;
    if (!entry.pattern)
      try {
        entry.pattern.emplace(entry.key);
      } catch (const Error &error) {
        throw Error(error.kind(), "A key of the DTypePolicyMap cannot be matched: " + error.message());
      }
    if (entry.pattern->matches(path))
      hits.push_back(&entry);
  }
  if (hits.empty())
    return std::nullopt;
  if (hits.size() > 1) {
    std::vector<std::string> keys;
    for (const Entry *hit : hits)
      keys.push_back(pythonRepr(hit->key));
    throw Error(ErrorKind::value_error,
                fmt::format("Path '{}' matches multiple dtype policy specification keys: [{}]. Please make sure each "
                            "path only matches at most one dtype policy specification key in the DTypePolicyMap.",
                            path, fmt::join(keys, ", ")));
  }
  return std::pair(hits[0]->key, hits[0]->policy);
}

/// Returns true if `policy` is `map` or a map that contains `map`, so that inserting `policy` would create a cycle.
static bool reaches(const DTypePolicy &policy, const PolicyMapRep &map) {
  requireStack("maps of policies");
  const auto *inner = dynamic_cast<const PolicyMapRep *>(&PolicyAccess::rep(policy));
  if (!inner || inner == &map)
    return inner == &map;
  for (const auto &item : inner->items())
    if (reaches(item.second, map))
      return true;
  return false;
}

void PolicyMapRep::requireNew(const DTypePolicy &policy, const std::string &key) const {
  if (reaches(policy, *this))
    throw Error(
        ErrorKind::value_error,
        fmt::format(
            "Cannot interpret the assigned value by "
            "`keras.dtype_policies.get`. Received for '{}' a DTypePolicyMap that contains the map it is assigned to",
            key));
}

void PolicyMapRep::requireHeldModes(std::string_view key) const {
  const auto require = [&](const std::weak_ptr<const HeldMode> &held) {
    const std::shared_ptr<const HeldMode> layer = held.lock();
    if (!layer)
      return;
    const auto found = findLocked(layer->path);
    const DTypePolicy policy = found ? found->second : fallback;
    if (policy.quantization_mode() != layer->mode)
      throw Error(ErrorKind::value_error,
                  fmt::format("Layer '{}' is already quantized: its weights have the mode '{}'. This change of its "
                              "DTypePolicyMap would give it the policy '{}'",
                              layer->path, layer->mode, policy.name()),
                  layer->path);
  };
  if (PathPattern::isLiteral(key)) { // matches only its own path
    const auto [begin, end] = held.equal_range(std::string(key));
    std::for_each(begin, end, [&](const auto &each) { require(each.second); });
  } else {
    std::ranges::for_each(held, [&](const auto &each) { require(each.second); });
  }
}

template <class Change, class Undo> void PolicyMapRep::edit(std::string_view key, Change change, Undo undo) {
  const ForkSafeLock lock(mutex);
  change();
  try {
    requireHeldModes(key);
  } catch (...) {
    undo();
    throw;
  }
  bumpConfigurationEpoch();
}

std::shared_ptr<const void> PolicyMapRep::holdMode(const std::string &path, const std::string &mode) {
  auto layer = std::make_shared<const HeldMode>(path, mode);
  const ForkSafeLock lock(mutex);
  if (held.size() >= heldBeforeSweep) {
    std::erase_if(held, [](const auto &each) { return each.second.expired(); });
    heldBeforeSweep = 2 * held.size() + 16;
  }
  held.emplace(path, layer);
  return layer;
}

void PolicyMapRep::enterLocked(Entries::iterator entry) {
  byKey.emplace(entry->key, entry);
  if (!entry->isLiteral)
    patterns.emplace(entry->number, &*entry);
}

void PolicyMapRep::addLocked(const std::string &key, const DTypePolicy &policy) {
  entries.push_back({key, policy, nextNumber++, PathPattern::isLiteral(key), std::nullopt});
  enterLocked(std::prev(entries.end()));
}

PolicyMapRep::Entries::iterator PolicyMapRep::removeLocked(Entries::iterator entry, Entries &removed) {
  const auto next = std::next(entry);
  byKey.erase(entry->key);
  patterns.erase(entry->number);
  removed.splice(removed.end(), entries, entry);
  return next;
}

void PolicyMapRep::restoreLocked(Entries::iterator next, Entries &removed) {
  if (removed.empty())
    return;
  entries.splice(next, removed, removed.begin());
  enterLocked(std::prev(next));
}

void PolicyMapRep::dropLastLocked() {
  Entries dropped;
  removeLocked(std::prev(entries.end()), dropped);
}

void PolicyMapRep::insert(const std::string &key, const DTypePolicy &policy) {
  requireNew(policy, key);
  const auto change = [&] {
    if (const auto known = byKey.find(key); known != byKey.end())
      throw Error(ErrorKind::value_error,
                  fmt::format("{} already exist in the DTypePolicyMap with value {}. Please make sure to not use "
                              "duplicated keys.",
                              key, known->second->policy.repr()));
    addLocked(key, policy);
  };
  edit(key, change, [&] { dropLastLocked(); });
}

void PolicyMapRep::replace(const std::string &key, const DTypePolicy &policy) {
  requireNew(policy, key);
  Entries removed;
  auto next = entries.end();
  const auto change = [&] {
    if (const auto found = byKey.find(key); found != byKey.end())
      next = removeLocked(found->second, removed);
    addLocked(key, policy);
  };
  const auto undo = [&] {
    dropLastLocked();
    restoreLocked(next, removed);
  };
  edit(key, change, undo);
}

void PolicyMapRep::erase(std::string_view key) {
  Entries removed;
  auto next = entries.end();
  const auto change = [&] {
    const auto found = byKey.find(key);
    if (found == byKey.end())
      throw Error(ErrorKind::key_error, fmt::format("'{}' is not a key of the DTypePolicyMap", key));
    next = removeLocked(found->second, removed);
  };
  edit(key, change, [&] { restoreLocked(next, removed); });
}

bool PolicyMapRep::contains(std::string_view key) const {
  const ForkSafeLock lock(mutex);
  return byKey.contains(key);
}

size_t PolicyMapRep::size() const {
  const ForkSafeLock lock(mutex);
  return entries.size();
}

/// A reference to the base class may have assigned a policy of another class to the map.
static PolicyMapRep &mapRep(const std::shared_ptr<PolicyAccess::Rep> &rep) {
  if (auto *map = dynamic_cast<PolicyMapRep *>(rep.get()))
    return *map;
  throw Error(ErrorKind::attribute_error, fmt::format("{} is not a DTypePolicyMap", rep->repr()));
}

void PolicyAccess::replace(const DTypePolicyMap &map, const std::string &key, const DTypePolicy &policy) {
  mapRep(handle(map)).replace(key, policy);
}
std::shared_ptr<const void> PolicyAccess::holdMode(const DTypePolicyMap &map, const std::string &path,
                                                   const std::string &mode) {
  return mapRep(handle(map)).holdMode(path, mode);
}

std::optional<DTypePolicyMap> DTypePolicy::as_map() const {
  if (rep_->className != "DTypePolicyMap")
    return std::nullopt;
  return DTypePolicyMap(rep_);
}

DTypePolicyMap::DTypePolicyMap() : DTypePolicyMap(PolicyArg()) {}
DTypePolicyMap::DTypePolicyMap(std::initializer_list<Entry> policy_map) : DTypePolicyMap(PolicyArg(), policy_map) {}
DTypePolicyMap::DTypePolicyMap(PolicyArg default_policy, std::initializer_list<Entry> policy_map)
    : DTypePolicy(PolicyMapRep::make(default_policy)) {
  for (const auto &[key, policy] : policy_map)
    insert(key, policy);
}

DTypePolicy DTypePolicyMap::default_policy() const { return mapRep(rep_).fallback; }
DTypePolicy DTypePolicyMap::operator[](std::string_view path) const {
  const auto found = mapRep(rep_).find(path);
  return found ? found->second : mapRep(rep_).fallback;
}
std::optional<std::string> DTypePolicyMap::matching_key(std::string_view path) const {
  const auto found = mapRep(rep_).find(path);
  return found ? std::optional(found->first) : std::nullopt;
}
void DTypePolicyMap::insert(const std::string &key, const PolicyArg &policy) const {
  mapRep(rep_).insert(key, policy.get());
}
void DTypePolicyMap::erase(std::string_view key) const { mapRep(rep_).erase(key); }
bool DTypePolicyMap::contains(std::string_view key) const { return mapRep(rep_).contains(key); }
size_t DTypePolicyMap::size() const { return mapRep(rep_).size(); }
std::vector<std::pair<std::string, DTypePolicy>> DTypePolicyMap::items() const { return mapRep(rep_).items(); }
