// Loads and calls objects compiled from LLVM IR, and rejects objects that must not load.
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

namespace {

/// A core that multiplies by a constant.
KernelCode factorCore(const std::string &symbol, int factor) {
  return {
      symbol, "core", "host", "",
      objectFrom("define i32 @" + symbol + "(i32 %x) { %y = mul i32 %x, " + std::to_string(factor) + " ret i32 %y }")};
}

/// A kernel with buffers[0][block] = core(block).
KernelCode callingKernel(const std::string &symbol, const std::string &core, std::vector<std::string> uses) {
  KernelCode code = kernel(symbol, "declare i32 @" + core + "(i32)\n" + R"(
define void @)" + symbol + R"((ptr %buffers, ptr %extents, i64 %begin, i64 %end, ptr %scratch) {
entry:
  %out = load ptr, ptr %buffers
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %i32 = trunc i64 %i to i32
  %value = call i32 @)" + core + R"((i32 %i32)
  %address = getelementptr i32, ptr %out, i64 %i
  store i32 %value, ptr %address
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %end
  br i1 %done, label %exit, label %loop
exit:
  ret void
})");
  code.uses = std::move(uses);
  return code;
}

using Codes = std::map<std::string, KernelCode>;

std::vector<int> resultOf(const Codes &kernels, const std::string &key) {
  auto library = loadObjects(kernels);
  INFO(library.status().str());
  REQUIRE(library.isOk());
  return run(find(**library, key), 0);
}

std::string messageOf(const Codes &kernels) {
  const Status status = loadObjects(kernels).status();
  CHECK(status.kind() == ErrorKind::value_error);
  return status.message();
}

} // namespace

TEST_CASE("kernels call the cores that they use, which stay as long as a kernel does") {
  const KernelCode core = factorCore("times", 3);
  auto both =
      loadObjects({{"c", core}, {"k", callingKernel("f", "times", {"c"})}, {"l", callingKernel("g", "times", {"c"})}});
  INFO(both.status().str());
  REQUIRE(both.isOk());
  CHECK(run(find(**both, "k"), 0) == std::vector<int>{-1, 3, 6, 9, 12, -1});
  CHECK(run(find(**both, "l"), 0) == std::vector<int>{-1, 3, 6, 9, 12, -1});
  CHECK((*both)->find("c").status().kind() == ErrorKind::key_error); // a core is not a kernel
  auto one = loadObjects({{"other name", core}, {"k", callingKernel("f", "times", {"other name"})}}).valueOrThrow();
  const CpuKernelFunction function = find(**both, "k");
  CHECK(find(*one, "k") == function);
  both->reset();
  CHECK(run(function, 0) == std::vector<int>{-1, 3, 6, 9, 12, -1});
  one.reset();
  CHECK(resultOf({{"c", core}, {"k", callingKernel("f", "times", {"c"})}}, "k") ==
        std::vector<int>{-1, 3, 6, 9, 12, -1});
}

TEST_CASE("one kernel's code with another core under the same symbol is another kernel") {
  const Codes three{{"c", factorCore("times", 3)}, {"k", callingKernel("f", "times", {"c"})}},
      five{{"c", factorCore("times", 5)}, {"k", callingKernel("f", "times", {"c"})}};
  auto first = loadObjects(three).valueOrThrow();
  auto second = loadObjects(five).valueOrThrow();
  CHECK(run(find(*first, "k"), 0) == std::vector<int>{-1, 3, 6, 9, 12, -1});
  CHECK(run(find(*second, "k"), 0) == std::vector<int>{-1, 5, 10, 15, 20, -1});
  // Both kernels in one map.
  Codes all = three;
  all["d"] = five.at("c");
  all["l"] = callingKernel("f", "times", {"d"});
  CHECK(resultOf(all, "k") == std::vector<int>{-1, 3, 6, 9, 12, -1});
  CHECK(resultOf(all, "l") == std::vector<int>{-1, 5, 10, 15, 20, -1});
}

TEST_CASE("kernels whose cores are missing, foreign, damaged or in a circle are refused in words") {
  const KernelCode core = factorCore("times", 3), user = callingKernel("f", "times", {"c"});
  CHECK(messageOf({{"k", user}}) == "kernel k uses c, which is missing");
  CHECK(messageOf({{"c", callingKernel("times", "f", {"k"})}, {"k", user}}) ==
        "kernel c uses k, a kernel of kind 'loop'; expected a core");
  KernelCode circle = factorCore("times", 3);
  circle.uses = {"c"};
  CHECK(messageOf({{"c", circle}, {"k", user}}) == "core c uses c, and a core uses no other");
  // A core that exists but is not among those that the kernel uses, and a core with another symbol.
  CHECK(messageOf({{"c", core}, {"k", callingKernel("f", "times", {})}}) == "kernel k: undefined symbols: times");
  CHECK(messageOf({{"c", factorCore("plus", 3)}, {"k", user}}) == "kernel k: undefined symbols: times");
  // Cores with undefined symbols, truncated, without their function, and for another machine.
  KernelCode other = core;
  other.code = objectFrom("declare i32 @abs(i32)\ndefine i32 @times(i32 %x) { %y = call i32 @abs(i32 %x) ret i32 %y }");
  CHECK(messageOf({{"c", other}, {"k", user}}) == "kernel c: undefined symbols: abs");
  other.code = core.code.substr(0, 60);
  CHECK_THAT(messageOf({{"c", other}, {"k", user}}), Catch::StartsWith("kernel c: "));
  other.code = factorCore("plus", 3).code;
  CHECK_THAT(messageOf({{"c", other}, {"k", user}}), Catch::Contains("no global function 'times'"));
  other = core;
  other.target = "nvptx|sm_80|";
  CHECK(messageOf({{"c", other}, {"k", user}}) == "kernel k uses c, a core for another target");
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
