// The nets whose code recorded-code records.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// A program of a net at one batch size, and the folder for its stages.
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

/// Nets that together cover every kernel form, every product instruction and both numerics. None computes a value
/// during creation, so each can be compiled for a target other than this machine.
std::vector<RecordedNet> recordedNets();

} // namespace halftone::benchmarks
