// Keras's MNIST convnet, and a residual block with batch normalization, as they are trained in questions about time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <halftone/Halftone.h>
#include <string>

namespace halftone::benchmarks {

/// How a network is made. As mlp() it is compiled with Adam, built and initialised from seed 1, under the policy of that
/// name.
struct ConvnetArgs {
  double dropout = 0.5;
  double learning_rate = 0; // 0: timed steps do not change the weights
};
/// Images (28, 28, 1): convolutions of 32 and 64 filters, each with relu and a pooling by 2; dropout; Dense(10).
Model convnet(const std::string &policy, const ConvnetArgs &args = {});
/// Images (56, 56, 64): two convolutions of 64 filters, each with batch normalization, the image added before the last
/// relu; the mean of each channel and Dense(10) make a loss of it. Nothing is dropped.
Model residualBlock(const std::string &policy, const ConvnetArgs &args = {});

} // namespace halftone::benchmarks
