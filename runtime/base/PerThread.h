// Objects of which each thread has its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

namespace halftone {

namespace detail {
/// Calls `destroy(object)` when the calling thread ends, after the destructors of its thread_local objects. The call does
/// not happen on the thread that ends the process.
void atThreadEnd(void (*destroy)(void *), void *object);
} // namespace detail

/// Declared as `static thread_local PerThread<T> name;`: the thread's own T, made at the first access and destroyed when
/// the thread ends. A plain thread_local T with a destructor is destroyed on the main thread before the functions that
/// std::atexit() has registered and before static objects, all of which may call the library; this one is not.
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
