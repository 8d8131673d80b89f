// Finds players by input signature; evicts the least recently used one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ProgramCache.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
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
  std::string best = "dtypes, ranks, groups or compiled-in arguments";
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

/// Identifies a thread across forks: a child process has no other thread of its parent.
struct ThreadMark {
  uint64_t number; // unique among the threads of the process
  int64_t forks;   // forkCount() when the mark was created
  static ThreadMark own() {
    static std::atomic<uint64_t> threads{0};
    static thread_local const uint64_t number = ++threads;
    return {number, forkCount()};
  }
  bool isOwn() const { return number == own().number; }
  bool isAlive() const { return forks == forkCount() || isOwn(); }
};

/// The caches that are compiling, each on one thread, and the threads that wait for one of them. No lock may be held
/// while user code is traced, so a cache is acquired by an entry here.
class CompileTurns {
public:
  enum class Answer : uint8_t { taken, wait, refused };

  /// Acquires the cache for this thread. wait: another thread is compiling it; this thread counts as waiting until it
  /// asks again. refused: the other thread waits, perhaps through more threads, for a cache that this thread is
  /// compiling.
  Answer take(const ProgramCache *cache) {
    const ForkSafeLock lock(mutex_);
    std::erase_if(compiling_, [](const auto &entry) { return !entry.second.isAlive(); });
    std::erase_if(waiting_, [](const Waiting &entry) { return entry.thread.isOwn() || !entry.thread.isAlive(); });
    const auto found = compiling_.find(cache);
    if (found == compiling_.end()) {
      compiling_.emplace(cache, ThreadMark::own());
      return Answer::taken;
    }
    if (leadsHere(found->second))
      return Answer::refused;
    waiting_.push_back({ThreadMark::own(), cache});
    return Answer::wait;
  }
  void give(const ProgramCache *cache) {
    {
      const ForkSafeLock lock(mutex_);
      compiling_.erase(cache);
    }
    given_.fetch_add(1);
    given_.notify_all();
  }
  /// The number of releases so far; waitAfter() waits for the next release. A fork may happen meanwhile.
  uint64_t given() const { return given_.load(); }
  void waitAfter(uint64_t given) const {
    const OutsideForkGate waits;
    given_.wait(given);
  }

private:
  struct Waiting {
    ThreadMark thread;
    const ProgramCache *cache;
  };
  /// Returns true if `thread` is the calling thread, or waits for a cache whose thread leads to it. A thread waits for
  /// at most one cache, and there is no cycle yet, so this terminates.
  bool leadsHere(ThreadMark thread) const {
    while (!thread.isOwn()) {
      const auto waiting = std::ranges::find(waiting_, thread.number, [](const Waiting &w) { return w.thread.number; });
      if (waiting == waiting_.end())
        return false;
      const auto next = compiling_.find(waiting->cache);
      if (next == compiling_.end())
        return false; // released; the thread is about to wake
      thread = next->second;
    }
    return true;
  }

  std::mutex mutex_;
  std::map<const ProgramCache *, ThreadMark> compiling_;
  std::vector<Waiting> waiting_;
  std::atomic<uint64_t> given_{0};
};

CompileTurns &compileTurns() {
  static CompileTurns &turns = *new CompileTurns;
  return turns;
}

/// A scope in which this thread compiles for a cache. The constructor waits for the threads that are compiling it;
/// isTaken() returns false if waiting would be a deadlock.
class CompileTurn {
public:
  CompileTurn(const ProgramCache &cache, std::atomic<std::thread::id> &compiler) : cache_(cache), compiler_(compiler) {
    for (;;) {
      const uint64_t given = compileTurns().given();
      const CompileTurns::Answer answer = compileTurns().take(&cache);
      isTaken_ = answer == CompileTurns::Answer::taken;
      if (answer != CompileTurns::Answer::wait)
        break;
      compileTurns().waitAfter(given);
    }
    if (isTaken_)
      compiler_ = std::this_thread::get_id();
  }
  ~CompileTurn() {
    if (!isTaken_)
      return;
    compiler_ = std::thread::id();
    compileTurns().give(&cache_);
  }
  CompileTurn(const CompileTurn &) = delete;
  bool isTaken() const { return isTaken_; }

private:
  const ProgramCache &cache_;
  std::atomic<std::thread::id> &compiler_;
  bool isTaken_ = false;
};

} // namespace

