// Operations between layers in files: the names of their calls here, and Keras's classes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "frontend/graph/Graph.h"
#include <string_view>

namespace halftone::detail {

/// Returns true if calls with this Value are recorded, and so need a form.
inline bool isSymbolic(const Value &value) { return value.defined() && !value.node()->isTraced(); }

/// Completes the form of a call of the operation named `call`, unless it has a class: sets class and module and, if it
/// has no arguments, the `inputs` Values as positional arguments. Sets no class if files cannot represent the
/// operation.
CallForm operationForm(std::string_view call, CallForm form, size_t inputs);

/// apply() of an operation with one result. For a recorded call, operationForm() completes the form.
Value applyOne(const std::string &name, const std::vector<Value> &inputs,
               const std::function<Value(const std::vector<Value> &)> &f, const CallForm &form = {});

/// apply() of an operation on Values and numbers. For a recorded call, the form has each number at its position; files
/// cannot represent a number that JSON lacks.
Value applyOperands(const std::string &name, const std::vector<Operand> &operands,
                    const std::function<Value(const std::vector<Operand> &)> &f);
/// The config {"axis": [0, 1], "keepdims": false}; a null axis means all.
CallForm formOfReduction(const std::vector<int64_t> &axes, bool keepdims);

/// A config of one argument.
template <class T> Config configOf(const char *key, const T &value) {
  Config config;
  setField(config, key, value);
  return config;
}
/// configForm() is the form of an operation whose arguments other than Values are the given pairs of names and values.
inline void setFields(Config &) {}
template <class T, class... More> void setFields(Config &config, const char *key, const T &value, const More &...more) {
  setField(config, key, value);
  setFields(config, more...);
}
template <class... Fields> CallForm configForm(const Fields &...fields) {
  CallForm form;
  setFields(form.config, fields...);
  return form;
}
/// recordOperations() records a call of the operation of a Keras class on Values, passed positionally or as one list;
/// `config` holds the other arguments.
enum class OperandForm : uint8_t { positions, list };
std::vector<Value> recordOperations(const char *className, const std::vector<Value> &inputs, const Config &config = {},
                                    OperandForm form = OperandForm::positions);
/// Like recordOperations(), for an operation with one result.
Value recordOperation(const char *className, const std::vector<Value> &inputs, const Config &config = {},
                      OperandForm form = OperandForm::positions);

/// Returns true if `module` is a module of Keras operations.
bool isOperationModule(std::string_view module);
/// Calls the operation of a Keras class with recorded arguments and config, and records the call in the same form.
/// not_implemented_error naming the class, or an argument that the operation does not support here.
std::vector<Value> callOperation(const std::string &className, const std::vector<Value> &inputs,
                                 const Config &arguments, const Config &config);

} // namespace halftone::detail
