// Destroys per-thread objects when threads end.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PerThread.h"
#include <pthread.h>

namespace halftone::detail {
namespace {

struct Entry {
  void (*destroy)(void *);
  void *object;
  Entry *next;
};

void destroyAll(void *first) {
  for (auto *entry = static_cast<Entry *>(first); entry;) {
    entry->destroy(entry->object);
    delete std::exchange(entry, entry->next);
  }
}

/// POSIX calls the destructor of a key on each thread that ends, but not on the thread that calls exit().
struct Key {
  Key() : isMade(pthread_key_create(&key, destroyAll) == 0) {}
  pthread_key_t key{};
  bool isMade;
};

} // namespace

void atThreadEnd(void (*destroy)(void *), void *object) {
  static const Key key;
  if (!key.isMade)
    return; // the process is out of keys: the thread's objects leak
  auto *entry = new Entry{destroy, object, static_cast<Entry *>(pthread_getspecific(key.key))};
  if (pthread_setspecific(key.key, entry) != 0)
    delete entry;
}

} // namespace halftone::detail
