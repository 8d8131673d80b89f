// The labels of an EinsumDense equation.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::detail {

/// The labels of an equation, and the side on which "..." occurs in input and output.
struct EinsumLabels {
  enum Elided { none, left, right } elided = none;
  std::string input, kernel, output;

  /// The equation for an input of this rank, with labels in place of "...".
  EinsumLabels expanded(int64_t inputRank) const;
  std::string equation() const; // of expanded labels
  std::string inputGradientEquation() const;
  /// reducedAxes() are the axes of an operand, `input` or `kernel`, that are reduced; keptAxes() are the others, in the
  /// output's order.
  std::vector<int64_t> reducedAxes(const std::string &operand) const;
  std::vector<int64_t> keptAxes(const std::string &operand) const;
};

/// value_error unless the equation has one of the forms [X],[Y]->[Z], ...[X],[Y]->...[Z] and [X]...,[Y]->[Z]... .
EinsumLabels einsumLabels(const std::string &equation);

} // namespace halftone::detail
