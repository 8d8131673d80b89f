// Values, lists of them, and derivatives.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Value.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Trace.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <ostream>
#include <string_view>

namespace halftone {
using namespace detail;

Value::Value() noexcept = default;
Value::Value(const Value &) = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(const Value &) & = default;
Value &Value::operator=(Value &&) & noexcept = default;
Value::~Value() = default;
Value::Value(std::shared_ptr<Node> node) : node_(std::move(node)) {}

static const Node &nodeOf(const std::shared_ptr<Node> &node) {
  if (!node)
    throw Error(ErrorKind::value_error, "an undefined Value was used");
  return *node;
}
Shape Value::shape() const { return nodeOf(node_).shape; }
DType Value::dtype() const { return nodeOf(node_).dtype; }
std::string Value::layer_path() const { return nodeOf(node_).layerPath; }
Value Value::mask() const { return nodeOf(node_).mask; }

Values::Values() noexcept = default;
Values::Values(const Value &one) : list_{one} {}
Values::Values(std::initializer_list<Value> list) : list_(list) {}
Values::Values(std::vector<Value> list) : list_(std::move(list)) {}
Values::Values(const Values &) = default;
Values::Values(Values &&) noexcept = default;
Values &Values::operator=(const Values &) & = default;
Values &Values::operator=(Values &&) & noexcept = default;
Values::~Values() = default;
Value Values::operator[](size_t i) const {
  if (i >= list_.size())
    throw Error(ErrorKind::value_error, fmt::format("There is no Value {}: the list has {}", i, list_.size()));
  return list_[i];
}

std::ostream &operator<<(std::ostream &os, const Value &value) {
  if (!value.defined())
    return os << "<Value undefined>";
  const std::string path = value.layer_path();
  return os << fmt::format("<Value shape={}, dtype={}{}>", value.shape().str(), name(value.dtype()),
                           path.empty() ? "" : ", layer=" + path);
}

/// The current trace. Errors carry the user's line; `caller` is the function that the user called.
static Trace &traceOfGradients(std::string_view caller, const Value &loss, Where where) {
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error,
                fmt::format("{} is for functions being traced: use it inside a jit function", caller), {}, where);
  if (!loss.defined())
    throw Error(ErrorKind::value_error, "cannot compute gradients of an undefined Value", {}, where);
  if (!is_float(loss.dtype()))
    throw Error(ErrorKind::type_error, fmt::format("gradients need a float loss, got {}", name(loss.dtype())), {},
                where);
  if (loss.rank() != 0)
    throw Error(ErrorKind::value_error,
                fmt::format("gradients need a scalar loss, got shape {}: reduce it with ops::mean or ops::sum",
                            loss.shape().str()),
                {}, where);
  return *trace;
}

static std::vector<Value> gradientsOf(std::string_view caller, const Value &loss, const std::vector<Variable> &wrt,
                                      Where where) {
  Trace &trace = traceOfGradients(caller, loss, where);
  std::vector<std::shared_ptr<VariableImpl>> variables;
  for (const Variable &variable : wrt) {
    if (!variable.defined())
      throw Error(ErrorKind::value_error, "cannot compute gradients with respect to a Variable that was not created",
                  {}, where);
    if (!is_float(variable.impl()->dtype))
      throw Error(
          ErrorKind::type_error,
          fmt::format("no gradient with respect to '{}' of dtype {}", variable.path(), name(variable.impl()->dtype)),
          {}, where);
    variables.push_back(variable.impl());
  }
  return trace.gradient(loss, variables, {});
}

static std::vector<Value> gradientsOf(std::string_view caller, const Value &loss, const std::vector<Value> &wrt,
                                      Where where) {
  Trace &trace = traceOfGradients(caller, loss, where);
  for (const Value &x : wrt) {
    if (!x.defined())
      throw Error(ErrorKind::value_error, "cannot compute gradients with respect to an undefined Value", {}, where);
    if (!is_float(x.dtype()))
      throw Error(ErrorKind::type_error,
                  fmt::format("no gradient with respect to a Value of dtype {}", name(x.dtype())), {}, where);
  }
  return trace.gradient(loss, {}, wrt);
}

std::vector<Value> gradients(const Value &loss, const std::vector<Variable> &wrt, Where where) {
  return gradientsOf("gradients()", loss, wrt, where);
}
std::vector<Value> gradients(const Value &loss, const std::vector<Value> &wrt, Where where) {
  return gradientsOf("gradients()", loss, wrt, where);
}
Value gradient(const Value &loss, const Variable &wrt, Where where) {
  return gradientsOf("gradient()", loss, std::vector{wrt}, where).front();
}
Value gradient(const Value &loss, const Value &wrt, Where where) {
  return gradientsOf("gradient()", loss, std::vector{wrt}, where).front();
}

} // namespace halftone
