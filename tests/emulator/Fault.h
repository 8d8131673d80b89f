// Failures of emulated work: a fault stops a launch, an error in the PTX stops the load of a module.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace halftone::emulator {

/// The driver error for a fault.
enum class FaultKind : uint8_t { IllegalAddress, MisalignedAddress, LaunchFailed };

/// An action of a kernel, or of a copy in a stream, that the device forbids, or that makes results depend on an order.
class Fault : public std::runtime_error {
public:
  Fault(FaultKind kind, const std::string &text) : std::runtime_error(text), kind(kind) {}

  FaultKind kind;
};

/// PTX that the emulator does not support. `line` counts from 1.
class PtxError : public std::runtime_error {
public:
  PtxError(uint32_t line, const std::string &text);

  uint32_t line;
};

/// PTX of a newer version than the driver supports.
class PtxVersionError : public PtxError {
public:
  using PtxError::PtxError;
};

} // namespace halftone::emulator
