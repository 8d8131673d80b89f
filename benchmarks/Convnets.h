// Keras's MNIST convnet and a residual block with batch normalization, as the timing benchmarks train them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <string>

namespace halftone::benchmarks {

/// Options of a network. Like mlp(), it is compiled with Adam, built, and initialized from seed 1, under the policy of
/// that name.
struct ConvnetArgs {
  double dropout = 0.5;
  double learning_rate = 0; // 0: timed steps leave the weights unchanged
};
/// On images (28, 28, 1): convolutions of 32 and 64 filters, each with relu and 2x2 pooling; dropout; Dense(10).
Model convnet(const std::string &policy, const ConvnetArgs &args = {});
/// On images (56, 56, 64): two convolutions of 64 filters with batch normalization, a skip connection before the last
/// relu, global average pooling and Dense(10) for the loss. No dropout.
Model residualBlock(const std::string &policy, const ConvnetArgs &args = {});

} // namespace halftone::benchmarks
