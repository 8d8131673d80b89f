// Every op of the dialect with each dtype that it accepts, as small programs.
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
  special,  // zeros of both signs, infinities, NaN, subnormal, largest and midpoint numbers among random ones; the ends
            // of integers
  index,    // indices of an axis of extent 5, and out-of-bounds integers
  moderate, // in [-2, 2]; integers from -4 to 4, unsigned from 0 to 8
};

struct OpOperand {
  std::string type; // "3x37xf32"
  Values values = Values::special;
  int index = 0; // distinguishes operands of equal type and values
};

/// One op on its operands, which the text names $0, $1, ...
struct OpCase {
  std::string op;    // mnemonic
  std::string label; // unique in its list
  std::vector<OpOperand> operands;
  std::string text; // "halftone.add $0, $1 : tensor<3x37xf32>"
  std::string result;
  size_t results = 1, fetched = 0; // the number of results of the op, and the index of the compared one
};

/// One list per family. `shape` has the form used in types ("3x37x", "" for scalars).
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
/// Products with few rows and columns and sums of `depth` numbers, a multiple of 8.
std::vector<OpCase> longSumCases(int64_t depth);
/// The cases of one dtype: extents of 0 and 1 on every axis of shape ops, gathers, scatters, reductions and
/// contractions, and one value as several operands.
std::vector<OpCase> degenerateCases(const std::string &dtype);

/// A module with one feed per distinct operand and one fetch per case, named by its label.
std::string moduleOf(const std::vector<OpCase> &cases);
/// The feeds of moduleOf(cases), in its order.
std::vector<Tensor> feedsOf(const std::vector<OpCase> &cases);

} // namespace halftone::test
