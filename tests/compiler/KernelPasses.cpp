// The LLVM passes that the code generator omits for CPU kernels.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/KernelPasses.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone;
using namespace halftone::compiler;

namespace {

CpuTarget cpuNamed(std::string_view name) {
  auto target = CpuTarget::find(name);
  REQUIRE(target.isOk());
  return *target;
}

/// A loop that adds a constant to floats at a distance of `pitch` bytes.
std::unique_ptr<llvm::Module> loop(llvm::LLVMContext &context, const std::string &attributes) {
  const std::string text = "define void @f(ptr %x, i64 %n, i64 %pitch) " + attributes + R"( {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %offset = mul i64 %i, %pitch
  %at = getelementptr i8, ptr %x, i64 %offset
  %old = load float, ptr %at
  %new = fadd float %old, 1.5
  store float %new, ptr %at
  %next = add i64 %i, 1
  %goes = icmp ult i64 %next, %n
  br i1 %goes, label %body, label %end
end:
  ret void
})";
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(text, error, context);
  INFO(error.getMessage().str());
  REQUIRE(module);
  return module;
}

bool leavesOut(const llvm::Module &module, const CpuTarget &cpu, llvm::StringRef pass) {
  return llvm::is_contained(skippedPasses(module, cpu), pass);
}

std::string assembly(llvm::Module &module, const CpuTarget &cpu, llvm::ArrayRef<llvm::StringLiteral> without) {
  auto machine = cpu.machine();
  REQUIRE(machine.isOk());
  REQUIRE((*machine)->optimize(module, nullptr, kernelPasses(module, cpu)));
  auto text = (*machine)->write(module, llvm::CodeGenFileType::AssemblyFile, without);
  REQUIRE(text.isOk());
  return *text;
}

} // namespace

TEST_CASE("LLVM knows each pass that kernels do without", "[kernels]") {
  llvm::LLVMContext context;
  const auto module = loop(context, "");
  for (const char *name :
       {"x86-64-v3", "aarch64-unknown-linux-gnu:neoverse-n1"}) // LLVM registers the passes at their first use
    (void)assembly(*loop(context, ""), cpuNamed(name), {});
  for (const char *name : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64-unknown-linux-gnu:neoverse-n1"}) {
    const auto passes = skippedPasses(*module, cpuNamed(name));
    CHECK(passes.size() > 20);
    for (llvm::StringLiteral pass : passes) {
      CAPTURE(name, pass.str());
      CHECK(llvm::PassRegistry::getPassRegistry()->getPassInfo(pass));
      CHECK(llvm::count(passes, pass) == 1);
    }
  }
}

TEST_CASE("Strength reduction runs where pointers are many, and on CPUs where nobody has measured", "[kernels]") {
  llvm::LLVMContext context;
  const auto plain = loop(context, ""), many = loop(context, "\"halftone-many-pointers\"");
  CHECK(leavesOut(*plain, cpuNamed("x86-64-v4"), "loop-reduce"));
  CHECK(leavesOut(*plain, cpuNamed("x86-64-v3"), "loop-reduce"));
  CHECK_FALSE(leavesOut(*many, cpuNamed("x86-64-v4"), "loop-reduce"));
  CHECK(leavesOut(*many, cpuNamed("x86-64-v4"), "post-RA-sched"));
  const CpuTarget arm = cpuNamed("aarch64-unknown-linux-gnu:neoverse-n1");
  CHECK_FALSE(leavesOut(*plain, arm, "loop-reduce"));
  CHECK_FALSE(leavesOut(*plain, arm, "post-RA-sched"));
  CHECK_FALSE(leavesOut(*plain, arm, "x86-slh"));
  CHECK(leavesOut(*plain, arm, "gc-lowering"));
}

TEST_CASE("A pass that is left out does not run", "[kernels]") {
  const CpuTarget cpu = cpuNamed("x86-64-v4");
  const auto code = [&](llvm::ArrayRef<llvm::StringLiteral> without) {
    llvm::LLVMContext context;
    return assembly(*loop(context, ""), cpu, without);
  };
  static constexpr llvm::StringLiteral reduction[] = {"loop-reduce"}, collector[] = {"gc-lowering"};
  CHECK_THAT(code({}), !Catch::Contains("imul"));
  CHECK(code(collector) == code({}));
  CHECK_THAT(code(reduction), Catch::Contains("imul"));
}
