// Finds players by input signature; drops the least recently used one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ProgramCache.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone {

std::string ProgramKey::str() const {
  const std::vector<int64_t> groups = layout.groups.empty() ? std::vector{std::ssize(feeds)} : layout.groups;
  std::vector<std::string> texts;
  for (const std::vector<TensorType> &group : FeedLayout{groups}.split(feeds)) {
    texts.emplace_back();
    for (const TensorType &type : group)
      texts.back() += (texts.back().empty() ? "" : ", ") + type.str();
  }
  return fmt::format("({})", fmt::join(texts, "; "));
}

namespace {

/// "feed 0 ('x'), dimension 1 (65 values, 1 to 65)": the axis with the most distinct extents among the keys.
std::string describeVariation(const std::vector<const ProgramKey *> &keys, const Signature &signature) {
  const ProgramKey &first = *keys.front();
  std::string best = "the dtypes, ranks or groups";
  size_t most = 1;
  for (size_t feed = 0; feed < first.feeds.size(); ++feed) {
    const std::string name = feed < signature.feeds.size() ? fmt::format(" ('{}')", signature.feeds[feed].name) : "";
    for (size_t axis = 0; axis < first.feeds[feed].shape.size(); ++axis) {
      std::set<int64_t> values;
      for (const ProgramKey *key : keys)
        if (feed < key->feeds.size() && axis < key->feeds[feed].shape.size())
          values.insert(key->feeds[feed].shape[axis]);
      if (values.size() <= most)
        continue;
      most = values.size();
      best = fmt::format("feed {}{}, dimension {} ({} values from {} to {})", feed, name, axis, most, *values.begin(),
                         *values.rbegin());
    }
  }
  return best;
}

} // namespace

ProgramCache::ProgramCache(std::string name, Compile compile, Warn warn, size_t capacity)
    : name_(std::move(name)), compile_(std::move(compile)), warn_(std::move(warn)),
      capacity_(std::max<size_t>(capacity, 1)) {}

void ProgramCache::evict(std::string &warning) {
  if (entries_.size() <= capacity_)
    return;
  if (!warned_) {
    warned_ = true;
    std::vector<const ProgramKey *> all;
    for (const Entry &entry : entries_)
      all.push_back(&entry.key);
    warning =
        fmt::format("{}: more than {} input signatures; the least recently used is dropped and compiled again when it "
                    "comes back. What varies most: {}",
                    name_, capacity_, describeVariation(all, entries_.front().player->executable().signature));
  }
  entries_.pop_back();
}

void ProgramCache::insertLocked(ProgramKey key, std::shared_ptr<Player> player, std::string &warning) {
  std::erase_if(entries_, [&](const Entry &entry) { return entry.key == key; });
  entries_.push_front({std::move(key), std::move(player)});
  evict(warning);
}

template <class Matches> std::shared_ptr<Player> ProgramCache::knownLocked(Matches matches) {
  const auto found = std::ranges::find_if(entries_, matches, &Entry::key);
  if (found == entries_.end())
    return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->player;
}

/// This thread must not hold the mutex: while it compiles, the mutex is its own.
Status ProgramCache::refuseWhileCompiling() const {
  if (compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id())
    return Status::ok();
  return {
      ErrorKind::runtime_error,
      fmt::format("{}: was called by a function that is being traced for it: what a program is made of cannot run it",
                  name_)};
}

/// Whether a program serves a thread with these settings.
static bool servesThread(const ProgramKey &key, uint64_t threadSettings) {
  return key.threadSettings == ProgramKey::anySettings || key.threadSettings == threadSettings;
}

StatusOr<std::shared_ptr<Player>> ProgramCache::find(ProgramKey key) {
  HALFTONE_RETURN_IF_ERROR(refuseWhileCompiling());
  std::string warning;
  std::shared_ptr<Player> player;
  {
    const ForkSafeLock lock(mutex_);
    const auto matches = [&](const ProgramKey &other) {
      return other.epoch == key.epoch && other.device == key.device && servesThread(other, key.threadSettings) &&
             other.layout == key.layout && other.feeds == key.feeds;
    };
    if (auto known = knownLocked(matches))
      return known;
    if (!compile_) {
      std::string known;
      for (const Entry &entry : entries_)
        known += (known.empty() ? "" : ", ") + entry.key.str();
      return Status(ErrorKind::key_error, fmt::format("{}: not compiled for {}; there are: {}", name_, key.str(),
                                                      known.empty() ? "none" : known));
    }
    StatusOr<std::shared_ptr<Player>> compiled = [&] {
      struct Compiling { // a struct, since compile_ may throw
        explicit Compiling(std::atomic<std::thread::id> &id) : thread(id) { thread = std::this_thread::get_id(); }
        ~Compiling() { thread = std::thread::id(); }
        std::atomic<std::thread::id> &thread;
      } compiling(compiler_);
      return compile_(key);
    }();
    HALFTONE_RETURN_IF_ERROR(compiled.status());
    ++compileCount_;
    player = *std::move(compiled);
    insertLocked(std::move(key), player, warning);
  }
  if (!warning.empty() && warn_)
    warn_(warning);
  return player;
}

StatusOr<std::vector<Tensor>> ProgramCache::play(std::span<const Tensor> feeds, const FeedLayout &layout,
                                                 uint64_t epoch, Device device, uint64_t threadSettings) {
  for (size_t i = 0; i < feeds.size(); ++i)
    if (!feeds[i].defined())
      return Status(ErrorKind::value_error, fmt::format("{}: feed {} is an undefined tensor", name_, i));
  HALFTONE_RETURN_IF_ERROR(refuseWhileCompiling());
  const auto matches = [&](const ProgramKey &key) {
    return key.epoch == epoch && key.device == device && servesThread(key, threadSettings) && key.layout == layout &&
           std::ranges::equal(feeds, key.feeds, isOfType);
  };
  std::shared_ptr<Player> player;
  {
    const ForkSafeLock lock(mutex_);
    player = knownLocked(matches);
  }
  if (!player) {
    StatusOr<std::shared_ptr<Player>> compiled = find({typesOf(feeds), layout, epoch, device, threadSettings});
    HALFTONE_RETURN_IF_ERROR(compiled.status());
    player = *std::move(compiled);
  }
  return player->play(feeds);
}

void ProgramCache::insert(ProgramKey key, std::shared_ptr<Player> player) {
  std::string warning;
  {
    const ForkSafeLock lock(mutex_);
    insertLocked(std::move(key), std::move(player), warning);
  }
  if (!warning.empty() && warn_)
    warn_(warning);
}

void ProgramCache::clear() {
  const ForkSafeLock lock(mutex_);
  entries_.clear();
}

int64_t ProgramCache::compileCount() const {
  const ForkSafeLock lock(mutex_);
  return compileCount_;
}

std::shared_ptr<Player> ProgramCache::latest(const std::vector<TensorType> &feeds, const FeedLayout &layout) const {
  const ForkSafeLock lock(mutex_);
  const auto fits = [&](const Entry &entry) { return entry.key.feeds == feeds && entry.key.layout == layout; };
  const auto found = std::ranges::find_if(entries_, fits);
  return found == entries_.end() ? nullptr : found->player;
}

std::vector<ProgramKey> ProgramCache::keys() const {
  const ForkSafeLock lock(mutex_);
  std::vector<ProgramKey> keys;
  for (const Entry &entry : entries_)
    keys.push_back(entry.key);
  return keys;
}

} // namespace halftone
