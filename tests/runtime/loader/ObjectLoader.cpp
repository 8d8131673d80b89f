// Loads and calls objects that are made from LLVM IR; and objects that must not load.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/loader/ObjectLoader.h"
#include <catch2/catch.hpp>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <thread>

using namespace halftone;

namespace {

std::string objectFrom(const std::string &ir, const std::string &triple = llvm::sys::getProcessTriple()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  INFO(diagnostic.getMessage().str());
  REQUIRE(module);
  std::string error;
  const llvm::Triple target(triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(target, error);
  INFO(error);
  REQUIRE(found);
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(target, "", "", {}, llvm::Reloc::PIC_));
  module->setTargetTriple(target);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  REQUIRE(!machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return {bytes.begin(), bytes.end()};
}

/// The IR of a kernel with a constant table in the object: for each block, i32 buffers[0][block] = block *
/// table[extents[0]].
std::string tableKernel(const std::string &symbol, const std::string &table) {
  return R"(
@table = private constant [4 x i32] )" +
         table + R"(
define void @)" +
         symbol + R"((ptr %buffers, ptr %extents, i64 %begin, i64 %end, ptr %scratch) {
entry:
  %out = load ptr, ptr %buffers
  %which = load i64, ptr %extents
  %entry.address = getelementptr [4 x i32], ptr @table, i64 0, i64 %which
  %factor = load i32, ptr %entry.address
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %i32 = trunc i64 %i to i32
  %value = mul i32 %i32, %factor
  %address = getelementptr i32, ptr %out, i64 %i
  store i32 %value, ptr %address
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %end
  br i1 %done, label %exit, label %loop
exit:
  ret void
})";
}

KernelCode kernel(const std::string &symbol, const std::string &ir) {
  return {symbol, "loop", "host", "", objectFrom(ir)};
}

std::vector<int> run(CpuKernelFunction function, int64_t which) {
  std::vector<int> out(6, -1);
  void *buffers[] = {out.data()};
  function(buffers, &which, 1, 5, nullptr);
  return out;
}

CpuKernelFunction find(const KernelLibrary &library, const std::string &key) {
  StatusOr<KernelHandle> code = library.find(key);
  INFO(code.status().str());
  REQUIRE(code.isOk());
  return code->function();
}

Status refused(const KernelCode &code) {
  Status status = loadObjects({{"k1", code}}).status();
  REQUIRE(!status.isOk());
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK_THAT(status.message(), Catch::StartsWith("kernel k1: "));
  return status;
}

} // namespace

TEST_CASE("kernels' objects load and run") {
  auto library = loadObjects({{"a", kernel("scale", tableKernel("scale", "[i32 1, i32 10, i32 100, i32 1000]"))},
                              {"b", kernel("scale", tableKernel("scale", "[i32 2, i32 3, i32 5, i32 7]"))}});
  INFO(library.status().str());
  REQUIRE(library.isOk());
  CHECK(run(find(**library, "a"), 1) == std::vector<int>{-1, 10, 20, 30, 40, -1});
  CHECK(run(find(**library, "b"), 3) == std::vector<int>{-1, 7, 14, 21, 28, -1}); // the same symbol in another object
  Status missing = (*library)->find("c").status();
  CHECK(missing.kind() == ErrorKind::key_error);
  CHECK_THAT(missing.message(), Catch::Contains("no code for kernel c"));
  CHECK(loadObjects({}).isOk());
}

TEST_CASE("loaded code is shared, and lives as long as a library that has it") {
  const KernelCode code = kernel("scale", tableKernel("scale", "[i32 4, i32 4, i32 4, i32 4]"));
  auto first = loadObjects({{"x", code}}).valueOrThrow();
  auto second = loadObjects({{"y", code}}).valueOrThrow();
  CpuKernelFunction function = find(*first, "x");
  CHECK(find(*second, "y") == function);
  first.reset();
  CHECK(run(function, 0) == std::vector<int>{-1, 4, 8, 12, 16, -1});
  second.reset();
  auto again = loadObjects({{"x", code}}).valueOrThrow();
  CHECK(run(find(*again, "x"), 0) == std::vector<int>{-1, 4, 8, 12, 16, -1});
}

