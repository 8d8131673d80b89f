// Compares our own declarations of a library's functions with those in its header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

namespace halftone::cuda {

template <class A, class B>
constexpr bool isSame = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class R, class... A, class S, class... B> constexpr bool isSameCall(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B))
    return isSame<R, S> && (isSame<A, B> && ...);
  return false;
}

} // namespace halftone::cuda

#define SAME_CALL(ours, theirs)                                                                                        \
  static_assert(::halftone::cuda::isSameCall(decltype(Functions::ours){}, decltype(&theirs){}))
