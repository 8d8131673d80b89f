// The network of most questions: 784-512-512-10 on batches of MNIST's shape, trained by Adam.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <string>

namespace halftone::benchmarks {

/// `count` images (count, image..) in [0, 1), float32, and labels (count,), int32; the same ones at each call.
Batch images(int64_t count, const Shape &image = {784});

struct MlpArgs {
  int64_t hidden = 2;     // layers of 512
  bool scale_loss = true; // under mixed_float16, dynamically
  /// 0: timed steps do not change the weights. Training on one batch would end in slow subnormal moments.
  double learning_rate = 0;
};
/// The network, compiled, built and initialised from seed 1, under the policy of that name.
Sequential mlp(const std::string &policy, const MlpArgs &args = {});

} // namespace halftone::benchmarks
