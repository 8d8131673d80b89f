// jit(f): compiles a function of Values for each combination of shapes, dtypes and policy; packs of compiled kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Device.h"
#include "Signature.h"
#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace halftone {
struct JitArgs {
  std::optional<Device> device{}; // empty: the device of f's variables, or else the caller's default_device()
  std::string name = "step";
  Numerics numerics = Numerics::fast;
};
namespace detail {
class HALFTONE_API TracedProgram {
public:
  using Traced = std::function<Values(std::span<const Values> values, std::span<const int64_t> numbers)>;
  TracedProgram(Traced f, const JitArgs &args, Where where);
  /// Runs the program; each list has one entry per argument. Programs are cached by shapes, dtypes and `numbers`.
  std::vector<Tensor> run(std::initializer_list<std::span<const Tensor>> values, std::initializer_list<int64_t> numbers,
                          Where call) const;

private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};
/// The tensors for a `const Values &` parameter. value_error if they are named.
HALFTONE_API std::span<const Tensor> listed(const Tensors &tensors, Where call);
/// The argument for a Value parameter: a tensor, or a number, which becomes a floatx or int32 scalar and causes no
/// recompilation.
class HALFTONE_API Fed {
public:
  Fed(Tensor tensor) : tensor_(std::move(tensor)) {}
  template <class N>
    requires std::is_arithmetic_v<N>
  Fed(N number) : Fed(scalar(Number(number))) {}
  std::span<const Tensor> tensors() const;

private:
  static Tensor scalar(const Number &number); // value_error for an integer outside of int32
  Tensor tensor_;
};
template <class T> struct Data {
  static_assert(
      std::integral<T> || std::is_enum_v<T>,
      "a jit function takes Value, Values, and integers, bools or enums, which are compiled in: take a const Value & "
      "for any other number, and pass the number");
  using argument = T;
  static T in(const Values &, int64_t number) { return static_cast<T>(number); }
  static std::span<const Tensor> values(T, Where) { return {}; }
  static int64_t number(T v) { return static_cast<int64_t>(v); } // uint64_t wraps, and in() wraps back
};
template <> struct Data<Value> {
  using type = Tensor;
  using argument = Fed;
  static Value in(const Values &v, int64_t) { return v[0]; }
  static Values out(const Value &v) { return v; }
  static std::span<const Tensor> values(const Fed &v, Where) { return v.tensors(); }
  static int64_t number(const Fed &) { return 0; }
  static Tensor result(std::vector<Tensor> t) { return std::move(t.front()); }
};
template <> struct Data<Values> {
  using type = Tensors;
  using argument = Tensors;
  static Values in(const Values &v, int64_t) { return v; }
  static Values out(const Values &v) { return v; }
  static std::span<const Tensor> values(const Tensors &t, Where call) { return listed(t, call); }
  static int64_t number(const Tensors &) { return 0; }
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
template <> struct Data<Operand> : Data<Value> {}; // jit(ops::maximum)
template <class T> using DataOf = Data<std::remove_cvref_t<T>>;
} // namespace detail

template <class R, class... A> class Jitted {
public:
  template <class F>
  Jitted(F f, const JitArgs &args, Where where)
      : program_(wrap(std::move(f), std::index_sequence_for<A...>{}), args, where) {}
  /// Errors of the call, including those of operations in f, have the line of the call, unless they are about a layer.
  typename detail::DataOf<R>::type operator()(const typename detail::DataOf<A>::argument &...arguments,
                                              Where call = Where::current()) const {
    if constexpr (std::is_void_v<R>)
      program_.run({detail::DataOf<A>::values(arguments, call)...}, {detail::DataOf<A>::number(arguments)...}, call);
    else
      return detail::DataOf<R>::result(program_.run({detail::DataOf<A>::values(arguments, call)...},
                                                    {detail::DataOf<A>::number(arguments)...}, call));
  }

private:
  template <class F, size_t... I> static detail::TracedProgram::Traced wrap(F given, std::index_sequence<I...>) {
    std::function<R(A...)> f(std::move(given));
    if (!f) // an empty std::function, or a null pointer
      return {};
    return [f = std::move(f)](std::span<const Values> v, std::span<const int64_t> n) -> Values {
      if constexpr (std::is_void_v<R>) {
        f(detail::DataOf<A>::in(v[I], n[I])...);
        return {};
      } else
        return detail::DataOf<R>::out(f(detail::DataOf<A>::in(v[I], n[I])...));
    };
  }
  detail::TracedProgram program_;
};
/// Compiles f, which takes Value or Values and returns Value, Values, std::array<Value, N> or nothing. Arguments that
/// are bools, integers or enums are compile-time constants: there is one program per value (a warning names an argument
/// with more than 32 values). The result keeps a copy of f and retraces it for new shapes, so capture handles by value
/// ([=]); copies of a handle share their state.
/// Errors of calls by the C++ library, such as through std::function, have the line of jit() itself. value_error for an
/// empty function, and for named tensors for a Values parameter.
template <detail::Concrete F> auto jit(F f, const JitArgs &args = {}, Where where = Where::current()) {
  return typename detail::CallSignature<F>::template apply<Jitted>(std::move(f), args, where);
}
/// For a generic lambda or an overloaded function: jit<Value(const Value &)>([](auto x) { ... }).
template <class S, class F>
  requires std::is_function_v<S>
auto jit(F f, const JitArgs &args = {}, Where where = Where::current()) {
  return typename detail::CallSignature<S>::template apply<Jitted>(std::move(f), args, where);
}
template <class F>
  requires(std::is_class_v<F> && !detail::Concrete<F>)
void jit(F, const JitArgs & = {}) {
  static_assert(detail::never<F>, "the types of this function's arguments are not known: jit<Value(const Value &)>(f)");
}

/// Adds a file of compiled kernels that `halftone-run warm` has written: for all programs of this process, later
/// compilations take from it the kernels that are neither in memory nor in the cache on disk. Results are the same with
/// and without it. A pack holds machine code: trust it as you would trust a shared library. Adding a path again rereads
/// the file. io_error for a file that cannot be read, or that a user other than this one and root owns or may write;
/// value_error for a file that is no pack, or that belongs to another version of the library.
HALFTONE_API void add_kernel_pack(const std::string &path);
} // namespace halftone
