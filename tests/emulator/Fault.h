// Failures of emulated work: a fault stops a launch, an error of the PTX stops the load of a module.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace halftone::emulator {

/// The driver's error that a fault becomes.
enum class FaultKind : uint8_t { IllegalAddress, MisalignedAddress, LaunchFailed };

/// A kernel, or a copy in a stream, does a thing that the device forbids, or one that makes results depend on an order.
class Fault : public std::runtime_error {
public:
  Fault(FaultKind kind, const std::string &text) : std::runtime_error(text), kind(kind) {}

  FaultKind kind;
};

/// PTX that the emulator does not take. `line` counts from 1.
class PtxError : public std::runtime_error {
public:
  PtxError(uint32_t line, const std::string &text);

  uint32_t line;
};

/// PTX of a newer version than the driver takes.
class PtxVersionError : public PtxError {
public:
  using PtxError::PtxError;
};

} // namespace halftone::emulator
