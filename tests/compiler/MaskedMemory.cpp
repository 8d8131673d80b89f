// The cores of masked memory: their symbols, their code for several CPUs, and the lanes that they access.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/MaskedMemory.h"
#include "CompiledFunction.h"
#include "mlir/IR/Builders.h"
#include <bit>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// Memory that ends before a page that cannot be accessed.
class GuardedMemory {
public:
  GuardedMemory() {
    void *const pages = ::mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    begin = static_cast<uint8_t *>(pages);
    REQUIRE(::mprotect(begin + size, size, PROT_NONE) == 0);
  }
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory() { ::munmap(begin, 2 * size); }
  uint8_t *end() const { return begin + size; }

private:
  const size_t size = size_t(::sysconf(_SC_PAGESIZE));
  uint8_t *begin;
};

std::pair<Core, Core> coresOf(int64_t lanes, unsigned width) {
  MLIRContext context;
  const auto type = VectorType::get(lanes, IntegerType::get(&context, width));
  return {maskedLoadCore(type), maskedStoreCore(type)};
}

/// A kernel that loads some lanes of buffer 0, stores the whole vector to buffer 1, and stores the same lanes to
/// buffer 2. The mask of the lanes, one byte for each, is passed in place of the extents.
std::string kernelOf(int64_t lanes, unsigned width) {
  const auto [load, store] = coresOf(lanes, width);
  return fmt::format(
      "func.func private @{0}(!llvm.ptr, vector<{2}xi1>) -> vector<{2}xi{3}>\n"
      "func.func private @{1}(!llvm.ptr, vector<{2}xi1>, vector<{2}xi{3}>)\n"
      "func.func @kernel(%buffers: !llvm.ptr, %mask_at: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {{\n"
      "  %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr\n"
      "  %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
      "  %third = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
      "  %b = llvm.load %second : !llvm.ptr -> !llvm.ptr\n  %c = llvm.load %third : !llvm.ptr -> !llvm.ptr\n"
      "  %bytes = llvm.load %mask_at {{alignment = 1 : i64}} : !llvm.ptr -> vector<{2}xi8>\n"
      "  %none = arith.constant dense<0> : vector<{2}xi8>\n"
      "  %mask = arith.cmpi ne, %bytes, %none : vector<{2}xi8>\n"
      "  %x = func.call @{0}(%a, %mask) : (!llvm.ptr, vector<{2}xi1>) -> vector<{2}xi{3}>\n"
      "  llvm.store %x, %b {{alignment = 1 : i64}} : vector<{2}xi{3}>, !llvm.ptr\n"
      "  func.call @{1}(%c, %mask, %x) : (!llvm.ptr, vector<{2}xi1>, vector<{2}xi{3}>) -> ()\n  return\n}}",
      load.symbol, store.symbol, lanes, width);
}

} // namespace

TEST_CASE("The symbol of a core for masked memory names the lanes", "[kernels]") {
  const auto [load, store] = coresOf(8, 16);
  CHECK(load.symbol == "halftone_core_loads_8xi16");
  CHECK(store.symbol == "halftone_core_stores_8xi16");
  CHECK(load.method == "one branch per lane");
}

TEST_CASE("Cores access the lanes of the mask and no memory of another", "[kernels]") {
  for (const std::string &name : runnableTargets())
    for (const unsigned width : {8U, 16U, 32U, 64U}) {
      constexpr int64_t lanes = 8;
      const CpuTarget cpu = targetNamed(name);
      const auto [load, store] = coresOf(lanes, width);
      const Loaded loaded = loadEmitted(kernelOf(lanes, width), cpu, {load, store});
      const size_t bytes = width / 8;
      const GuardedMemory from, to;
      for (uint32_t mask = 0; mask < 1U << lanes; ++mask) {
        size_t reach = 0; // one past the last lane
        for (size_t lane = 0; lane < lanes; ++lane)
          if (mask >> lane & 1U)
            reach = lane + 1;
        uint8_t *const source = from.end() - reach * bytes, *const target = to.end() - reach * bytes;
        for (size_t i = 0; i < reach * bytes; ++i) {
          source[i] = uint8_t(1 + i);
          target[i] = 0xff;
        }
        std::vector<uint8_t> all(lanes * bytes, 0x77);
        void *buffers[] = {source, all.data(), target};
        uint64_t bytesOfMask = 0;
        for (size_t lane = 0; lane < lanes; ++lane)
          bytesOfMask |= uint64_t(mask >> lane & 1U) << (8 * lane);
        const auto extents = std::bit_cast<int64_t>(bytesOfMask);
        loaded.function(buffers, &extents, 0, 0, nullptr);
        CAPTURE(name, width, mask);
        bool isRight = true;
        for (size_t i = 0; i < lanes * bytes; ++i) {
          const bool isIn = mask >> (i / bytes) & 1U;
          isRight &= all[i] == (isIn ? uint8_t(1 + i) : 0);
          isRight &= i >= reach * bytes || target[i] == (isIn ? uint8_t(1 + i) : 0xff);
        }
        CHECK(isRight);
      }
    }
}

TEST_CASE("Cores for masked memory are compiled for CPUs of several kinds and use no other core", "[kernels]") {
  for (const char *name : {"x86-64-v2", "x86-64-v3", "aarch64-unknown-linux-gnu:neoverse-n1", "x86-64-v4"}) {
    const CpuTarget cpu = targetNamed(name);
    const int64_t lanes = cpu.vectorBytes / 4;
    const auto [load, store] = coresOf(lanes, 16);
    for (const Core &core : {load, store}) {
      auto code = KernelCompiler(cpu).compile(core);
      CAPTURE(name, core.symbol);
      INFO(describe(code.status()));
      REQUIRE(code.isOk());
      CHECK(code->uses.empty());
    }
  }
}
