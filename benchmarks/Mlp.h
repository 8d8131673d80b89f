// The network of most questions: 784-512-512-10 on batches like MNIST's, trained by Adam.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <string>

namespace halftone::benchmarks {

/// `count` images (count, 784) in [0, 1), float32, and labels (count,), int32; always the same.
Batch images(int64_t count);

struct MlpArgs {
  int64_t hidden = 2;     // layers of 512
  bool scale_loss = true; // under mixed_float16, dynamically
  /// Steps of timed models leave the weights: training on one batch would end in slow subnormal moments.
  double learning_rate = 0;
};
/// Compiled, built and initialised from seed 1, under the policy of that name.
Sequential mlp(const std::string &policy, const MlpArgs &args = {});

} // namespace halftone::benchmarks
