// Compares the emulator's instructions with a driver's: the emulated driver agrees, and a changed instruction differs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/emulator/snippets/CompareDevices.h"
#include "tests/emulator/tests/DriverLibrary.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

using namespace halftone::emulator;
using Catch::Contains;
using Catch::StartsWith;

namespace {

struct Told {
  Comparison total;
  std::vector<std::string> lines;
};

Told compareWith(const CudaLibrary &driver, const std::string &only) {
  Told told;
  told.total = compareDevices(driver, only, [&](const std::string &line) { told.lines.push_back(line); });
  return told;
}

} // namespace

TEST_CASE("The emulated driver's instructions are those of the emulator") {
  const DriverLibrary driver({{"HALFTONE_EMULATOR_CAPABILITY", "90"}});
  const Told told = compareWith(driver, "");
  CHECK(told.lines == std::vector<std::string>());
  CHECK(told.total.differing == 0);
  CHECK(told.total.skipped == 0);
  CHECK(told.total.moved == 0);
  CHECK(told.total.forms == allForms().size());
  CHECK(told.total.results > 1000 * told.total.forms);
}

TEST_CASE("Results within the error of their instruction do not differ, and are counted") {
  const DriverLibrary driver({{"HALFTONE_EMULATOR_SEED", "5"}});
  for (const char *name : {"ex2.approx.f32", "div.full.f32", "lg2.approx.f32", "tanh.approx.f32", "of fractions"}) {
    INFO(name);
    const Told told = compareWith(driver, name);
    CHECK(told.lines == std::vector<std::string>());
    CHECK(told.total.moved > 100);
  }
  const Told newer = compareWith(driver, "mul.bf16");
  CHECK(newer.total.skipped == 1);
  CHECK(newer.total.forms == 0);
}

TEST_CASE("A driver with other instructions is told of, with inputs, expected and given bits") {
  const DriverLibrary emulated; // resets the emulator's state
  const auto mutated = [](const char *from, const char *to, const std::string &only) {
    setenv("HALFTONE_MUTATED_FROM", from, 1);
    setenv("HALFTONE_MUTATED_TO", to, 1);
    return compareWith(CudaLibrary(HALFTONE_MUTATED_DRIVER), only);
  };
  const Told sum = mutated("add.rn.f32", "sub.rn.f32", "add.rn.f");
  CHECK(sum.total.differing == 1);
  REQUIRE(sum.lines.size() == 1);
  CHECK_THAT(sum.lines[0], Contains("add.rn.f32: ") && Contains(" results differ; row ") &&
                               Contains("with the inputs 0x00000000, 0x3f800000: expected 0x3f800000, got 0xbf800000"));
  // An error of one bit, a NaN that becomes a number, an error beyond the bound, another order of lanes, a shape of
  // another type.
  CHECK(mutated("fma.rn.f32", "fma.rn.ftz.f32", "fma.rn.f32").total.differing == 1);
  CHECK(mutated("min.NaN.f32", "min.f32", "min.NaN.f32").total.differing == 1);
  CHECK(mutated("ex2.approx.f32 %d, %s0", "mul.f32 %d, %s0, 0f3F800001", "ex2.approx.f32").total.differing == 1);
  CHECK(mutated("shfl.sync.bfly.b32 %d|%p, %s0, 4", "shfl.sync.bfly.b32 %d|%p, %s0, 2", "shfl.sync.bfly")
            .total.differing == 1);
  CHECK(mutated("s32.u8.s8.s32", "s32.s8.s8.s32", "mma").total.differing == 1);
  CHECK(mutated(".f32.f16.f16.f32", ".f32.bf16.bf16.f32", "mma").total.differing == 4);
  CHECK(mutated("cvt.rn.bf16.f32", "cvt.rz.bf16.f32", "cvt.rn.bf16.f32").total.differing == 1);
  CHECK(mutated("x4.trans.shared", "x4.shared", "ldmatrix").total.differing == 1);
  CHECK(mutated("nothing", "nothing", "cvt").total.differing == 0);
  // The bits of a NaN are unspecified for sign instructions and in f64, but not for f32 arithmetic.
  const std::string negated = "; setp.nan.f32 %p, %d, %d; @%p xor.b32 %d, %d, 0x80000002;";
  const Told open = mutated(";\nst.global", (negated + "\nst.global").c_str(), "copysign.f32");
  CHECK(open.total.differing == 0);
  CHECK(open.total.nans > 100);
  CHECK(mutated(";\nst.global", (negated + "\nst.global").c_str(), "add.rn.f32").total.differing == 1);
  const Told wide =
      mutated(";\nst.global", "; setp.nan.f64 %p, %d, %d; @%p xor.b64 %d, %d, 1;\nst.global", "add.rn.f64");
  CHECK(wide.total.differing == 0);
  CHECK(wide.total.nans > 100);
}