TEST_CASE("an object's undefined symbols are named, also those that the process has") {
  Status status = refused(kernel("f", R"(
declare void @puts(ptr)
declare float @tanhf(float)
define void @f(ptr %b, ptr %e, i64 %i, i64 %j, ptr %s) {
  call void @puts(ptr %b)
  %x = load float, ptr %s
  %y = call float @tanhf(float %x)
  store float %y, ptr %s
  ret void
})"));
  CHECK_THAT(status.message(),
             Catch::Contains("undefined symbols: ") && Catch::Contains("puts") && Catch::Contains("tanhf"));
}

TEST_CASE("an object without the function is refused") {
  KernelCode code = kernel("f", tableKernel("g", "zeroinitializer"));
  CHECK_THAT(refused(code).message(), Catch::Contains("no global function 'f'"));
  code = kernel("f", "@f = global i32 7");
  CHECK_THAT(refused(code).message(), Catch::Contains("no global function 'f'"));
  code = kernel("f", "define internal void @f() { ret void }\n@keep = global ptr @f");
  CHECK_THAT(refused(code).message(), Catch::Contains("no global function 'f'"));
}

TEST_CASE("bytes that are no object of this machine are refused") {
  CHECK_THAT(refused({"f", "loop", "", "", ""}).message(), Catch::Contains("not an object file"));
  CHECK_THAT(refused({"f", "loop", "", "", "text"}).message(), Catch::Contains("not an object file"));
  std::string bytes = objectFrom(tableKernel("f", "zeroinitializer"));
  CHECK_THAT(refused({"f", "loop", "", "", bytes.substr(0, 40)}).message(), Catch::Contains("object file"));
  std::string other = bytes;
  other[18] = static_cast<char>(0xb7); // ELF's e_machine: AArch64
  if (llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    CHECK_THAT(refused({"f", "loop", "", "", other}).message(), Catch::Contains("expected a relocatable object for"));
}

TEST_CASE("threads load the same and different kernels at once") {
  std::vector<KernelCode> codes;
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    codes.push_back(kernel("f" + n, tableKernel("f" + n, "[i32 " + n + ", i32 0, i32 0, i32 0]")));
  }
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const int i = (t + round) % 4;
        auto library = loadObjects({{"k", codes[i]}, {"other", codes[(i + 1) % 4]}});
        if (!library.isOk() || run((*library)->find("k")->function(), 0)[2] != 2 * i)
          ++failures;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
}

TEST_CASE("code for a CPU with more instructions is refused, and they are named") {
  if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    return;
  KernelCode code = kernel("f", tableKernel("f", "zeroinitializer"));
  code.target = "x86_64-unknown-linux-gnu|x86-64|";
  CHECK(loadObjects({{"k0", code}}).isOk());
  const auto host = llvm::sys::getHostCPUFeatures();
  if (!host.lookup("amx-tile") || !host.lookup("amx-bf16")) {
    code = kernel("f2", tableKernel("f2", "zeroinitializer"));
    code.target = "x86_64-unknown-linux-gnu|sapphirerapids|";
    CHECK_THAT(refused(code).message(), Catch::Contains("compiled for sapphirerapids; this machine lacks amx-bf16"));
    code.target = "x86_64-unknown-linux-gnu|x86-64|+amx-tile,+amx-bf16";
    CHECK_THAT(refused(code).message(), Catch::Contains("amx-bf16"));
    code.target = "x86_64-unknown-linux-gnu|x86-64|+amx-bf16,-amx-bf16";
    CHECK(loadObjects({{"k3", code}}).isOk());
  }
}
