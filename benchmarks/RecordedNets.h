// The nets whose code recorded-code writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// A program of a net at one batch size, and the folder that holds its stages.
struct RecordedProgram {
  std::string folder;
  Program program;
  int64_t batch;
};

struct RecordedNet {
  std::string name;
  std::function<Model()> make; // initialized from seed 1
  std::vector<RecordedProgram> programs;
};

/// Nets that together reach each kernel form, each instruction of products and both numerics. None computes a value to be
/// made, so each can be compiled for a target that is not this machine.
std::vector<RecordedNet> recordedNets();

} // namespace halftone::benchmarks
