// Every op of the dialect with every dtype that it takes, as small programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/DType.h"
#include "halftone/Tensor.h"
#include "runtime/plan/Signature.h"
#include <string>
#include <vector>

namespace halftone::test {

/// The values of an operand.
enum class Values : uint8_t {
  special,  // zeros of both signs, infinities, NaN, subnormal, largest and halfway numbers among random ones; the ends
            // of integers
  index,    // indices of an axis of extent 5, and integers out of its range
  moderate, // in [-2, 2]; integers from -4 to 4, unsigned from 0 to 8
};

struct OpOperand {
  std::string type; // "3x37xf32"
  Values values = Values::special;
  int index = 0; // tells operands of equal type and values apart
};

/// One op on its operands, which the text calls $0, $1, ...
struct OpCase {
  std::string op;    // mnemonic
  std::string label; // unique in its list
  std::vector<OpOperand> operands;
  std::string text; // "halftone.add $0, $1 : tensor<3x37xf32>"
  std::string result;
  size_t results = 1, fetched = 0; // how many results the op has, and which of them is compared
};

/// One list for each family; `shape` has the form that types have ("3x37x", "" for scalars).
std::vector<OpCase> elementwiseCases(const std::string &shape);
std::vector<OpCase> castCases(const std::string &shape);
std::vector<OpCase> sourceCases();
std::vector<OpCase> shapeCases();
std::vector<OpCase> indexingCases();
std::vector<OpCase> reductionCases();
std::vector<OpCase> scanCases();
std::vector<OpCase> sortCases();
std::vector<OpCase> contractionCases();
std::vector<OpCase> windowCases();
std::vector<OpCase> convolutionCases();
std::vector<OpCase> attentionCases();
/// Products of few rows and columns and sums of `depth` numbers, a multiple of 8.
std::vector<OpCase> longSumCases(int64_t depth);
/// The cases of one dtype: extents of 0 and 1 on every axis of shape ops, lookups, reductions and contractions, and
/// one value as several operands.
std::vector<OpCase> degenerateCases(const std::string &dtype);

/// A module that has one feed for each different operand, and one fetch for each case, under its label.
std::string moduleOf(const std::vector<OpCase> &cases);
/// The feeds of moduleOf(cases), in its order.
std::vector<Tensor> feedsOf(const std::vector<OpCase> &cases);

} // namespace halftone::test
