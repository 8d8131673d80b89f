// jit(f): makes a function of Values one of Tensors, traced and compiled once per shapes, dtypes and policy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Device.h"
#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace halftone {
struct JitArgs {
  std::optional<Device> device{}; // empty: the device of f's variables, else the caller's default_device()
  std::string name = "step";
  Numerics numerics = Numerics::fast;
};
namespace detail {
class HALFTONE_API TracedProgram {
public:
  TracedProgram(std::function<Values(const std::vector<Values> &)> f, const JitArgs &args, Where where);
  std::vector<Tensor> run(std::initializer_list<std::span<const Tensor>> arguments, Where call) const;

private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};
/// The tensors of an argument that is a `const Values &`, which has no names. value_error if they have.
HALFTONE_API std::span<const Tensor> listed(const Tensors &tensors, Where call);
template <class T> struct Data;
template <> struct Data<Value> {
  using type = Tensor;
  static Value in(const Values &v) { return v[0]; }
  static Values out(const Value &v) { return v; }
  static std::span<const Tensor> argument(const Tensor &t, Where) { return {&t, 1}; }
  static Tensor result(std::vector<Tensor> t) { return std::move(t.front()); }
};
template <> struct Data<Values> {
  using type = Tensors;
  static Values in(const Values &v) { return v; }
  static Values out(const Values &v) { return v; }
  static std::span<const Tensor> argument(const Tensors &t, Where call) { return listed(t, call); }
  static Tensors result(std::vector<Tensor> t) { return Tensors(std::move(t)); }
};
template <size_t N> struct Data<std::array<Value, N>> {
  using type = std::array<Tensor, N>;
  static Values out(const std::array<Value, N> &v) { return std::vector<Value>(v.begin(), v.end()); }
  static type result(std::vector<Tensor> t) {
    type r;
    std::move(t.begin(), t.end(), r.begin());
    return r;
  }
};
template <> struct Data<void> {
  using type = void;
};
template <class T> using DataOf = Data<std::remove_cvref_t<T>>;

template <class F> struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A> struct Signature<R (*)(A...)> {
  template <template <class, class...> class To> using apply = To<R, A...>;
};
template <class C, class R, class... A> struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class C, class R, class... A> struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
} // namespace detail

template <class R, class... A> class Jitted {
public:
  template <class F>
  Jitted(F f, const JitArgs &args, Where where)
      : program_(wrap(std::move(f), std::index_sequence_for<A...>{}), args, where) {}
  /// An error of the call, also one of an operation in f, has the line of the call, unless it is about a layer.
  typename detail::DataOf<R>::type operator()(const typename detail::DataOf<A>::type &...arguments,
                                              Where call = Where::current()) const {
    if constexpr (std::is_void_v<R>)
      program_.run({detail::DataOf<A>::argument(arguments, call)...}, call);
    else
      return detail::DataOf<R>::result(program_.run({detail::DataOf<A>::argument(arguments, call)...}, call));
  }

private:
  template <class F, size_t... I>
  static std::function<Values(const std::vector<Values> &)> wrap(F given, std::index_sequence<I...>) {
    std::function<R(A...)> f(std::move(given));
    if (!f) // an empty std::function, or a null pointer
      return {};
    return [f = std::move(f)](const std::vector<Values> &v) -> Values {
      if constexpr (std::is_void_v<R>) {
        f(detail::DataOf<A>::in(v[I])...);
        return {};
      } else
        return detail::DataOf<R>::out(f(detail::DataOf<A>::in(v[I])...));
    };
  }
  detail::TracedProgram program_;
};
/// f takes Value or Values and returns Value, Values, std::array<Value, N> or nothing. The result keeps a copy of f and
/// traces it again for new shapes: capture handles by value ([=]); the copies share their state.
/// Errors of calls that the C++ library makes, as those through std::function, have the line of jit() itself. value_error for
/// an empty function, and for a call that names the tensors of a Values.
template <detail::Concrete F> auto jit(F f, const JitArgs &args = {}, Where where = Where::current()) {
  return typename detail::Signature<F>::template apply<Jitted>(std::move(f), args, where);
}
} // namespace halftone
