// Values: symbolic tensors, the results of layers and ops. A Value has a shape and a dtype, but no elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DType.h"
#include "Error.h"
#include "Indexing.h"
#include "Number.h"
#include "Shape.h"
#include "Tensor.h"
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
namespace detail {
struct Node;
struct VariableImpl;
} // namespace detail
class Operand;
class Part;

class HALFTONE_API Value {
public:
  Value() noexcept;
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &) &; // no assignment to a temporary
  Value &operator=(Value &&) & noexcept;
  ~Value();
  bool defined() const { return node_ != nullptr; }
  Shape shape() const; // the batch axis is none
  DType dtype() const;
  int64_t rank() const { return shape().rank(); }
  std::string layer_path() const;
  /// The bool mask (batch, ...) of valid elements, while a function is traced; undefined if there is none. Keras's
  /// get_keras_mask.
  Value mask() const;
  /// NumPy's basic indexing: x[0], x[{Slice(), 0}], x[{ellipsis, newaxis}]. A slice of step 1 is not copied: kernels
  /// read it as a view. value_error for an index out of range and for too many items.
  Value operator[](const Index &key) const;
  Value operator[](std::initializer_list<Index> key) const;
  /// Gathers slices along axis 0: ops::take(x, indices, 0), with indices clamped to the axis. Also for a single index
  /// that is known only at run time. type_error unless the indices are integers.
  Value operator[](const Value &indices) const;
  /// x.at(key).set(y) is x with the elements at the key replaced. A Value is immutable, so x[key] = y does not compile.
  Part at(const Index &key) const;
  Part at(std::initializer_list<Index> key) const;
  /// Slices along axis 0. A negative index counts from the end; an index out of range is ignored. For duplicate
  /// indices, set() keeps the last element and add() adds all.
  Part at(const Value &indices) const;
  explicit Value(std::shared_ptr<detail::Node> node);
  const std::shared_ptr<detail::Node> &node() const { return node_; }

private:
  std::shared_ptr<detail::Node> node_;
};
class HALFTONE_API Values { // one Value, or an ordered list
public:
  Values() noexcept;
  Values(const Value &one);
  Values(std::initializer_list<Value> list);
  Values(std::vector<Value> list);
  Values(const Values &);
  Values(Values &&) noexcept;
  Values &operator=(const Values &) &;
  Values &operator=(Values &&) & noexcept;
  ~Values();
  size_t size() const { return list_.size(); }
  Value operator[](size_t i) const; // value_error if out of range
  const Value *begin() const & { return list_.data(); }
  const Value *end() const & { return list_.data() + list_.size(); }
  const Value *begin() const && = delete;
  const Value *end() const && = delete;

private:
  std::vector<Value> list_;
};

struct VariableArgs {
  bool trainable = true;
  bool autocast = true;
  std::string name{};
};
/// A variable of a layer, an optimizer, a metric or a user's function. Conversion to a Value reads it; inside an
/// autocast scope the read has the scope's dtype, as in Keras.
class HALFTONE_API Variable {
public:
  Variable() noexcept;
  explicit Variable(const Tensor &initial, const VariableArgs &args = {}); // a copy on the thread's default device
  Variable(const Variable &);
  Variable(Variable &&) noexcept;
  Variable &operator=(const Variable &) &;
  Variable &operator=(Variable &&) & noexcept;
  ~Variable();
  bool defined() const { return impl_ != nullptr; }
  operator Value() const; // runtime_error "... was read before it was created" if undefined
  Shape shape() const;
  DType dtype() const;
  std::string name() const;
  std::string path() const;
  bool trainable() const;
  Tensor value() const;                        // a copy, on the host
  void assign(const Tensor &value) const;      // immediate; rounded to the variable's dtype
  void assign(const Operand &value) const;     // recorded in the current trace
  void assign_add(const Operand &value) const; // records assign(*this + value), without autocast
  void assign_sub(const Operand &value) const;
  explicit Variable(std::shared_ptr<detail::VariableImpl> impl);
  const std::shared_ptr<detail::VariableImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<detail::VariableImpl> impl_;
};

/// An operand of an operator or of a binary op: a Value, a Variable or a number. A number is weakly typed: it takes the
/// dtype of the other operand, rounded once. It widens the result only if it is of a higher kind: an integer with bools
/// gives int32, a floating-point number with bools or integers floatx. Two numbers give int32 or floatx. value_error
/// for an integer that the dtype cannot represent.
/// A number has an arithmetic type or an unscoped enumeration type. Other types that convert to a number, such as
/// std::atomic, are excluded: otherwise the operators below would apply to them wherever halftone's names are visible.
class HALFTONE_API Operand {
public:
  Operand(const Value &value) : value_(value) {}
  Operand(const Variable &variable) : value_(variable) {}
  Operand(const Number &number) : number_(number), isNumber_(true) {}
  template <class N>
    requires std::is_arithmetic_v<N> || (std::is_enum_v<N> && std::is_convertible_v<N, int64_t>)
  Operand(N number) : Operand(Number(number)) {}
  Operand(const Tensor &data) = delete; // use constant(data), or an argument of the function
  bool is_number() const { return isNumber_; }
  const Value &value() const { return value_; }    // undefined if it is a number
  const Number &number() const { return number_; } // 0 if it is not a number

private:
  Value value_{};
  Number number_ = 0;
  bool isNumber_ = false;
};

