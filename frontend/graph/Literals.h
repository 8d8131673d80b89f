// Constants of a traced function that have more elements than one literal may have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halftone::detail {

/// The values as a vector of at least one element.
Value vectorOf(const std::vector<double> &values, DType dtype);

/// Whether `json` is an array among the arguments of a call, as Keras's files have it: {"class_name": "__numpy__" or
/// "__tensor__", "config": {"value": nested lists, "dtype"}}.
bool isRecordedArray(const nlohmann::ordered_json &json);
/// An array as a call's argument holds it. value_error naming `owner` if it has more elements than recordedArray() reads, or a
/// number that JSON or a double lacks.
nlohmann::ordered_json arrayForRecord(const std::string &owner, const Tensor &array);
/// That array; outside of a trace a symbolic Value of its shape and dtype. value_error naming `owner` if the lists are ragged or hold anything but numbers, not_implemented_error if
/// they have more than 4,096 elements, which would belong into a layer's weight.
Value recordedArray(const std::string &owner, const nlohmann::ordered_json &json);

} // namespace halftone::detail
