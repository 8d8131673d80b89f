// Values: symbols for results of layers and ops. A Value has a shape and a dtype, and no elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DType.h"
#include "Error.h"
#include "Number.h"
#include "Shape.h"
#include "Tensor.h"
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
namespace detail {
struct Node;
struct VariableImpl;
} // namespace detail

class HALFTONE_API Value {
public:
  Value() noexcept;
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &) &; // no assignment to a temporary
  Value &operator=(Value &&) & noexcept;
  ~Value();
  bool defined() const { return node_ != nullptr; }
  Shape shape() const; // with none for the batch
  DType dtype() const;
  int64_t rank() const { return shape().rank(); }
  std::string layer_path() const;
  /// While a function is traced: the bools (batch, ...) that tell which elements count; undefined if there are none.
  /// Keras's get_keras_mask.
  Value mask() const;
  explicit Value(std::shared_ptr<detail::Node> node);
  const std::shared_ptr<detail::Node> &node() const { return node_; }

private:
  std::shared_ptr<detail::Node> node_;
};
HALFTONE_API Value constant(const Tensor &data); // only this call brings a Tensor into a graph

HALFTONE_API Value operator+(const Value &a, const Value &b);
HALFTONE_API Value operator-(const Value &a, const Value &b);
HALFTONE_API Value operator*(const Value &a, const Value &b);
HALFTONE_API Value operator/(const Value &a, const Value &b);
/// A number takes the dtype of the Value, rounded once; beside a bool it counts as an int32. A number that is no whole
/// number makes an integer Value a float, and so does a division. An integer that the Value's dtype does not hold, as 300
/// beside an int8 or -1 beside a uint8, is a value_error.
HALFTONE_API Value operator+(const Value &a, const Number &b);
HALFTONE_API Value operator-(const Value &a, const Number &b);
HALFTONE_API Value operator*(const Value &a, const Number &b);
HALFTONE_API Value operator/(const Value &a, const Number &b);
HALFTONE_API Value operator+(const Number &a, const Value &b);
HALFTONE_API Value operator-(const Number &a, const Value &b);
HALFTONE_API Value operator*(const Number &a, const Value &b);
HALFTONE_API Value operator/(const Number &a, const Value &b);
HALFTONE_API Value operator-(const Value &a);
inline Value &operator+=(Value &a, const Value &b) {
  a = a + b;
  return a;
}
inline Value &operator*=(Value &a, const Value &b) {
  a = a * b;
  return a;
}

class HALFTONE_API Values { // one, or several in order
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
  Value operator[](size_t i) const; // value_error for an index past the end
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
/// A variable of a layer, an optimizer, a metric or a user's own function. Conversion to a Value reads it: inside an
/// autocast scope in the scope's dtype, as in Keras.
class HALFTONE_API Variable {
public:
  Variable() noexcept;
  explicit Variable(const Tensor &initial, const VariableArgs &args = {}); // a copy, on the thread's default device
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
  Tensor value() const;                   // a copy on the host
  void assign(const Tensor &value) const; // at once; rounded to the variable's dtype
  void assign(const Value &value) const;  // recorded in the current trace
  explicit Variable(std::shared_ptr<detail::VariableImpl> impl);
  const std::shared_ptr<detail::VariableImpl> &impl() const { return impl_; }

private:
  std::shared_ptr<detail::VariableImpl> impl_;
};

/// While the scope lives, this thread reads float variables with autocast in `dtype`, or in their own dtype if none is
/// given. A layer that is called opens a scope of its compute dtype, or one without a dtype if the layer's autocast is
/// off.
class HALFTONE_API AutocastScope {
public:
  [[nodiscard]] explicit AutocastScope(std::optional<DType> dtype); // value_error unless the dtype is a float
  ~AutocastScope();
  AutocastScope(const AutocastScope &) = delete;

private:
  std::optional<DType> saved_dtype_;
  bool saved_open_;
};

/// The derivatives of a scalar float with respect to variables, in their dtypes. Each read of a variable is a leaf: the
/// derivative is taken at the values that the reads of the trace gave, also behind assignments, and is the sum over all
/// reads that the loss depends on. Nothing flows through an assignment. Where the loss does not depend on a variable, the
/// derivative is 0. runtime_error outside of a trace; value_error if the loss is no scalar; type_error if the loss or a
/// variable is no float.
[[nodiscard]] HALFTONE_API std::vector<Value> gradients(const Value &loss, const std::vector<Variable> &wrt,
                                                        Where where = Where::current());
/// The same with respect to values of the trace.
[[nodiscard]] HALFTONE_API std::vector<Value> gradients(const Value &loss, const std::vector<Value> &wrt,
                                                        Where where = Where::current());
} // namespace halftone
