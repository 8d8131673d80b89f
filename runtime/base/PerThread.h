// Thread-local objects with a safe order of destruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

namespace halftone {

namespace detail {
/// Calls `destroy(object)` when the calling thread ends, after the destructors of its thread_local objects. Not called
/// on the thread that ends the process.
void atThreadEnd(void (*destroy)(void *), void *object);
} // namespace detail

/// A per-thread T, declared as `static thread_local PerThread<T> name;`. It is created at the first access and
/// destroyed when the thread ends. On the main thread, a plain thread_local T with a destructor is destroyed before the
/// functions registered with std::atexit() run and before static objects are destroyed, and all of these may call the
/// library; this object is not.
template <class T> class PerThread {
public:
  constexpr PerThread() = default;
  PerThread(const PerThread &) = delete;
  T &operator*() {
    if (!object_)
      make();
    return *object_;
  }
  T *operator->() { return &**this; }

private:
  void make() {
    object_ = new T();
    detail::atThreadEnd([](void *self) { delete std::exchange(static_cast<PerThread *>(self)->object_, nullptr); },
                        this);
  }
  T *object_ = nullptr;
};

} // namespace halftone
