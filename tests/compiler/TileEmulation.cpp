// Eight AMX tiles in memory, and the AMX instructions on them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/TileEmulation.h"
#include "compiler/targets/cpu/ObjectCode.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>

namespace halftone::testing {
namespace {

struct Tile {
  int rows = 0, bytes = 0; // bytes is per row
  alignas(64) char data[16][64] = {};
  template <class T> T get(int row, int index) const {
    T value;
    std::memcpy(&value, data[row] + sizeof(T) * size_t(index), sizeof value);
    return value;
  }
  template <class T> void set(int row, int index, T value) {
    std::memcpy(data[row] + sizeof(T) * size_t(index), &value, sizeof value);
  }
};
thread_local Tile tiles[8];

/// Fills tiles that are not configured with garbage, which tests notice.
void configure(const unsigned char *bytes) {
  for (int tile = 0; tile < 8; ++tile) {
    tiles[tile] = {};
    uint16_t width;
    std::memcpy(&width, bytes + 16 + 2 * tile, sizeof width);
    if (bytes[0] == 1 && width <= 64 && bytes[48 + tile] <= 16)
      tiles[tile].bytes = width, tiles[tile].rows = bytes[48 + tile];
  }
}
void release() {
  for (Tile &tile : tiles)
    tile = {};
}
void zero(int8_t tile) { std::memset(tiles[tile].data, 0, sizeof tiles[tile].data); }
void load(int8_t tile, const char *from, int64_t stride) {
  zero(tile);
  for (int row = 0; row < tiles[tile].rows; ++row)
    std::memcpy(tiles[tile].data[row], from + row * stride, size_t(tiles[tile].bytes));
}
void store(int8_t tile, char *to, int64_t stride) {
  for (int row = 0; row < tiles[tile].rows; ++row)
    std::memcpy(to + row * stride, tiles[tile].data[row], size_t(tiles[tile].bytes));
}

float flushed(float value) { return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }
float widened(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return flushed(value);
}

/// As in Intel's manual: sums the even and the odd members separately, then adds both to the old sum. Subnormal values
/// count as 0.
void multiplyBf16(int8_t sums, int8_t left, int8_t right) {
  const Tile &a = tiles[left], &b = tiles[right];
  for (int m = 0; m < tiles[sums].rows; ++m)
    for (int n = 0; n < tiles[sums].bytes / 4; ++n) {
      float apart[2] = {0, 0};
      for (int k = 0; k < a.bytes / 4; ++k)
        for (int member = 0; member < 2; ++member)
          apart[member] = flushed(std::fma(widened(a.get<uint16_t>(m, 2 * k + member)),
                                           widened(b.get<uint16_t>(k, 2 * n + member)), apart[member]));
      tiles[sums].set(m, n, flushed(flushed(tiles[sums].get<float>(m, n)) + flushed(apart[0] + apart[1])));
    }
}

void multiplyInt8(int8_t sums, int8_t left, int8_t right) {
  const Tile &a = tiles[left], &b = tiles[right];
  for (int m = 0; m < tiles[sums].rows; ++m)
    for (int n = 0; n < tiles[sums].bytes / 4; ++n) {
      auto sum = tiles[sums].get<uint32_t>(m, n);
      for (int k = 0; k < a.bytes / 4; ++k)
        for (int member = 0; member < 4; ++member)
          sum += uint32_t(a.get<int8_t>(m, 4 * k + member) * b.get<int8_t>(k, 4 * n + member));
      tiles[sums].set(m, n, sum);
    }
}

const std::map<std::string, void *> &functions() {
  static const std::map<std::string, void *> all = {{"llvm.x86.ldtilecfg", reinterpret_cast<void *>(&configure)},
                                                    {"llvm.x86.tilerelease", reinterpret_cast<void *>(&release)},
                                                    {"llvm.x86.tilezero", reinterpret_cast<void *>(&zero)},
                                                    {"llvm.x86.tileloadd64", reinterpret_cast<void *>(&load)},
                                                    {"llvm.x86.tilestored64", reinterpret_cast<void *>(&store)},
                                                    {"llvm.x86.tdpbf16ps", reinterpret_cast<void *>(&multiplyBf16)},
                                                    {"llvm.x86.tdpbssd", reinterpret_cast<void *>(&multiplyInt8)}};
  return all;
}

} // namespace

StatusOr<KernelCode> emulateTiles(const KernelCode &kernel, const compiler::KernelDumps &dumps) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(dumps.llvm, error, context);
  if (!module)
    return Status(ErrorKind::internal_error, "the kernel's LLVM IR does not parse: " + error.getMessage().str());
  for (llvm::Function &function : llvm::make_early_inc_range(*module)) {
    const auto found = functions().find(function.getName().str());
    if (found == functions().end())
      continue;
    llvm::Constant *address = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), uint64_t(found->second));
    llvm::Constant *pointer = llvm::ConstantExpr::getIntToPtr(address, llvm::PointerType::get(context, 0));
    for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
      auto *call = llvm::cast<llvm::CallInst>(user);
      const llvm::SmallVector<llvm::Value *> arguments(call->args());
      llvm::CallInst::Create(function.getFunctionType(), pointer, arguments, "", call->getIterator());
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
  if (llvm::NamedMDNode *flags = module->getModuleFlagsMetadata())
    flags->eraseFromParent(); // generateObject sets them again
  StatusOr<compiler::CpuTarget> cpu = compiler::CpuTarget::find("emulated:sapphirerapids");
  HALFTONE_RETURN_IF_ERROR(cpu.status());
  StatusOr<std::string> object = compiler::generateObject(*module, *cpu, **cpu->machine(), nullptr);
  HALFTONE_RETURN_IF_ERROR(object.status());
  KernelCode code = kernel;
  code.target = cpu->key();
  code.code = std::move(*object);
  return code;
}

} // namespace halftone::testing
