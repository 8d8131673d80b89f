// Programs with loops, to compare compiled code with the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halftone::test {

struct LoopProgram {
  std::string name, text; // a module in stage graph
};

/// Loops of all kinds, each with every length, and whiles with an unbounded number of steps.
std::vector<LoopProgram> loopPrograms(const std::vector<int64_t> &lengths);

/// A scan whose launches have many blocks.
LoopProgram wideProgram();

/// A recurrent layer over `length` steps: the tanh of the input times a weight, the state times a weight, and the bias.
std::string recurrentProgram(int64_t length);
/// A training step of an LSTM of 8 features and 16 units on 4 samples of `length` steps.
std::string trainedProgram(int64_t length);

} // namespace halftone::test
