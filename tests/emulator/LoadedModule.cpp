// A module whose variables have memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/LoadedModule.h"
#include "tests/emulator/PtxParser.h"
#include "tests/emulator/Requirements.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::emulator {

LoadedModule::LoadedModule(std::string_view ptx, DeviceMemory &memory, uint32_t capability, uint32_t newestVersion)
    : module_(parsePtx(ptx)), memory_(memory) {
  if (module_.version > newestVersion)
    throw PtxVersionError(1, fmt::format("the version {}; the driver takes versions up to {}",
                                         versionText(module_.version), versionText(newestVersion)));
  if (module_.target > capability)
    throw PtxError(1, fmt::format("the target sm_{}; the device has the compute capability {}.{}", module_.target,
                                  capability / 10, capability % 10));
  for (const Kernel &kernel : module_.kernels)
    if (kernel.staticSharedBytes > mostStaticBytes)
      throw PtxError(1, fmt::format("the kernel {} has {} bytes of shared memory; expected at most {}", kernel.name,
                                    kernel.staticSharedBytes, mostStaticBytes));
  try {
    placeVariables();
    for (Kernel &kernel : module_.kernels)
      resolve(kernel);
  } catch (const PtxError &) {
    release();
    throw;
  }
}

LoadedModule::~LoadedModule() { release(); }

void LoadedModule::release() {
  for (uint64_t address : addresses_)
    memory_.release(address);
}

void LoadedModule::placeVariables() {
  for (const Variable &variable : module_.variables) {
    std::optional<uint64_t> address = memory_.reserve(variable.bytes);
    if (!address)
      throw PtxError(1, fmt::format("no device memory for {} bytes of {}", variable.bytes, variable.name));
    addresses_.push_back(*address);
    memory_.open(*address);
    if (variable.initialised) {
      memory_.fill(*address, 0, 1, variable.bytes);
      memory_.write(*address, variable.initial.data(), variable.initial.size());
    }
    if (variable.constant)
      memory_.protect(*address);
  }
}

void LoadedModule::resolve(Kernel &kernel) {
  for (const Relocation &relocation : kernel.relocations) {
    auto found = std::ranges::find(module_.variables, relocation.symbol, &Variable::name);
    if (found == module_.variables.end())
      throw PtxError(relocation.line, fmt::format("{} is not declared", relocation.symbol));
    fillRelocation(kernel, relocation, addresses_[found - module_.variables.begin()]);
  }
}

const Kernel *LoadedModule::find(std::string_view name) const {
  auto found = std::ranges::find(module_.kernels, name, &Kernel::name);
  return found == module_.kernels.end() ? nullptr : &*found;
}

} // namespace halftone::emulator