ProgramCache::ProgramCache(std::string name, Compile compile, Warn warn, Bounds bounds)
    : name_(std::move(name)), compile_(std::move(compile)), warn_(std::move(warn)), bounds_(bounds) {}

/// Hashes everything that calls compare except the thread's settings, which a player may ignore.
template <class Feeds, class ShapeOf>
static size_t hashOf(const Feeds &feeds, const FeedLayout &layout, uint64_t epoch, Device device, ShapeOf shapeOf) {
  size_t hash = std::hash<uint64_t>()(epoch);
  const auto add = [&](int64_t number) { // as boost::hash_combine
    hash ^= std::hash<int64_t>()(number) + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  };
  add(static_cast<int64_t>(device.kind()));
  add(device.index());
  add(layout.allRows);
  for (const std::vector<int64_t> *list : {&layout.groups, &layout.numbers, &layout.openExtents})
    for (const int64_t number : *list)
      add(number);
  for (const auto &feed : feeds) {
    const auto &[dtype, shape] = shapeOf(feed);
    add(static_cast<int64_t>(dtype));
    add(std::ssize(shape));
    for (const int64_t extent : shape)
      add(extent);
  }
  return hash;
}

static size_t hashOf(const ProgramKey &key) {
  return hashOf(key.feeds, key.layout, key.epoch, key.device, [](const TensorType &type) {
    return std::pair<DType, const std::vector<int64_t> &>(type.dtype, type.shape);
  });
}

void ProgramCache::eraseLocked(Entries::iterator entry) {
  const auto [begin, end] = byHash_.equal_range(hashOf(entry->key));
  byHash_.erase(std::find_if(begin, end, [&](const auto &each) { return each.second == entry; }));
  arenaBytes_ -= entry->player->executable().plan.arenaBytes;
  entries_.erase(entry);
}

void ProgramCache::evict(std::string &warning) {
  const bool isCrowded = entries_.size() > bounds_.limit;
  const auto isTooMuch = [&] {
    return entries_.size() > bounds_.limit || (entries_.size() > bounds_.always && arenaBytes_ > bounds_.arenaBytes);
  };
  if (isTooMuch() && !warned_) {
    warned_ = true;
    std::vector<const ProgramKey *> all;
    for (const Entry &entry : entries_)
      all.push_back(&entry.key);
    const std::string many =
        isCrowded ? fmt::format("more than {} input signatures", bounds_.limit)
                  : fmt::format("the programs of {} input signatures take {} MiB", entries_.size(), arenaBytes_ >> 20);
    warning = fmt::format("{}: {}; the least recently used program is dropped, and compiled again when its signature "
                          "recurs. Most varied input: {}",
                          name_, many, describeVariation(all, entries_.front().player->executable().signature));
  }
  while (entries_.size() > 1 && isTooMuch())
    eraseLocked(std::prev(entries_.end()));
}

void ProgramCache::insertLocked(ProgramKey key, std::shared_ptr<Player> player, std::string &warning) {
  const auto changesOf = [](const ProgramKey &of) { return of.epoch / ProgramKey::statesOfEpoch; };
  if (!entries_.empty() && changesOf(entries_.front().key) < changesOf(key)) { // then all are older
    entries_.clear();
    byHash_.clear();
    arenaBytes_ = 0;
  }
  const auto [begin, end] = byHash_.equal_range(hashOf(key));
  const auto same = std::find_if(begin, end, [&](const auto &each) { return each.second->key == key; });
  if (same != end)
    eraseLocked(same->second);
  arenaBytes_ += player->executable().plan.arenaBytes;
  entries_.push_front({std::move(key), std::move(player)});
  byHash_.emplace(hashOf(entries_.front().key), entries_.begin());
  evict(warning);
}

template <class Matches, class Hash> std::shared_ptr<Player> ProgramCache::knownLocked(Matches matches, Hash hash) {
  if (!entries_.empty() && matches(entries_.front().key))
    return entries_.front().player;
  const auto [begin, end] = byHash_.equal_range(hash());
  const auto found = std::find_if(begin, end, [&](const auto &each) { return matches(each.second->key); });
  if (found == end)
    return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->player;
}

