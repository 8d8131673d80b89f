// Every op of the dialect with every dtype it takes, as small programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Tensor.h"
#include "runtime/plan/Signature.h"
#include <string>
#include <vector>

namespace halftone::test {

/// What an operand holds.
enum class Values : uint8_t {
  special,  // zeros of both signs, infinities, NaN, subnormal, largest and halfway numbers among random ones; the ends
            // of integers
  index,    // of an axis of 5: those, and numbers that name no slice of it
  moderate, // in [-2, 2]; integers from -4 to 4, unsigned from 0 to 8
};

struct OpOperand {
  std::string type; // "3x37xf32"
  Values values = Values::special;
  int index = 0; // operands of equal type and values differ by it
};

/// One op on its operands, which the text calls $0, $1, ...
struct OpCase {
  std::string op;    // mnemonic
  std::string label; // unique in its list
  std::vector<OpOperand> operands;
  std::string text; // "halftone.add $0, $1 : tensor<3x37xf32>"
  std::string result;
};

/// One list a family; `shape` as in types ("3x37x", "" for scalars).
std::vector<OpCase> elementwiseCases(const std::string &shape);
std::vector<OpCase> castCases(const std::string &shape);
std::vector<OpCase> sourceCases();
std::vector<OpCase> shapeCases();
std::vector<OpCase> indexingCases();
std::vector<OpCase> reductionCases();
std::vector<OpCase> scanCases();
std::vector<OpCase> contractionCases();
/// Of one dtype: extents of 0 and 1 in every position of shape ops, lookups, reductions and contractions, and one value
/// as several operands.
std::vector<OpCase> degenerateCases(const std::string &dtype);

/// A module that takes each different operand once and gives each case's result under its label.
std::string moduleOf(const std::vector<OpCase> &cases);
/// The feeds of moduleOf(cases), in order.
std::vector<Tensor> feedsOf(const std::vector<OpCase> &cases);

} // namespace halftone::test