/// Creates a constant from data, in the function being traced or in a functional model.
HALFTONE_API Value constant(const Tensor &data);

HALFTONE_API Value operator+(const Operand &a, const Operand &b);
HALFTONE_API Value operator-(const Operand &a, const Operand &b);
HALFTONE_API Value operator*(const Operand &a, const Operand &b);
HALFTONE_API Value operator/(const Operand &a, const Operand &b);
HALFTONE_API Value operator%(const Operand &a, const Operand &b); // ops::mod, with Python's sign
HALFTONE_API Value operator-(const Value &a);
/// Elementwise comparisons, as ops::equal and so on. type_error for a bool operand of <, <=, > or >=, as in 0 < x < 1:
/// write (0 < x) & (x < 1).
HALFTONE_API Value operator==(const Operand &a, const Operand &b);
HALFTONE_API Value operator!=(const Operand &a, const Operand &b);
HALFTONE_API Value operator<(const Operand &a, const Operand &b);
HALFTONE_API Value operator<=(const Operand &a, const Operand &b);
HALFTONE_API Value operator>(const Operand &a, const Operand &b);
HALFTONE_API Value operator>=(const Operand &a, const Operand &b);
HALFTONE_API Value operator&(const Operand &a, const Operand &b); // ops::bitwise_and: for bools the logical and
HALFTONE_API Value operator|(const Operand &a, const Operand &b);
HALFTONE_API Value operator^(const Operand &a, const Operand &b);
HALFTONE_API Value operator~(const Value &a);
HALFTONE_API Value operator!(const Value &a);                  // ops::logical_not
Value operator&&(const Operand &a, const Operand &b) = delete; // both operands are always computed: write a & b
Value operator||(const Operand &a, const Operand &b) = delete; // both operands are always computed: write a | b

/// a += b is a = a + b: `a` becomes the handle of a new Value, and other handles are unaffected. Not defined for Input
/// and Variable.
template <std::same_as<Value> V> V &operator+=(V &a, const Operand &b) { return a = a + b; }
template <std::same_as<Value> V> V &operator-=(V &a, const Operand &b) { return a = a - b; }
template <std::same_as<Value> V> V &operator*=(V &a, const Operand &b) { return a = a * b; }
template <std::same_as<Value> V> V &operator/=(V &a, const Operand &b) { return a = a / b; }
template <std::same_as<Value> V> V &operator%=(V &a, const Operand &b) { return a = a % b; }
template <std::same_as<Value> V> V &operator&=(V &a, const Operand &b) { return a = a & b; }
template <std::same_as<Value> V> V &operator|=(V &a, const Operand &b) { return a = a | b; }
template <std::same_as<Value> V> V &operator^=(V &a, const Operand &b) { return a = a ^ b; }

/// The elements of a Value at a key, or at the indices in another Value: JAX's x.at[key].
class HALFTONE_API Part {
public:
  [[nodiscard]] Value set(const Operand &y) const; // y broadcasts to x[key], and is cast to x's dtype
  [[nodiscard]] Value add(const Operand &y) const;

private:
  friend class Value;
  Part(Value x, std::vector<Index> key, Value indices = {});
  Value x_;
  std::vector<Index> key_;
  Value indices_; // used instead of a key
};

/// For the lifetime of the scope, this thread reads float variables with autocast in `dtype`; with nullopt it reads
/// them in their own dtype. A layer call opens a scope with the layer's compute dtype, or without a dtype if the
/// layer's autocast is off.
class HALFTONE_API AutocastScope {
public:
  [[nodiscard]] explicit AutocastScope(std::optional<DType> dtype); // value_error unless the dtype is a float
  ~AutocastScope();
  AutocastScope(const AutocastScope &) = delete;

private:
  std::optional<DType> saved_dtype_;
  bool saved_open_;
};

/// The derivatives of a scalar float with respect to variables, each in the dtype of its variable. Each read of a
/// variable is a leaf: the derivative is taken at the values that the reads returned, even if the variable is assigned
/// later, and is the sum over all reads on which the loss depends. No cotangent flows through an assignment. If the
/// loss does not depend on a variable, the derivative is 0. runtime_error outside of a trace; value_error if the loss
/// is not a scalar; type_error if the loss or a variable is not a float.
[[nodiscard]] HALFTONE_API std::vector<Value> gradients(const Value &loss, const std::vector<Variable> &wrt,
                                                        Where where = Where::current());
/// The derivatives with respect to values of the trace.
[[nodiscard]] HALFTONE_API std::vector<Value> gradients(const Value &loss, const std::vector<Value> &wrt,
                                                        Where where = Where::current());
[[nodiscard]] HALFTONE_API Value gradient(const Value &loss, const Variable &wrt, Where where = Where::current());
[[nodiscard]] HALFTONE_API Value gradient(const Value &loss, const Value &wrt, Where where = Where::current());
/// <Value shape=(None, 10), dtype=float32, layer=net/dense>: a Value has no elements to print.
HALFTONE_API std::ostream &operator<<(std::ostream &os, const Value &value);
HALFTONE_API std::ostream &operator<<(std::ostream &os, const Variable &variable);
} // namespace halftone
