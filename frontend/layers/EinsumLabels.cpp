// Parses the equations of EinsumDense.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/EinsumLabels.h"
#include "halftone/Error.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace halftone::detail {

/// Removes "..." from the start or the end of `term`, and returns which.
static EinsumLabels::Elided takeElided(std::string &term) {
  if (term.starts_with("...")) {
    term.erase(0, 3);
    return EinsumLabels::left;
  }
  if (!term.ends_with("..."))
    return EinsumLabels::none;
  term.erase(term.size() - 3);
  return EinsumLabels::right;
}

EinsumLabels einsumLabels(const std::string &equation) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  EinsumLabels labels;
  const auto isWord = [](const std::string &term) {
    return !term.empty() && std::ranges::all_of(term, [](unsigned char c) { return std::isalpha(c); });
  };
  bool isLegal = comma != std::string::npos && arrow != std::string::npos && comma < arrow;
  if (isLegal) {
    labels.input = equation.substr(0, comma);
    labels.kernel = equation.substr(comma + 1, arrow - comma - 1);
    labels.output = equation.substr(arrow + 2);
    labels.elided = takeElided(labels.input);
    isLegal = takeElided(labels.output) == labels.elided && isWord(labels.input) && isWord(labels.kernel) &&
              isWord(labels.output) && (labels.elided != EinsumLabels::right || labels.input.size() > 1);
  }
  if (!isLegal)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid einsum equation '{}'. Expected the form [X],[Y]->[Z], ...[X],[Y]->...[Z] or "
                            "[X]...,[Y]->[Z]...",
                            equation));
  return labels;
}

EinsumLabels EinsumLabels::expanded(int64_t inputRank) const {
  if (elided == none)
    return *this;
  const std::string used = input + kernel + output;
  std::string added;
  for (char label = 'A'; label <= 'z' && std::ssize(input) + std::ssize(added) < inputRank; ++label)
    if (std::isalpha(static_cast<unsigned char>(label)) && used.find(label) == std::string::npos)
      added += label;
  const bool front = elided == left;
  return {.elided = none,
          .input = front ? added + input : input + added,
          .kernel = kernel,
          .output = front ? added + output : output + added};
}

std::string EinsumLabels::equation() const { return input + "," + kernel + "->" + output; }
std::string EinsumLabels::inputGradientEquation() const { return output + "," + kernel + "->" + input; }

std::vector<int64_t> EinsumLabels::reducedAxes(const std::string &operand) const {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < operand.size(); ++i)
    if (output.find(operand[i]) == std::string::npos)
      axes.push_back(static_cast<int64_t>(i));
  return axes;
}

std::vector<int64_t> EinsumLabels::keptAxes(const std::string &operand) const {
  std::vector<int64_t> axes;
  for (const char label : output)
    if (const size_t position = operand.find(label); position != std::string::npos)
      axes.push_back(static_cast<int64_t>(position));
  return axes;
}

} // namespace halftone::detail
