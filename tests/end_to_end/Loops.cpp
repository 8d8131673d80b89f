// Loops on the CPU: results, threads, and plans whose size does not depend on how long a loop is.
// SPDX-License-Identifier: Apache-2.0
#include "LoopPrograms.h"
#include "OpChecks.h"
#include "runtime/devices/CpuDevice.h"
#include "runtime/plan/PlanFile.h"
#include "tools/halftone-run/CompiledModule.h"
#include <catch2/catch.hpp>

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
    const std::vector<Step> &steps = executable.plan.steps;
    std::vector<int64_t> products, all; // in the order of main and the bodies: the forward and the backward scan
    for (size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
      const bool isBody = begin > 0 && std::holds_alternative<RepeatStep>(steps[begin - 1]);
      end = isBody ? executable.plan.bodyEnd(begin - 1) : begin + 1;
      int64_t matmuls = 0, launches = 0;
      for (size_t step = begin; step < end; ++step)
        if (const auto *launch = std::get_if<LaunchStep>(&steps[step])) {
          ++launches;
          matmuls += executable.kernels.at(launch->kernel).kind == "matmul";
        }
      if (isBody || products.empty()) {
        products.push_back(matmuls);
        all.push_back(launches);
      } else {
        products.front() += matmuls;
        all.front() += launches;
      }
    }
    CHECK(products == std::vector<int64_t>{3, 1, 1});
    CHECK(all == std::vector<int64_t>{length == 20 ? 6 : 7, 2, 4}); // a long reduction takes two launches
    for (const Site &site : executable.sites)
      CHECK_FALSE(site.text.ends_with(": transpose"));
  }
}
