// The networks whose training steps are timed beside peers: what a peer must know, without policies, sizes and bars.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Convnets.h"
#include "Gpt.h"
#include "Mlp.h"
#include "TrainStep.h"
#include <string>

namespace halftone::benchmarks {

/// Timed steps have a learning rate of 0, and dropout if the network has it; see Network::make. Wide layers require a
/// low `checkedRate`: otherwise the first steps increase the loss, and differences of rounding with it.
Network perceptron(const MlpArgs &sizes, double checkedRate = Network().checkedRate);
Network transformer(const GptArgs &sizes);
/// `name` is the network's name in peers/networks.py, `make` its function in Convnets.h.
Network convolutional(const std::string &title, const std::string &name, const Shape &image,
                      Model (*make)(const std::string &, const ConvnetArgs &));

} // namespace halftone::benchmarks
