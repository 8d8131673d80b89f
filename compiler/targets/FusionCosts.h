// The thresholds by which fusion decides whether a legal fusion is profitable.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace halftone::compiler {

/// Defaults for all targets. None of the values was tuned: each is a guess, and the benchmark that its comment names
/// shows its effect.
struct FusionCosts {
  /// A tensor with at least this many elements is large: two kernels that read it are merged, so that it is read once.
  /// Guess; train-step.
  int64_t largeInput = 4096;

  /// A cheap chain has at most this many loads of tensors, transcendental ops and ops. Guess; train-step.
  int64_t chainLoads = 2, chainTranscendentals = 2, chainOps = 16;

  /// A launch costs more than the work of a row kernel with at most this many elements. Guess; train-step.
  int64_t smallRows = 65536;

  /// An attention kernel computes its mask from tensors with at most one element per this many scores. Guess;
  /// attention.
  int64_t scoresPerMaskElement = 16;

  /// The partial results of a reduction are worth a separate kernel if the reduction has at least this many elements,
  /// and at least this many per element of its result. Guess; train-step-cnn.
  int64_t standalonePartialElements = 32768, standalonePartialElementsPerResult = 64;

  /// A large value is recomputed with at most this many loads of vectors, ops and transcendental ops. Guess; arena.
  int64_t recomputeVectors = 6, recomputeOps = 32, recomputeTranscendentals = 2;
  /// A value with fewer elements stays in a cache, where reading it costs less than a transcendental function. Guess;
  /// arena, train-step-gpt.
  int64_t recomputeTranscendentalElements = int64_t(1) << 20;
  /// A tensor counts as a vector compared to a value with this many times its elements. Guess; arena.
  int64_t elementsPerVectorElement = 16;
};

} // namespace halftone::compiler
