// Runs PTX on a separate emulated device, without the driver functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Block.h"
#include "tests/emulator/LoadedModule.h"
#include "tests/emulator/Requirements.h"
#include "tests/emulator/snippets/Forms.h"
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace halftone::emulator {

/// A whole module with a single kernel `test`, with `parameters` between its parentheses.
inline std::string kernelPtx(const std::string &parameters, const std::string &body, const std::string &outside = "",
                             uint32_t target = 80) {
  return ".version 8.0\n.target sm_" + std::to_string(target) + "\n.address_size 64\n" + outside +
         "\n.visible .entry test(" + parameters + ")\n{\n" + body + "\n}\n";
}

class KernelRun {
public:
  explicit KernelRun(uint64_t seed = 0) : memory(64 << 20), random(seed) {}

  DeviceMemory memory;
  Random random;
  LaunchCounts counts;

  /// New device memory that holds `values`.
  template <typename T> uint64_t upload(const std::vector<T> &values) {
    uint64_t address = empty(values.size() * sizeof(T));
    memory.write(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  /// New, unwritten device memory.
  uint64_t empty(uint64_t bytes) {
    uint64_t address = memory.reserve(bytes).value();
    memory.open(address);
    return address;
  }
  template <typename T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    memory.read(values.data(), address, count * sizeof(T));
    return values;
  }

  /// Runs the kernel `test` of `ptx`.
  template <typename... Arguments>
  void run(const std::string &ptx, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> threads, uint32_t sharedBytes,
           Arguments... arguments) {
    LoadedModule module(ptx, memory, 90);
    Launch launch{module.find("test"), grid, threads, sharedBytes, {}};
    if (!launch.kernel || launch.kernel->parameters.size() != sizeof...(arguments))
      throw std::logic_error("the kernel `test` has other parameters");
    launch.parameters.resize(launch.kernel->parameterBytes);
    size_t place = 0;
    ((std::memcpy(launch.parameters.data() + launch.kernel->parameters[place].offset, &arguments,
                  launch.kernel->parameters[place].bytes),
      ++place),
     ...);
    runLaunch(launch, memory, random, counts);
  }

  /// The text of the fault of such a run; empty if there is none.
  template <typename... Arguments>
  std::string fault(const std::string &ptx, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> threads,
                    uint32_t sharedBytes, Arguments... arguments) {
    try {
      run(ptx, grid, threads, sharedBytes, arguments...);
    } catch (const Fault &fault) {
      return fault.what();
    }
    return "";
  }
};

/// Runs `operation`, an instruction without its operands, on each row of operands and returns its results. `R` is the
/// type of the result, `S` the types of the sources. `registers` are the PTX types of result and sources (".b32", ...).
template <typename R, typename... S>
std::vector<R> runRows(const std::string &operation, const std::vector<std::tuple<S...>> &rows,
                       const std::string &resultType, const std::vector<std::string> &sourceTypes, uint64_t seed = 0) {
  static const char *const widths[] = {"", "b8", "b16", "", "b32", "", "", "", "b64"};
  constexpr size_t sources = sizeof...(S);
  const size_t sizes[] = {sizeof(S)...};
  std::string body = ".reg .b32 %t, %n, %one; .reg .b64 %a<" + std::to_string(sources + 2) + ">; .reg .pred %p; .reg " +
                     resultType + " %d;\n";
  for (size_t i = 0; i < sources; ++i)
    body += ".reg " + sourceTypes[i] + " %s" + std::to_string(i) + ";\n";
  body += "mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %t, %n, 64, %t; ld.param.u32 %n, [count]; setp.ge.u32 "
          "%p, %t, %n; @%p ret;\n";
  std::string parameters = ".param .u32 count, .param .u64 result";
  std::string operands = " %d";
  for (size_t i = 0; i < sources; ++i) {
    std::string n = std::to_string(i);
    parameters += ", .param .u64 source" + n;
    body += "ld.param.u64 %a" + n + ", [source" + n + "]; mad.wide.u32 %a" + n + ", %t, " + std::to_string(sizes[i]) +
            ", %a" + n + ";\n";
    body += std::string("ld.global.") + widths[sizes[i]] + " %s" + n + ", [%a" + n + "];\n";
    operands += ", %s" + n;
  }
  std::string last = "%a" + std::to_string(sources);
  body += operation + operands + ";\nld.param.u64 " + last + ", [result]; mad.wide.u32 " + last + ", %t, " +
          std::to_string(sizeof(R)) + ", " + last + ";\nst.global." + widths[sizeof(R)] + " [" + last + "], %d;\nret;";
  if (!allInstructions().contains(operation))
    throw std::logic_error("no form has the instruction " + operation + ", so that no driver is compared with it");
  Statement statement;
  splitOpcode(operation, statement);
  const uint32_t target = std::max(80u, requirementOf(statement).target);
  KernelRun run(seed);
  uint64_t result = run.empty(rows.size() * sizeof(R));
  uint32_t count = static_cast<uint32_t>(rows.size());
  [&]<size_t... places>(std::index_sequence<places...>) {
    auto column = [&](auto place) {
      std::vector<std::tuple_element_t<decltype(place)::value, std::tuple<S...>>> values;
      for (const auto &row : rows)
        values.push_back(std::get<decltype(place)::value>(row));
      return run.upload(values);
    };
    run.run(kernelPtx(parameters, body, "", target), {(count + 63) / 64, 1, 1}, {64, 1, 1}, 0, count, result,
            column(std::integral_constant<size_t, places>{})...);
  }(std::index_sequence_for<S...>{});
  return run.download<R>(result, rows.size());
}

} // namespace halftone::emulator