Status ProgramCache::refusal() const {
  return {ErrorKind::runtime_error,
          fmt::format(
              "{}: was called by a function that is being traced for it: a program cannot run while it is being traced",
              name_)};
}
Status ProgramCache::refuseWhileCompiling() const {
  return compiler_.load(std::memory_order_relaxed) == std::this_thread::get_id() ? refusal() : Status::ok();
}

/// Returns true if a program is valid for a thread with these settings.
static bool servesThread(const ProgramKey &key, uint64_t threadSettings) {
  return key.threadSettings == ProgramKey::anySettings || key.threadSettings == threadSettings;
}

StatusOr<std::shared_ptr<Player>> ProgramCache::find(ProgramKey key) {
  HALFTONE_RETURN_IF_ERROR(refuseWhileCompiling());
  const auto matches = [&](const ProgramKey &other) {
    return other.epoch == key.epoch && other.device == key.device && servesThread(other, key.threadSettings) &&
           other.substitutes == key.substitutes && other.layout == key.layout && other.feeds == key.feeds;
  };
  const auto known = [&] {
    const ForkSafeLock lock(mutex_);
    return knownLocked(matches, [&] { return hashOf(key); });
  };
  if (auto player = known())
    return player;
  if (!compile_) {
    std::string all;
    for (const ProgramKey &each : keys())
      all += (all.empty() ? "" : ", ") + each.str();
    return Status(ErrorKind::key_error, fmt::format("{}: not compiled for {}; compiled signatures: {}", name_,
                                                    key.str(), all.empty() ? "none" : all));
  }
  const CompileTurn turn(*this, compiler_);
  if (!turn.isTaken())
    return refusal();
  if (auto player = known()) // another thread was faster
    return player;
  StatusOr<std::shared_ptr<Player>> compiled = compile_(key); // runs user code, so no lock is held
  HALFTONE_RETURN_IF_ERROR(compiled.status());
  std::shared_ptr<Player> player = *std::move(compiled);
  std::string warning;
  {
    const ForkSafeLock lock(mutex_);
    ++compileCount_;
    insertLocked(std::move(key), player, warning);
  }
  if (!warning.empty() && warn_)
    warn_(warning);
  return player;
}

StatusOr<std::vector<Tensor>> ProgramCache::play(std::span<const Tensor> feeds, const FeedLayout &layout,
                                                 uint64_t epoch, Device device, uint64_t threadSettings,
                                                 const std::shared_ptr<const VariableSubstitutes> &substitutes) {
  for (size_t i = 0; i < feeds.size(); ++i)
    if (!feeds[i].defined())
      return Status(ErrorKind::value_error, fmt::format("{}: feed {} is an undefined tensor", name_, i));
  HALFTONE_RETURN_IF_ERROR(refuseWhileCompiling());
  const auto matches = [&](const ProgramKey &key) {
    return key.epoch == epoch && key.device == device && servesThread(key, threadSettings) && key.layout == layout &&
           key.substitutes == substitutes && std::ranges::equal(feeds, key.feeds, isOfType);
  };
  std::shared_ptr<Player> player;
  {
    const ForkSafeLock lock(mutex_);
    player = knownLocked(matches, [&] { return hashOf(feeds, layout, epoch, device, typeOf); });
  }
  if (!player) {
    StatusOr<std::shared_ptr<Player>> compiled =
        find({typesOf(feeds), layout, epoch, device, threadSettings, substitutes});
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
  byHash_.clear();
  arenaBytes_ = 0;
}

int64_t ProgramCache::compileCount() const {
  const ForkSafeLock lock(mutex_);
  return compileCount_;
}

std::shared_ptr<Player> ProgramCache::latest(const std::vector<TensorType> &feeds, const FeedLayout &layout) const {
  const ForkSafeLock lock(mutex_);
  const auto fits = [&](const Entry &entry) {
    return feeds.empty() || (entry.key.feeds == feeds && entry.key.layout == layout);
  };
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
