// Constants of a traced function that exceed the size of one literal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halftone::detail {

/// A vector constant of at least one element.
Value vectorOf(const std::vector<double> &values, DType dtype);

/// Returns true if `json` is an array argument of a call in the form of Keras files: {"class_name": "__numpy__" or
/// "__tensor__", "config": {"value": nested lists, "dtype"}}.
bool isRecordedArray(const nlohmann::ordered_json &json);
/// Converts an array to that form. value_error naming `owner` if it has more elements than recordedArray() reads, an
/// extent after an extent of 0, or a value that JSON or a double cannot represent.
nlohmann::ordered_json arrayForRecord(const std::string &owner, const Tensor &array);
/// Reads an array in that form; outside of a trace, a symbolic Value of its shape and dtype. value_error naming `owner`
/// if the lists are ragged or contain anything but numbers, not_implemented_error if they have more than 4,096
/// elements; such an array should be a layer's weight.
Value recordedArray(const std::string &owner, const nlohmann::ordered_json &json);

} // namespace halftone::detail
