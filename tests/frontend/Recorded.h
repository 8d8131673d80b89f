// Runs recorded functions, interpreted and compiled, for the tests of the frontend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/CompiledFunction.h"
#include "frontend/graph/Variables.h"
#include "halftone/Halftone.h"
#include <functional>
#include <string>
#include <vector>

namespace halftone::test {

enum class Run { interpreted, compiled, strict };
inline constexpr Run everyRun[] = {Run::interpreted, Run::compiled, Run::strict};

/// Converts a function of Values to a function of Tensors.
inline detail::CompiledFunction recorded(Run run, std::function<std::vector<Value>(const std::vector<Value> &)> body) {
  return detail::CompiledFunction(
      {.name = "recorded", .strict = run == Run::strict, .interpret = run == Run::interpreted}, {},
      [body = std::move(body)](detail::Trace &, const std::vector<Value> &feeds, const FeedLayout &) {
        std::vector<detail::CompiledFunction::Named> fetches;
        for (const Value &value : body(feeds))
          fetches.push_back({"result" + std::to_string(fetches.size()), value});
        return fetches;
      });
}

/// Runs `body` once.
inline std::vector<Tensor> runOnce(Run run, const std::vector<Tensor> &feeds,
                                   std::function<std::vector<Value>(const std::vector<Value> &)> body) {
  return recorded(run, std::move(body)).run(feeds);
}

/// 0, 1, 2, ... as float32.
inline Tensor counted(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i);
  return Tensor(std::move(data), shape);
}

inline Variable weight(const Tensor &initial, const std::string &path = "net/h/kernel") {
  return detail::makeVariable(initial, {.name = path.substr(path.rfind('/') + 1), .path = path});
}
inline std::vector<double> numbers(const Tensor &tensor) { return tensor.astype(float64).to_vector<double>(); }
inline std::vector<double> numbers(const Variable &variable) { return numbers(variable.value()); }

/// The text of the Error that `f` throws; "" if it throws none, which fails the caller's check.
template <class F> std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &error) {
    return std::string(name(error.kind())) + ": " + error.message();
  }
  return "";
}

/// Returns true if every element is within `tolerance`, relative to the larger of 1 and the expected element.
inline bool near(const std::vector<double> &found, const std::vector<double> &expected, double tolerance = 1e-6) {
  if (found.size() != expected.size())
    return false;
  for (size_t i = 0; i < found.size(); ++i) {
    double scale = std::max(1.0, std::abs(expected[i]));
    if (!(std::abs(found[i] - expected[i]) <= tolerance * scale))
      return false;
  }
  return true;
}

} // namespace halftone::test
