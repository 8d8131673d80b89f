// Loops on the CPU: results, threads, and plans whose size does not depend on the length of the loop.
// SPDX-License-Identifier: Apache-2.0
#include "LoopPrograms.h"
#include "OpChecks.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/plan/PlanFile.h"
#include "tools/halftone-run/CompiledModule.h"
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

Executable compiled(const std::string &text, bool strict) {
  const ModuleFile file = parseModule(text, "loop").valueOrThrow();
  return *compileModule(*file.module, file.stage, optionsFor("host", strict).compile).valueOrThrow().executable;
}

} // namespace

TEST_CASE("Loops give what the interpreter says, bit by bit in strict numerics") {
  for (const bool strict : {true, false})
    for (const LoopProgram &program : loopPrograms({1, 2, 7})) {
      INFO(program.name);
      checkProgram(program.text, "host", strict, 1);
    }
}

TEST_CASE("Loops give the same with any number of threads") {
  std::vector<LoopProgram> programs = loopPrograms({3});
  programs.push_back(wideProgram());
  for (const int threads : {1, 2, 3, 7}) {
    const std::shared_ptr<CpuDevice> device = CpuDevice::create(threads).valueOrThrow();
    for (const LoopProgram &program : programs) {
      INFO(program.name << " with " << threads << " threads");
      CompareOptions options = optionsFor("host", true);
      options.byLayer = false; // the device plays the plan itself
      const StatusOr<Comparison> comparison = compareProgram(program.text, options, 2, 2, device);
      INFO(comparison.status().str());
      REQUIRE(comparison.isOk());
      CHECK(comparison->agrees());
    }
  }
}

TEST_CASE("A loop of 2000 steps has the kernels, the steps and the file of one of 20") {
  const Executable shorter = compiled(recurrentProgram(20), true), longer = compiled(recurrentProgram(2000), true);
  CHECK(shorter.kernels.size() == longer.kernels.size());
  CHECK(shorter.plan.steps.size() == longer.plan.steps.size());
  CHECK(writeExecutable(shorter).size() == writeExecutable(longer).size());
  const int64_t outside = 2; // the projection, and the addition of the bias
  CHECK(longer.plan.launches() - outside == 100 * (shorter.plan.launches() - outside));
}

TEST_CASE("An LSTM's step of training has one product for all steps each of the projection and the gradients of the "
          "weights") {
  for (const int64_t length : {20, 2000}) {
    INFO(length);
    const Executable executable = compiled(trainedProgram(length), false);
    std::map<std::string, int64_t> kinds;
    int64_t launches = 0;
    for (const Step &step : executable.plan.steps)
      if (const auto *launch = std::get_if<LaunchStep>(&step)) {
        ++launches;
        ++kinds[executable.kernels.at(launch->kernel).kind];
      }
    CHECK(kinds["matmul"] == 3);
    CHECK(kinds["recurrence"] == 2);           // forward and backward
    CHECK(launches == (length == 20 ? 8 : 9)); // a long reduction takes two launches
    for (const Site &site : executable.sites)
      CHECK_FALSE(site.text.ends_with(": transpose"));
  }
}