TEST_CASE("A driver that cannot be used, and a form that it refuses, are told of") {
  CHECK_THROWS_WITH(CudaLibrary("no-such-driver.so"), Contains("no-such-driver.so"));
  {
    const DriverLibrary none({{"HALFTONE_EMULATOR_DEVICES", "0"}});
    CHECK_THROWS_WITH(compareWith(none, ""), Contains("the error 100"));
  }
  const DriverLibrary older({{"HALFTONE_EMULATOR_DRIVER", "11080"}});
  CHECK_THROWS_WITH(compareWith(older, "add.s32"), Contains("add.s32: the driver gave the error 222"));
}

TEST_CASE(
    "gpu-instructions ends with 0 where all agree, with 1 where a form differs, and with 2 where it cannot compare") {
  halftone::TemporaryFolder folder;
  const auto run = [&](const std::string &driver, const std::string &arguments) {
    const std::string said = folder / "said";
    const int status =
        std::system(("HALFTONE_CUDA_DRIVER=" + driver + " HALFTONE_MUTATED_FROM=add.s16 HALFTONE_MUTATED_TO=sub.s16 " +
                     HALFTONE_GPU_INSTRUCTIONS + " " + arguments + " > " + said + " 2>&1")
                        .c_str());
    std::stringstream text;
    text << std::ifstream(said).rdbuf();
    return std::to_string(WEXITSTATUS(status)) + " " + text.str();
  };
  const std::string emulated = HALFTONE_EMULATED_DRIVER, mutated = HALFTONE_MUTATED_DRIVER;
  CHECK_THAT(run(emulated, "--only add.s16"), StartsWith("0 ") && Contains("1 forms, ") && Contains("0 forms differ"));
  CHECK_THAT(run(mutated, "--only add.s16"), StartsWith("1 add.s16: ") && Contains("1 forms differ"));
  CHECK_THAT(run(emulated, "--only none"), StartsWith("2 ") && Contains("no form has 'none' in its name"));
  CHECK_THAT(run("none.so", ""), StartsWith("2 gpu-instructions: none.so"));
  CHECK_THAT(run(emulated, "--other"), StartsWith("2 ") && Contains("--other"));
  CHECK_THAT(run(emulated, "--help"), StartsWith("0 usage: gpu-instructions"));
  CHECK_THAT(run(emulated, "--list"), StartsWith("0 abs.bf16") && Contains("\nmma.sync.aligned.m16n8k16"));
}

TEST_CASE("The instructions of all forms are PTX that NVIDIA's assembler takes") {
  const std::string ptxas = "/usr/local/cuda/bin/ptxas";
  if (!std::ifstream(ptxas)) {
    WARN("skipped: ptxas is not installed");
    return;
  }
  // One module of all kernels, with distinct names, after the header of the first.
  std::string all;
  for (const Form &form : allForms()) {
    const std::string ptx = form.ptx();
    const size_t entry = ptx.find(".visible");
    if (all.empty())
      all = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 scratch[4096];\n"
            ".const .align 4 .b32 table[4] = {10, 20, 30, 40};\n";
    std::string kernel = ptx.substr(entry);
    kernel.replace(kernel.find("test("), 4, fmt::format("test{}", &form - allForms().data()));
    all += kernel;
  }
  halftone::TemporaryFolder folder;
  const std::string file = folder.write("forms.ptx", all);
  CHECK(std::system((ptxas + " -O0 -arch=sm_90 " + file + " -o /dev/null").c_str()) == 0);
}
