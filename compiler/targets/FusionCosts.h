// The thresholds by which fusion decides whether a legal fusion pays.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone::compiler {

/// Defaults for all targets. None of the values was swept: each is a guess, and the benchmark that it names shows its effect.
struct FusionCosts {
  /// A tensor of at least so many elements is large: one kernel reads it once instead of two kernels reading it each. Guess;
  /// train-step.
  int64_t bigInput = 4096;

  /// A cheap chain: at most so many loads of tensors, transcendental ops and ops. Guess; train-step.
  int64_t chainLoads = 2, chainTranscendentals = 2, chainOps = 16;

  /// A launch costs more than the work of a row kernel of at most so many elements. Guess; train-step.
  int64_t smallRows = 65536;

  /// A kernel of attention computes a mask from tensors that have at most one element for so many scores. Guess; attention.
  int64_t scoresPerMaskElement = 16;

  /// A reduction is worth a kernel of its own for its partial results from so many elements on, and from so many for each element
  /// of its result. Guess; train-step-cnn.
  int64_t lonePartialElements = 32768, lonePartialElementsPerResult = 64;

  /// A large value is recomputed with at most so many loads of vectors, ops and transcendental ops. Guess; arena.
  int64_t recomputeVectors = 6, recomputeOps = 32, recomputeTranscendentals = 2;
  /// A smaller value stays in a cache, where reading it costs less than a transcendental function. Guess; arena, train-step-gpt.
  int64_t recomputeTranscendentalElements = int64_t(1) << 20;
  /// A tensor is a vector beside a value that has so many times its elements. Guess; arena.
  int64_t elementsPerVectorElement = 16;
};

} // namespace halftone::compiler
