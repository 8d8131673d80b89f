// Reads recorded facts of Keras: one JSON object per line, tensors as nested lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/ConfigAccess.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

namespace halftone::test {

using Json = nlohmann::ordered_json;

/// The lines of a file in tests/data/keras.
inline std::vector<std::string> recordedLines(const std::string &file) {
  std::ifstream stream(HALFTONE_SOURCE_DIR "/tests/data/keras/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

inline void flatten(const Json &value, std::vector<double> &elements) {
  if (value.is_array())
    for (const Json &entry : value)
      flatten(entry, elements);
  else
    elements.push_back(value.get<float>()); // nine digits identify a float32
}
inline std::vector<double> elementsOf(const Json &value) {
  std::vector<double> elements;
  flatten(value, elements);
  return elements;
}
inline Tensor tensorOf(const Json &value, const std::string &dtype) {
  std::vector<int64_t> dims;
  for (const Json *list = &value; list->is_array(); list = &(*list)[0])
    dims.push_back(std::ssize(*list));
  return Tensor(elementsOf(value), Shape(std::move(dims))).astype(standardize_dtype(dtype));
}

/// The largest difference, relative to the largest expected element; NaN if any difference is NaN.
inline double distance(const std::vector<double> &found, const std::vector<double> &expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 1e-30, difference = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double here = std::abs(found[i] - expected[i]);
    if (std::isnan(here) || here > difference) // a NaN persists
      difference = here;
  }
  return difference / largest;
}

} // namespace halftone::test
