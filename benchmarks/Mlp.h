// The network of most benchmarks: 784-512-512-10 on batches of MNIST's shape, trained with Adam.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <string>

namespace halftone::benchmarks {

/// `count` images (count, image..) in [0, 1), float32, and labels (count,), int32; the same ones on each call.
Batch images(int64_t count, const Shape &image = {784});

struct MlpArgs {
  int64_t hidden = 2; // number of layers of `units` units
  int64_t inputs = 784, units = 512;
  bool scale_loss = true; // dynamic loss scaling under mixed_float16
  /// 0: timed steps leave the weights unchanged. Training on a single batch would end in slow subnormal moments.
  double learning_rate = 0;
};
/// The network under the policy of that name: compiled, built, and initialized from seed 1.
Sequential mlp(const std::string &policy, const MlpArgs &args = {});

} // namespace halftone::benchmarks
